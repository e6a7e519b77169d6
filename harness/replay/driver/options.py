"""The words of the `vitexec` command: flags, their VITEXEC_ variables (a flag wins), and which of its forms was asked for. Pure, so
that what an agent may type can be tested without a browser."""

import argparse
import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from .errors import DriverFailure
from .recorder import DEFAULT_FPS
from .runner import DEFAULT_TIMEOUT_S

Clock = Literal["real", "virtual"]
Form = Literal["once", "open", "run", "close"]

USAGE = """vitexec [options] <file-or-code>      run one script in a fresh page
       vitexec open NAME [options]           open a page that stays, under a name
       vitexec run NAME <file-or-code>       run a script in that page
       vitexec close NAME                    close it"""

DESCRIPTION = """Runs a script inside the page of a Vite project, next to the game. The script is a module of the project: it may import
the game's own modules by root path (/src/state.ts) and plays through trusted input events:

    import { keyboard, mouse } from "vitexec";
    await mouse.moveTo(640, 360);  await mouse.click();  await keyboard.press("KeyW", { durationMs: 300 });

mouse: move(dx, dy), moveTo(x, y), moveLatest, moveToLatest, stop, down, up, click. keyboard: down, up, press.
<file-or-code> is a path, else ./vitexec/<path>, else inline code; - reads the code from stdin. The page's log goes to stdout;
the exit code is 0, or 1 with "vitexec failed: <message>" on stderr."""

EPILOG = (
    """Every option has a variable, VITEXEC_ and its name in capitals (VITEXEC_TIMEOUT=60); the flag wins."""
)


@dataclass(frozen=True)
class Options:
    path: str | None = None
    config: str | None = None
    gpu: bool = False
    viewport: tuple[int, int] = (1280, 720)
    timeout: float = DEFAULT_TIMEOUT_S
    screenshot: str | None = None
    record: str | None = None
    record_fps: int = DEFAULT_FPS
    cpu_profile: str | None = None
    network_trace: str | None = None
    performance_trace: str | None = None
    heap_snapshot: str | None = None
    clock: Clock = "real"
    seed: int | None = None


@dataclass(frozen=True)
class Command:
    form: Form
    session: str | None
    source: str | None
    options: Options


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise DriverFailure(f"{message} (vitexec --help shows the options)")


def _viewport(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{2,5})[xX](\d{2,5})", text.strip())
    if match is None or not (16 <= int(match[1]) <= 8192 and 16 <= int(match[2]) <= 8192):
        raise ValueError("it is WIDTHxHEIGHT in pixels, such as 1280x720")
    return int(match[1]), int(match[2])


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise ValueError("it is a number of seconds greater than zero")
    return value


def _fps(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 60:
        raise ValueError("it is from 1 to 60")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**32:
        raise ValueError("it is from 0 to 4294967295")
    return value


def _clock(text: str) -> str:
    if text not in ("real", "virtual"):
        raise ValueError("it is real or virtual")
    return text


def _boolean(text: str) -> bool:
    known = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
        "": False,
    }
    if text.lower() not in known:
        raise ValueError("it is 1 or 0")
    return known[text.lower()]


_READERS: dict[str, Any] = {
    "gpu": _boolean,
    "viewport": _viewport,
    "timeout": _seconds,
    "record_fps": _fps,
    "seed": _seed,
    "clock": _clock,
}


def _parser() -> argparse.ArgumentParser:
    shape = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        "vitexec",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=shape,
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", metavar="<file-or-code>", help=argparse.SUPPRESS)
    add = parser.add_argument
    add(
        "--path",
        metavar="P",
        help="the project's folder (default: the nearest one above), or the page to open in it (/levels.html)",
    )
    add("--config", metavar="F", help="the Vite configuration (default: the project's own)")
    add(
        "--gpu",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="use a GPU if there is one (default: software)",
    )
    add("--viewport", metavar="WxH", help="the page's size in CSS px (default 1280x720)")
    add("--timeout", metavar="S", help="seconds for everything, preparation included (default 600)")
    add("--screenshot", metavar="F", help="write a PNG of the page when the script has ended")
    add("--record", metavar="F.mp4", help="record the page")
    add(
        "--record-fps", metavar="N", help=f"frames a second of the recording, 1 to 60 (default {DEFAULT_FPS})"
    )
    add("--cpu-profile", metavar="F", help="write a CPU profile (.cpuprofile)")
    add("--network-trace", metavar="F", help="write the page's requests (.har)")
    add("--performance-trace", metavar="F", help="write a performance trace (.json)")
    add(
        "--heap-snapshot", metavar="F", help="write a heap snapshot when the script has ended (.heapsnapshot)"
    )
    add(
        "--clock",
        metavar="C",
        help="real (default), or virtual: the page's time goes in frames of 1/60 s, the same on every machine",
    )
    add(
        "--seed",
        metavar="N",
        help="the seed of the page's randomness under the virtual clock (default 1)",
    )
    return parser


