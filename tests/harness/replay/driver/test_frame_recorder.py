"""Each page here draws the number of its own frame; the numbers are read back from the decoded video."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Box

pytestmark = [pytest.mark.docker, pytest.mark.browser]

PROGRAM = Path(__file__).with_name("filming.py")


@pytest.fixture(scope="module")
def studio(box: Box) -> Box:
    box.container.put("/tmp", {PROGRAM.name: PROGRAM.read_bytes()})
    return box


def film(
    box: Box,
    kind: str,
    frames: int,
    size: tuple[int, int] = (640, 360),
    mode: str = "full",
    hogs: int = 0,
    kill_at: int = 0,
) -> dict[str, Any]:
    words = [kind, frames, *size, mode, hogs, kill_at]
    done = box.run("python3", f"/tmp/{PROGRAM.name}", *map(str, words), timeout_s=600)
    assert done.code == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["canvas", "webgl", "elements"])
def test_each_frame_is_in_the_video_once_and_in_order(studio: Box, kind: str) -> None:
    told = film(studio, kind, 150)
    assert told["numbers"] == list(range(1, 151))
    frames = told["frames"]
    assert frames["complete"]
    assert (frames["captured"], frames["distinct"], frames["dropped"], frames["encoded"]) == (
        150,
        150,
        0,
        150,
    )
    assert (frames["first_frame"], frames["last_frame"]) == (1, 150)


def test_a_heavy_page_beside_two_busy_programs_loses_nothing(studio: Box) -> None:
    told = film(studio, "heavy", 120, hogs=2)
    assert told["numbers"] == list(range(1, 121))


def test_a_large_page_of_odd_size_loses_nothing(studio: Box) -> None:
    told = film(studio, "canvas", 40, size=(1281, 721))
    assert told["numbers"] == list(range(1, 41))


def test_the_same_frames_give_the_same_pictures_bit_for_bit(studio: Box) -> None:
    once, again = film(studio, "canvas", 60), film(studio, "canvas", 60, hogs=2)
    other, sparse = film(studio, "canvas", 59), film(studio, "canvas", 60, mode="keyframes")
    assert once["frames"]["pictures_sha256"] == again["frames"]["pictures_sha256"]
    assert once["frames"]["pictures_sha256"] != other["frames"]["pictures_sha256"]
    assert once["digest"] == again["digest"] == sparse["digest"] != other["digest"]


def test_a_page_that_draws_nothing_still_gives_every_frame(studio: Box) -> None:
    frames = film(studio, "still", 90)["frames"]
    assert (frames["captured"], frames["distinct"], frames["repeated"]) == (90, 1, 89)
    assert frames["longest_gap_ms"] == 1500.0
    assert frames["encoded"] == 90


def test_keyframes_are_one_picture_a_second_of_game_time(studio: Box) -> None:
    told = film(studio, "canvas", 200, mode="keyframes")
    assert told["numbers"] == [1, 61, 121, 181]
    assert told["frames"]["requested_fps"] == 1
    assert told["frames"]["complete"]


def test_the_video_of_a_browser_that_is_killed_plays_up_to_there(studio: Box) -> None:
    told = film(studio, "canvas", 200, kill_at=100)
    assert told["lost"]
    assert told["numbers"] == list(range(1, 100))


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("hogs", [0, 2])
@pytest.mark.parametrize(
    ("kind", "size"), [("canvas", (640, 360)), ("heavy", (640, 360)), ("webgl", (1280, 720))]
)
def test_half_a_minute_of_game_time_has_exactly_1800_frames(
    studio: Box, kind: str, size: tuple[int, int], hogs: int
) -> None:
    told = film(studio, kind, 1800, size=size, hogs=hogs)
    assert told["numbers"] == list(range(1, 1801))


def test_the_video_is_indexed_at_its_front_and_can_be_sought(studio: Box, tmp_path: Path) -> None:
    film(studio, "canvas", 150)
    data = studio.container.exec(["cat", "/tmp/film.mp4"], timeout_s=30, max_output=64 << 20).stdout
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    assert b"moof" not in data
    asked = [
        "ffprobe",
        "-v",
        "error",
        "-skip_frame",
        "nokey",
        "-show_entries",
        "frame=pts_time",
        "-of",
        "csv=p=0",
    ]
    keys = studio.run(*asked, "/tmp/film.mp4").stdout.decode().split()
    assert [round(float(key.strip(","))) for key in keys] == [0, 1, 2]
