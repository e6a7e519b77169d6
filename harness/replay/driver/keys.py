"""Which physical key a Playwright key name stands for. Playwright takes several names for one key ("a", "A", "KeyA"); the driver holds
each name apart, and must know when two names share a key so that no second press turns into an auto-repeat."""

_SIGNS = {
    "Backquote": "`~",
    "Minus": "-_",
    "Equal": "=+",
    "BracketLeft": "[{",
    "BracketRight": "]}",
    "Backslash": "\\|",
    "Semicolon": ";:",
    "Quote": "'\"",
    "Comma": ",<",
    "Period": ".>",
    "Slash": "/?",
    "Space": " ",
    "Enter": "\n\r",
}
_NAMED = {
    "Shift": "ShiftLeft",
    "Control": "ControlLeft",
    "Alt": "AltLeft",
    "Meta": "MetaLeft",
    "ControlOrMeta": "ControlLeft",
}
_DIGIT_SIGNS = ")!@#$%^&*("


def physical_key(name: str) -> str:
    """The key's code; a name that is no alias is its own code."""
    if len(name) == 1:
        if name.isascii() and name.isalpha():
            return f"Key{name.upper()}"
        if name.isascii() and name.isdigit():
            return f"Digit{name}"
        if name in _DIGIT_SIGNS:
            return f"Digit{_DIGIT_SIGNS.index(name)}"
        for code, signs in _SIGNS.items():
            if name in signs:
                return code
    return _NAMED.get(name, name)
