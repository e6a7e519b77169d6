"""The real clock's recorder films a page that is loaded already."""

import json
from pathlib import Path

import pytest

from .conftest import Box

pytestmark = [pytest.mark.docker, pytest.mark.browser]

PROGRAM = Path(__file__).with_name("filming_real.py")


def test_what_was_captured_is_told_apart_from_the_files_own_frame_rate(box: Box) -> None:
    box.container.put("/tmp", {PROGRAM.name: PROGRAM.read_bytes()})
    done = box.run("python3", f"/tmp/{PROGRAM.name}", "3")
    assert done.code == 0, done.stderr.decode()[-2000:]
    told = json.loads(done.stdout)
    frames, video = told["frames"], told["video"]
    assert video == video | {"codec_name": "h264", "pix_fmt": "yuv420p", "r_frame_rate": "60/1"}
    assert int(video["nb_read_frames"]) == frames["encoded"] == frames["distinct"] + frames["repeated"]
    assert frames["complete"]
    assert frames["encoded"] >= 2.5 * 60
    assert 0 < frames["distinct"] <= frames["captured"]
    assert frames["distinct"] <= frames["page_counter"]["frames"] + 2
    # the page's own count, taken between two of ours, and ours by a world it cannot see
    assert abs(frames["page_counter"]["frames"] - told["drawn"]) <= 30
    assert frames["pacing"]["frames"] == frames["page_counter"]["frames"]
    assert frames["pacing"]["mean_fps"] > 0
    assert frames["audio"].startswith("none")
    assert told["names"] == []
