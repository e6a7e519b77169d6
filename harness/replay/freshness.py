"""What shows that a replay began clean: digests of what was served before and after the play, of the optimiser's cache, and the sockets
that listened. Asked of the trusted server in the game's container, never of the page."""

import re
from typing import Any

from contracts.canonical import sha256_bytes, sha256_json
from contracts.errors import InfraFailure
from contracts.record import Freshness
from harness.engine import Container
from harness.replay.lines import LineChannel

DIGEST_S = 60.0
LISTEN = "0A"
"""TCP_LISTEN in /proc/net/tcp (Linux, include/net/tcp_states.h)."""


def source_digest(line: LineChannel) -> tuple[str, str]:
    """Digests of the game's files as served and of the optimiser's cache."""
    line.send({"op": "digest"})
    answer = line.receive(DIGEST_S)
    if "files" not in answer:
        raise InfraFailure(
            f"The game's server gave no digest of its files: {answer.get('error')}; run it again."
        )
    return sha256_json(answer["files"]), sha256_json(answer.get("cache", []))


def listening(container: Container) -> list[str]:
    """The addresses that sockets listen on in the container's network."""
    done = container.exec(["cat", "/proc/net/tcp", "/proc/net/tcp6"], timeout_s=10)
    return sorted(read_listening(done.stdout.decode(errors="replace")))


def read_listening(table: str) -> set[str]:
    """`address:port` of each listening socket in the text of /proc/net/tcp and tcp6."""
    found: set[str] = set()
    for address, port, state in re.findall(
        r"^\s*\d+: ([0-9A-F]{8,32}):([0-9A-F]{4}) \S+ ([0-9A-F]{2})", table, re.M
    ):
        if state == LISTEN:
            found.add(f"{_address(address)}:{int(port, 16)}")
    return found


def _address(text: str) -> str:
    """The kernel writes each 32-bit word in the host's (little-endian) order."""
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8)]
    data = b"".join(words)
    if len(data) == 4:
        return ".".join(str(byte) for byte in data)
    return ":".join(data[at : at + 2].hex() for at in range(0, 16, 2))


def freshness(
    result: dict[str, Any], script: bytes | None, evaluator: str | None, images: dict[str, str]
) -> Freshness:
    """The part of a record that shows it, from what was learnt around the play."""
    before, after = result["before"], result["after"]
    return Freshness(
        boot_nonce=result["nonce"],
        images=images,
        source_before=before[0],
        source_after=after[0],
        artifact_sha256=None if script is None else sha256_bytes(script),
        evaluator_sha256=None if evaluator is None else sha256_bytes(evaluator.encode()),
        optimiser_cache=before[1],
        browser_storage=result.get("storage") or {},
        listening=result["listening"],
    )