def help_text() -> str:
    return _parser().format_help()


def parse_command(arguments: Sequence[str], environment: Mapping[str, str]) -> Command:
    """The command that was typed; a mistake is one sentence."""
    if arguments and arguments[-1] == "-":  # argparse would take it for an option
        arguments = [*arguments[:-1], "--", "-"]
    given = vars(_parser().parse_intermixed_args(list(arguments)))
    words: list[str] = given.pop("words")
    options = Options(
        **{field.name: _value(field, given, environment) for field in dataclasses.fields(Options)}
    )
    form, session, source = _form(words)
    return Command(form, session, source, options)


def _value(field: "dataclasses.Field[Any]", given: dict[str, Any], environment: Mapping[str, str]) -> Any:
    variable = f"VITEXEC_{field.name.upper()}"
    raw, name = given[field.name], f"--{field.name.replace('_', '-')}"
    if raw is None:
        raw, name = environment.get(variable) or None, variable
    if raw is None or isinstance(raw, bool):
        return field.default if raw is None else raw
    try:
        return _READERS.get(field.name, str)(raw)
    except ValueError as error:
        detail = str(error) if str(error).startswith("it is") else "it is a number"
        raise DriverFailure(f"{name} cannot be {raw!r}: {detail}") from None


def _form(words: list[str]) -> tuple[Form, str | None, str | None]:
    match words:
        case ["open" | "close" as form, name]:
            return form, _session_name(name), None
        case ["run", name, source]:
            return "run", _session_name(name), source
        case [source] if source not in ("open", "run", "close"):
            return "once", None, source
        case [] | ["open" | "run" | "close", *_]:
            raise DriverFailure(
                "vitexec needs a script: vitexec <file-or-code>, or open NAME, run NAME <file-or-code>, close NAME"
            )
        case _:
            raise DriverFailure(
                f"one script at a time is run, and there are {len(words)} words: quote inline code"
            )


def _session_name(name: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) is None or name.startswith("."):
        raise DriverFailure(f"a session cannot be named {name!r}: letters, digits, _ and - are allowed")
    return name


_PROJECT_FILES = (
    "vite.config.ts",
    "vite.config.js",
    "vite.config.mjs",
    "vite.config.mts",
    "index.html",
    "package.json",
)


@dataclass(frozen=True)
class Place:
    """The project's folder and the page in it."""

    root: Path
    page: str | None  # None: the project's own entry


def find_place(path: str | None, folder: Path) -> Place:
    """What --path means from a working folder."""
    if path is not None and path != "/":
        wanted = folder / path
        if wanted.is_dir():
            return Place(wanted.resolve(), None)
        if not path.startswith("/"):
            path = f"/{path}"
    for candidate in (folder, *folder.parents):
        if any((candidate / name).exists() for name in _PROJECT_FILES):
            return Place(candidate.resolve(), path)
    return Place(folder.resolve(), path)


_LOOKS_LIKE_A_FILE = re.compile(r"[\w./@-]+\.(?:[cm]?[jt]s|[jt]sx)")


def find_script(source: str, folder: Path, root: Path) -> Path | None:
    """The script file that was named, or None for inline code."""
    if "\n" not in source and len(source) < 1000:
        for candidate in (folder / source, folder / "vitexec" / source, root / "vitexec" / source):
            if candidate.is_file():
                return candidate.resolve()
        if _LOOKS_LIKE_A_FILE.fullmatch(source):
            raise DriverFailure(f"there is no script {source}, neither here nor in ./vitexec/")
    return None
