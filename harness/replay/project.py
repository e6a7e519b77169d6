"""The project a replay serves: a pinned game baked into an image, or any folder of a user's.

A folder is copied into the container's workspace; what a user's folder holds (a Vite project with its
node_modules, a static page) is served the same way as a pinned game.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from contracts.contract import Clock
from contracts.errors import WrongInput
from harness.engine import Container

SERVER = "/opt/playproof/driver/server.mjs"
MAX_FOLDER_BYTES = 400 << 20
MAX_FOLDER_FILES = 50_000


@dataclass(frozen=True)
class Project:
    """What is served: from which image, which page first, and a folder that is copied in, if any."""

    image: str
    entry: str = "/index.html"
    serve: Literal["vite", "static"] = "vite"
    folder: Path | None = None

    def command(self, clock: Clock) -> tuple[str, ...]:
        """The game container's command; with a user's folder the server waits for a line that says it was copied."""
        server = ("node", SERVER, "--control", "--serve", self.serve, "--entry", self.entry, "--clock", clock)
        return server if self.folder is None else ("sh", "-c", 'read -r _ && exec "$@"', "wait", *server)

    def fill(self, container: Container) -> None:
        """Copy the user's folder into the workspace, if there is one."""
        if self.folder is not None:
            container.put("/workspace", read_folder(self.folder))

    @property
    def go(self) -> bytes:
        """What the server waits for on its stdin before it starts."""
        return b"" if self.folder is None else b"go\n"


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every regular file of a project folder by its relative path; raises WrongInput where it is too much.

    Links are left out: they could lead anywhere on this host.
    """
    files: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_symlink() or not path.is_file() or ".git" in relative.parts:
            continue
        total += path.stat().st_size
        if total > MAX_FOLDER_BYTES or len(files) >= MAX_FOLDER_FILES:
            raise WrongInput(
                f"{folder} holds more than {MAX_FOLDER_BYTES >> 20} MiB or {MAX_FOLDER_FILES} files; "
                "give the game's own folder, built or with only what it needs."
            )
        files[relative.as_posix()] = path.read_bytes()
    if "index.html" not in files:
        raise WrongInput(
            f"{folder} has no index.html; --game takes a contract's game or a folder with a page in it."
        )
    return files
