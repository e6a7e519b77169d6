"""Compiling an evaluator: TypeScript with static imports of the game's modules → one function with live bindings.

esbuild turns `import { score } from "/game.js"` into reads of a property on what `require("/game.js")` returns; our
`require` gives the game's own module namespaces, imported before. So `export let score` is seen as it changes. The
result is evaluated over the browser's protocol: it has no URL that a page could fetch or import.
"""

import json
import re
import subprocess
from pathlib import Path

MODULES = Path("/usr/local/lib/node_modules")
ESBUILD = (MODULES / "@esbuild/linux-x64/bin/esbuild", MODULES / "esbuild/bin/esbuild")
TIMEOUT_S = 20
_REQUIRE = re.compile(r'require\("([^"]+)"\)')


class EvaluatorError(Exception):
    """The evaluator cannot be used: our failure, found before the artifact ran."""


def compile_evaluator(source: str) -> str:
    """The expression of an async function that returns the evaluator's exports; raises EvaluatorError."""
    done = subprocess.run(
        [_esbuild(), "--loader=ts", "--format=cjs", "--target=es2022", "--log-level=error"],
        input=source.encode(),
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise EvaluatorError(
            f"the evaluator does not compile: {done.stderr.decode(errors='replace').strip()[:500]}"
        )
    code = done.stdout.decode()
    imported = sorted(set(_REQUIRE.findall(code)))
    for name in imported:
        if not name.startswith("/"):
            raise EvaluatorError(
                f"the evaluator imports {name!r}; it may import only root-absolute paths of the game"
            )
    return wrap(code, imported)


def wrap(code: str, imported: list[str]) -> str:
    """CommonJS `code` as the text of an async function of an import function; it imports its modules, then runs the code."""
    return (
        "async (load) => { 'use strict';\n"
        "const modules = { __proto__: null };\n"
        f"for (const name of {json.dumps(imported)}) modules[name] = await load(name);\n"
        "const module = { exports: {} };\n"
        "(function (module, exports, require) { 'use strict';\n"
        f"{code}\n"
        "})(module, module.exports, (name) => modules[name]);\n"
        "const { setup, evaluate, snapshot = () => null } = module.exports;\n"
        "return Object.freeze({ __proto__: null, setup, evaluate, snapshot });\n"
        "}"
    )


def _esbuild() -> str:
    for path in ESBUILD:
        if path.is_file():
            return str(path)
    raise EvaluatorError("esbuild is not in the image; build the images again")
