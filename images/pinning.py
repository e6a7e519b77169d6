"""From a recipe's wishes to a lock whose every package file is in the pool.

The pins of images.lock are tried first, from the pool, then from the package sources. What is hard is a
mirror that has moved on: the build then stops with the names of what is gone, or, when the operator accepts
the drift, the whole recipe is resolved anew and the lock is marked `drifted`, because half old and half new
packages would be a set that nobody ever tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contracts.errors import InfraFailure
from images import debian, npm, wheels
from images.lock import Lock, LockEntry, Pins, wishes
from images.pool import Pool
from images.recipe import Recipe

NAMED_AT_MOST = 3


def pinned(
    lock: Lock, recipes: Sequence[Recipe], pool: Pool, accept_drift: bool, progress: Callable[[str], None]
) -> Lock:
    """The lock with every package of these recipes (lower ones first) pinned and in the pool."""
    origin = lock.drifted_from or lock.pins_sha256()
    for recipe in recipes:
        if not answers(lock, recipe):
            lock = lock.with_entry(recipe.name, LockEntry(pins=resolve(recipe, lock, pool, progress)))
            continue
        gone = _fetch(recipe, lock.images[recipe.name].pins, pool, progress)
        if not gone:
            continue
        if not accept_drift:
            raise InfraFailure(
                f"The Debian mirror no longer has {shortly(gone)} of images.lock; load a saved image, set "
                f"{debian.MIRROR_VARIABLE} to a mirror that keeps them, or build with --accept-drift."
            )
        progress(f"{recipe.name}: the mirror no longer has {shortly(gone)}; taking what it has")
        entry = LockEntry(pins=resolve(recipe, lock, pool, progress))
        lock = lock.with_entry(recipe.name, entry).model_copy(
            update={"state": "drifted", "drifted_from": origin}
        )
    return lock


def accepted(
    lock: Lock, name: str, steps: Sequence[str], accept_drift: bool, progress: Callable[[str], None]
) -> Lock:
    """The lock after layers came out with other bytes than it has for the same packages."""
    told = f"{name}: the layers {', '.join(steps)} came out other than images.lock has them for the same packages"
    if not accept_drift:
        raise InfraFailure(f"{told} (another mmdebstrap?); load a saved image, or build with --accept-drift.")
    progress(f"{told}; accepted as drift")
    return lock.model_copy(
        update={"state": "drifted", "drifted_from": lock.drifted_from or lock.pins_sha256()}
    )


def answers(lock: Lock, recipe: Recipe) -> bool:
    """Whether the lock's pins are an answer to what the recipe asks for."""
    return recipe.name in lock.images and lock.images[recipe.name].pins.requests == wishes(recipe)


def resolve(recipe: Recipe, lock: Lock, pool: Pool, progress: Callable[[str], None]) -> Pins:
    """Asks the package sources; what an image extends has answered for npm and PyPI already."""
    progress(f"{recipe.name}: asking the package sources what its recipe means today")
    debs = debian.resolve(recipe.debian, pool)
    if recipe.extends:
        return lock.images[recipe.extends].pins.model_copy(
            update={"requests": wishes(recipe), "debian": debs}
        )
    modules = npm.resolve(recipe.npm.install, pool)
    npm.fetch(modules, pool)
    found = wheels.resolve(recipe.python, pool) if recipe.python else {}
    return Pins(requests=wishes(recipe), debian=debs, npm=modules, pypi=found)


def _fetch(recipe: Recipe, pins: Pins, pool: Pool, progress: Callable[[str], None]) -> list[str]:
    if not pool.missing(pool.files(pins)):
        return []
    progress(f"{recipe.name}: fetching the locked packages")
    npm.fetch(pins.npm, pool)
    if recipe.python:
        wheels.fetch(recipe.python, pins.pypi, pool)
    return debian.fetch(recipe.debian, pins.debian, pool)


def shortly(names: Sequence[str]) -> str:
    rest = f" and {len(names) - NAMED_AT_MOST} more packages" if len(names) > NAMED_AT_MOST else ""
    return ", ".join(names[:NAMED_AT_MOST]) + rest
