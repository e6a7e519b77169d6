"""Reading YAML documents that people write, so that a mistake is answered with its file, line and field.

pydantic knows the field of a mistake but not its line; the composed YAML tree knows the lines. `load` joins
the two. Unknown fields are mistakes: a misspelt key must not pass as a default.
"""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from contracts.errors import WrongInput


class Document(BaseModel):
    """The base of every document model: immutable, and strict about unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


D = TypeVar("D", bound=BaseModel)

MAX_DOCUMENT_BYTES = 4 << 20
"""A plan or contract is a few kB; more is a mistake, and YAML aliases could make it explode."""


def load(path: Path, model: type[D]) -> D:
    """Read one YAML document as `model`; raises WrongInput naming file, line, field and what is wrong."""
    return parse(read_text(path), model, str(path))


def read_text(path: Path) -> str:
    """The UTF-8 text of a file a person named; raises WrongInput where it cannot be read."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise WrongInput(f"{path} does not exist; check the path.") from None
    except OSError as error:
        raise WrongInput(
            f"{path} cannot be read ({error.strerror}); check the path and its permissions."
        ) from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise WrongInput(f"{path} is larger than {MAX_DOCUMENT_BYTES} bytes; this is not such a document.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise WrongInput(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error


def parse(text: str, model: type[D], where: str) -> D:
    """Parse YAML `text`, named `where` in messages, as `model`."""
    tree, value = compose(text, where)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise WrongInput(_first_mistake(error, tree, where)) from error


def compose(text: str, where: str) -> tuple[yaml.Node | None, Any]:
    """The YAML node tree, which knows the lines, and the plain value of `text`."""
    try:
        tree: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)  # pyright: ignore[reportUnknownMemberType]
        value: Any = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise WrongInput(f"{where}:{line}: not valid YAML: {error.problem}; mend the line.") from error
    except yaml.YAMLError as error:
        raise WrongInput(f"{where}: not valid YAML: {error}; mend it.") from error
    return tree, value


def line_of(tree: yaml.Node | None, path: tuple[str | int, ...]) -> int:
    """The 1-based line of the deepest node on `path` that exists."""
    node, line = tree, (tree.start_mark.line if tree else 0)
    for step in path:
        found: tuple[int, yaml.Node] | None = None
        if isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                if key.value == str(step):
                    found = (key.start_mark.line, child)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = (node.value[step].start_mark.line, node.value[step])
        if found is None:
            break
        line, node = found
    return line + 1


def _first_mistake(error: ValidationError, tree: yaml.Node | None, where: str) -> str:
    mistakes = error.errors()
    first = mistakes[0]
    field = ".".join(str(step) for step in first["loc"]) or "document"
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    return f"{where}:{line_of(tree, first['loc'])}: {field}: {message}{more}; mend the document."
