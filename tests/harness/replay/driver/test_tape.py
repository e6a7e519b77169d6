import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.device import Dispatch
from harness.replay.driver.errors import InputRefused
from harness.replay.driver.tape import BadTape, Tape, TapePlayer, read_tape

names = st.sampled_from(["left", "KeyA", "é"])
dispatches = st.builds(
    Dispatch,
    st.floats(0, 1e6),
    st.sampled_from(["mouse.down", "mouse.up", "key.down", "key.up"]),
    st.tuples(names),
    st.integers(10, 90),
) | st.builds(
    Dispatch,
    st.floats(0, 1e6),
    st.just("mouse.move"),
    st.tuples(st.floats(-1e4, 1e4), st.integers(-9, 9)),
    st.integers(10, 90),
)


@given(st.lists(dispatches, max_size=20))
def test_a_tape_is_read_back_as_it_was_written(rows: list[Dispatch]) -> None:
    tape = Tape(10, 90, tuple(sorted(rows, key=lambda one: one.frame)), ("/src/a.ts",))
    assert read_tape(json.loads(json.dumps(tape.to_rows()))) == tape


HEAD: dict[str, Any] = {"kind": "begin", "frame": 3}
END: dict[str, Any] = {"kind": "end", "frame": 9}
DOWN: dict[str, Any] = {"frame": 4, "t_ms": 66.7, "kind": "key.down", "args": ["KeyA"]}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "cut off"),
        ([HEAD, DOWN], "cut off"),
        ([DOWN, END], "cut off"),
        ([HEAD, DOWN | {"frame": 2}, END], "out of order"),
        ([HEAD, DOWN | {"frame": 10}, END], "out of order"),
        ([HEAD, DOWN | {"frame": True}, END], "no frame number"),
        ([HEAD, DOWN | {"kind": "eval"}, END], "no input event"),
        ([HEAD, DOWN | {"args": [1]}, END], "arguments"),
        ([HEAD, {"kind": "mouse.move", "frame": 4, "t_ms": 1, "args": ["1", 2]}, END], "arguments"),
        ([HEAD, "text", END], "no input event"),
    ],
)
def test_what_is_no_tape_is_refused_with_its_place(rows: list[Any], words: str) -> None:
    with pytest.raises(BadTape, match=words):
        read_tape(rows)


class Recorded:
    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    async def move(self, x: float, y: float) -> None:
        self.events.append(("move", x, y))

    async def button_down(self, button: str) -> None:
        self.events.append(("button_down", button))

    async def button_up(self, button: str) -> None:
        self.events.append(("button_up", button))

    async def key_down(self, key: str) -> None:
        if key == "NoSuchKey":
            raise InputRefused("Unknown key")
        self.events.append(("key_down", key))

    async def key_up(self, key: str) -> None:
        self.events.append(("key_up", key))


def test_each_event_is_dispatched_in_its_frame_and_a_refused_one_stops_nothing() -> None:
    rows = (
        Dispatch(0, "mouse.move", (1.0, 2.0), 4),
        Dispatch(0, "key.down", ("NoSuchKey",), 5),
        Dispatch(0, "key.down", ("KeyA",), 5),
        Dispatch(0, "mouse.down", ("left",), 7),
        Dispatch(0, "mouse.up", ("left",), 7),
        Dispatch(0, "key.up", ("KeyA",), 8),
    )
    device = Recorded()
    player = TapePlayer(Tape(3, 9, rows), device)
    seen: dict[int, list[tuple[Any, ...]]] = {}
    for frame in range(4, 10):
        device.events = []
        asyncio.run(player.play(frame))
        if device.events:
            seen[frame] = device.events
    assert seen == {
        4: [("move", 1.0, 2.0)],
        5: [("key_down", "KeyA")],
        7: [("button_down", "left"), ("button_up", "left")],
        8: [("key_up", "KeyA")],
    }
