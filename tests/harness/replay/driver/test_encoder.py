"""The encoder alone, in the container, with pictures of ffmpeg's own."""

import json
from typing import Any

import pytest

from .conftest import Box

pytestmark = pytest.mark.docker

PROGRAM = """
import asyncio, json, pathlib, signal, subprocess, sys, time
from driver.encoder import Encoder
from driver.errors import DriverFailure

PATH = pathlib.Path("/tmp/encoded.mp4")
make = "ffmpeg -loglevel error -f lavfi -i testsrc=size=320x180:rate=60 -frames:v {} -f image2pipe -c:v mjpeg -"

def pictures(count):
    raw = subprocess.run(make.format(count).split(), stdout=subprocess.PIPE, check=True).stdout
    return [b"\\xff\\xd8\\xff" + part for part in raw.split(b"\\xff\\xd8\\xff")[1:]]

def playable():
    asked = "ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0".split()
    return int(subprocess.run([*asked, str(PATH)], stdout=subprocess.PIPE).stdout.strip() or 0)

async def main(how):
    encoder = await Encoder.start(PATH, 60)
    refused = ""
    for number, picture in enumerate(pictures(400)):
        if how == "killed" and number == 300:
            await asyncio.sleep(1.5)
            encoder._ffmpeg.kill()
            await encoder._ffmpeg.wait()
        try:
            await encoder.add(picture)
            await asyncio.sleep(0)
        except DriverFailure as failure:
            refused = str(failure)
    if how == "abandoned":
        await asyncio.sleep(1.5)
        encoder._ffmpeg.send_signal(signal.SIGSTOP)
        print(json.dumps({"playable": playable()}))
        encoder._ffmpeg.kill()
        return
    done = await encoder.finish()
    print(json.dumps({"frames": done.frames, "complete": done.complete, "playable": playable(), "refused": refused}))

asyncio.run(main(sys.argv[1]))
"""


def encode(box: Box, how: str) -> dict[str, Any]:
    box.put("/tmp/encoding.py", PROGRAM)
    done = box.run("python3", "/tmp/encoding.py", how)
    assert done.code == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)


def test_every_picture_that_was_added_is_in_the_video(box: Box) -> None:
    assert encode(box, "whole") == {"frames": 400, "complete": True, "playable": 400, "refused": ""}


def test_a_video_whose_encoder_was_killed_plays_as_far_as_it_went_and_is_not_called_complete(
    box: Box,
) -> None:
    told = encode(box, "killed")
    assert not told["complete"]
    assert 180 <= told["playable"] <= 300
    assert "/tmp/encoded.mp4" in told["refused"]


def test_a_video_that_nobody_finishes_plays_as_it_stands(box: Box) -> None:
    assert encode(box, "abandoned")["playable"] >= 300
