import re
from pathlib import Path
from typing import Any

import docker
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import WrongInput
from harness.engine import ContainerSpec, Engine, Limits
from harness.replay.overlay import Row, draw_overlay, on_frames, overlay_ass, read_rows, stamp
from images.store import ImageStore

SIZE = (640, 360)


def events(rows: list[Row], frames: int = 600) -> list[list[str]]:
    """(layer, start, end, style, text) of each mark but the match time."""
    lines = overlay_ass(rows, SIZE, frames).split("Text\n", 1)[1].splitlines()
    marks = [line.removeprefix("Dialogue: ").split(",", 4) for line in lines]
    return [mark for mark in marks if "\\an9" not in mark[4]]


def texts(rows: list[Row], frames: int = 600) -> list[tuple[str, str, str]]:
    return [(mark[1], mark[2], mark[4]) for mark in events(rows, frames) if mark[3] == "Text"]


@given(st.integers(0, 10**6))
def test_a_mark_begins_in_its_frame_and_not_in_the_one_before(frame: int) -> None:
    hours, minutes, rest = stamp(frame).split(":")
    hundredths = (int(hours) * 60 + int(minutes)) * 6000 + round(float(rest) * 100)
    assert (frame - 1) * 100 < hundredths * 60 <= frame * 100


def test_a_key_is_shown_as_long_as_it_is_down() -> None:
    rows = [Row(60, "key.down", ("KeyW",)), Row(90, "key.down", ("Space",)), Row(120, "key.up", ("KeyW",))]
    assert texts(rows) == [
        ("0:00:01.00", "0:00:01.50", "[KeyW]"),
        ("0:00:01.50", "0:00:02.00", "[KeyW]  [Space]"),
        ("0:00:02.00", "0:00:10.00", "[Space]"),
    ]


def test_a_press_within_one_frame_is_seen() -> None:
    rows = [Row(60, "key.down", ("KeyW",)), Row(60, "key.up", ("KeyW",)), Row(66, "mouse.down", ("left",))]
    assert texts(rows)[:2] == [
        ("0:00:01.00", "0:00:01.10", "[KeyW]"),
        ("0:00:01.10", "0:00:10.00", "[left button]"),
    ]


def test_the_name_of_a_key_cannot_command_the_drawing() -> None:
    assert texts([Row(0, "key.down", ("{\\pos(1,1)}\n",))])[0][2] == "[(/pos(1,1)) ]"


def test_the_pointer_stands_where_it_was_moved_and_its_path_follows() -> None:
    marks = events([Row(6, "mouse.move", (10.0, 20.0)), Row(12, "mouse.move", (30.0, 50.0))])
    assert [mark[1] for mark in marks] == ["0:00:00.10", "0:00:00.20", "0:00:00.20"]
    assert "\\pos(10.0,20.0)" in marks[0][4]
    assert marks[2][4].endswith("m -20 -30 l 0 0 -20 -30")


def test_a_pointer_that_left_the_picture_comes_in_at_the_other_side() -> None:
    assert "\\pos(10.0,350.0)" in events([Row(0, "mouse.move", (650.0, -10.0))])[0][4]


def test_the_match_time_runs_in_tenths_to_the_videos_end() -> None:
    shown = re.findall(r"\\an9\}(\S+)", overlay_ass([], SIZE, 3606))
    assert (shown[0], shown[15], shown[-1], len(shown)) == ("0:00.0", "0:01.5", "1:00.0", 601)


def test_rows_stand_at_frames_of_the_video_under_either_clock() -> None:
    head: dict[str, Any] = {"kind": "begin", "frame": 40, "preload": []}
    virtual = [
        head,
        {"frame": 50, "t_ms": 833.3, "kind": "key.down", "args": ["a"]},
        {"kind": "end", "frame": 60},
    ]
    assert on_frames(virtual, first_frame=41) == [Row(9, "key.down", ("a",))]
    real = [{"frame": 0, "t_ms": 1500.0, "kind": "mouse.move", "args": [1, 2]}]
    assert on_frames(real, started_ms=500.0) == [Row(60, "mouse.move", (1, 2))]


def test_a_tape_that_cannot_be_read_is_refused_by_line(tmp_path: Path) -> None:
    tape = tmp_path / "tape.ndjson"
    tape.write_text('{"kind": "begin", "frame": 0}\n{oops\n')
    with pytest.raises(WrongInput, match="line 2"):
        read_rows(tape)
    with pytest.raises(WrongInput, match="Row 1"):
        on_frames([{"kind": "key.down", "args": ["a"]}])


moves = st.tuples(st.integers(0, 99), st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)))
keys = st.tuples(st.integers(0, 99), st.sampled_from(["key.down", "key.up"]), st.text(max_size=30))


@given(st.lists(moves, max_size=20), st.lists(keys, max_size=20))
def test_whatever_was_sent_every_mark_is_one_line_inside_the_video(
    moves: list[tuple[int, tuple[float, float]]], keys: list[tuple[int, str, str]]
) -> None:
    rows = [Row(frame, "mouse.move", place) for frame, place in moves]
    rows += [Row(frame, kind, (name,)) for frame, kind, name in keys]
    for layer, start, end, style, text in events(sorted(rows, key=lambda row: row.frame), 100):
        assert layer in "123"
        assert style in ("Text", "Mark")
        assert start < end <= stamp(100)
        assert style == "Mark" or not set("{}\\") & set(text)


@pytest.mark.docker
def test_the_overlay_is_drawn_over_the_video(tmp_path: Path) -> None:
    engine = Engine.connect()
    image = ImageStore().ready("replay", None, docker.from_env()).engine_ref
    spec = ContainerSpec(
        image=image,
        role="browser",
        run_id="test-overlay",
        command=("sleep", "600"),
        limits=Limits(memory_bytes=1 << 30, pids=128, cpus=1.0),
    )
    video, out = tmp_path / "video.mp4", tmp_path / "overlay.mp4"
    try:
        container = engine.create(spec)
        container.start()
        source = ["-f", "lavfi", "-i", "color=black:size=640x360:rate=60", "-frames:v", "120"]
        container.exec(
            ["ffmpeg", "-loglevel", "error", *source, "-pix_fmt", "yuv420p", "/tmp/black.mp4"], timeout_s=60
        )
        video.write_bytes(container.exec(["cat", "/tmp/black.mp4"], timeout_s=30).stdout)
        draw_overlay(engine, image, video, [Row(60, "mouse.move", (300.0, 200.0))], SIZE, out)
        container.put("/tmp", {"out.mp4": out.read_bytes()})
        raw = "format=gray,crop=10:10:302:204"
        pixels = container.exec(
            ["ffmpeg", "-loglevel", "error", "-i", "/tmp/out.mp4", "-vf", raw, "-f", "rawvideo", "-"],
            timeout_s=60,
        ).stdout
    finally:
        engine.remove_run("test-overlay")
        engine.close()
    frames = [max(pixels[at : at + 100]) for at in range(0, len(pixels), 100)]
    assert len(frames) == 120
    assert max(frames[:60]) < 40  # nothing before the move's frame
    assert min(frames[60:]) > 120
