"""What every stage of a run works with: the engine, the image store, the runs' store, the keys to keep out."""

from collections.abc import Callable
from dataclasses import dataclass

from contracts.contract import Contract
from contracts.errors import WrongInput
from contracts.record import LockUsed
from harness.archive.secrets import Secrets
from harness.archive.store import Store
from harness.engine import Engine
from harness.replay.project import Project
from images import ImageRef, ImageStore
from images.games import load_game

Say = Callable[[str], None]
"""Takes one line of progress for a person."""


@dataclass(frozen=True)
class Appliance:
    """The trusted parts that stages share."""

    engine: Engine
    images: ImageStore
    store: Store
    secrets: Secrets
    say: Say

    def ready_image(self, base: str, game: str | None) -> ImageRef:
        """An image by its recipe, built and loaded if need be."""
        return self.images.ready(base, game, self.engine.docker_client(), self.say)


@dataclass(frozen=True)
class PinnedImages:
    """The images a contract's run uses."""

    agent: ImageRef
    game: ImageRef
    browser: ImageRef

    def project(self) -> Project:
        """The pinned game as a replay serves it."""
        recipe = load_game(str(self.game.game)).recipe
        return Project(self.game.engine_ref, recipe.entry, recipe.serve)

    def _named(self) -> dict[str, ImageRef]:
        return {"agent": self.agent, "game": self.game, "browser": self.browser}

    def digests(self) -> dict[str, str]:
        """The images as a record names them."""
        return {name: ref.digest for name, ref in self._named().items()}

    def locks(self) -> dict[str, LockUsed]:
        """The package lists that the images were made from."""
        return {
            name: LockUsed(sha256=ref.lock_sha256, state="drifted" if ref.drifted else "pinned")
            for name, ref in self._named().items()
        }


def pinned_images(appliance: Appliance, contract: Contract) -> PinnedImages:
    """The contract's images, ready; raises WrongInput where a recipe is not the pinned one.

    A lock that drifted (the package mirror moved on) is allowed and stands in the record.
    """
    game = load_game(contract.game.name)
    if game.sha256 != contract.game.recipe_sha256:
        raise WrongInput(
            f"{contract.label}: game {game.recipe.name} has recipe {game.sha256}, the contract pins "
            f"{contract.game.recipe_sha256}; restore images/games/{game.recipe.name} or make a new contract version."
        )
    found = PinnedImages(
        appliance.ready_image("agent", contract.game.name),
        appliance.ready_image("replay", contract.game.name),
        appliance.ready_image("replay", None),
    )
    for base, pin in (("agent", contract.images.agent), ("replay", contract.images.replay)):
        ref = found.agent if base == "agent" else found.browser
        if ref.recipe_sha256 != pin.recipe_sha256:
            raise WrongInput(
                f"{contract.label}: image {base} is made by recipe {ref.recipe_sha256}, the contract pins "
                f"{pin.recipe_sha256}; restore images/ and harness/replay/driver, or make a new contract version."
            )
        if ref.lock_sha256 != pin.lock_sha256:
            appliance.say(f"image {base}: its packages are not the pinned ones (drifted); the record says so")
    return found
