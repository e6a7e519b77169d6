"""Pictures into an MP4: ffmpeg in a process group of its own, fed through a bounded queue. Hard part: no picture may be lost to haste,
so a full queue holds whoever brings the next one; and the video must outlive the page, the driver and the container, so it is written in
fragments that play as far as they go, and only at the end put in order for the web."""

import asyncio
import contextlib
import re
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .errors import DriverFailure

WAITING_PICTURES = 120
FINISH_TIMEOUT_S = 60.0
QUALITY = "23"

EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2"
TO_VIDEO_RANGE = (
    "scale=in_color_matrix=bt601:in_range=full:out_color_matrix=bt709:out_range=tv,format=yuv420p"
)
COLOURS = ("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv")
FRAGMENTS = "frag_keyframe+empty_moov+default_base_moof"


@dataclass(frozen=True)
class Encoded:
    """What the encoder says it made; `frames` counts the pictures in the finished file."""

    frames: int
    complete: bool
    has_sound: bool = False


@dataclass(frozen=True)
class Track:
    """Coded sound and by how much it is moved against the pictures."""

    path: Path
    offset_s: float


class Encoder:
    def __init__(self, ffmpeg: Process, path: Path) -> None:
        self._ffmpeg = ffmpeg
        self._path = path
        self._pictures: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING_PICTURES)
        self._broken = False
        self._writer = asyncio.ensure_future(self._write())

    @classmethod
    async def start(cls, path: Path, fps: int) -> Self:
        """`path` is a playable file from the first second on."""
        source = ("-f", "mjpeg", "-framerate", str(fps), "-i", "pipe:0", "-vf", f"{EVEN},{TO_VIDEO_RANGE}")
        codec = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", QUALITY, "-threads", "1", "-g", str(fps))
        target = (
            "-fps_mode",
            "passthrough",
            "-flush_packets",
            "1",
            "-movflags",
            FRAGMENTS,
            "-f",
            "mp4",
            str(path),
        )
        return cls(await start_ffmpeg(*source, *codec, *COLOURS, *target, stdin=PIPE, stdout=DEVNULL), path)

    @property
    def full(self) -> bool:
        return self._pictures.full()

    async def add(self, picture: bytes) -> None:
        """Takes one JPEG; waits while the encoder is behind."""
        if self._broken:
            raise DriverFailure(f"the video {self._path} cannot be written: ffmpeg ended")
        await self._pictures.put(picture)

    async def _write(self) -> None:
        stdin = self._ffmpeg.stdin
        assert stdin is not None
        while (picture := await self._pictures.get()) is not None:
            if self._broken:
                continue
            try:
                stdin.write(picture)
                await stdin.drain()
            except ConnectionError:
                self._broken = True  # the queue is still emptied, so that nobody waits for ever
        with contextlib.suppress(ConnectionError):
            stdin.close()

    async def finish(self, sound: Track | None = None) -> Encoded:
        """Ends the video, with the sound if there is any; what cannot be finished in time is left as the fragments that there are."""
        try:
            async with asyncio.timeout(FINISH_TIMEOUT_S):
                await self._pictures.put(None)
                await self._writer
                code = await self._ffmpeg.wait()
                frames = await self._put_in_order(sound)
                heard = sound is not None and frames > 0
                if sound is not None and not heard:
                    frames = await self._put_in_order(None)
        except TimeoutError:
            self._writer.cancel()
            if self._ffmpeg.returncode is None:
                self._ffmpeg.kill()
                await self._ffmpeg.wait()
            return Encoded(0, False)
        return Encoded(frames, code == 0 and not self._broken, heard)

    async def _put_in_order(self, sound: Track | None) -> int:
        """One index at the front instead of fragments; returns the number of pictures, 0 if it failed."""
        ordered = self._path.with_name(f".{self._path.name}.ordered")
        sources = ["-i", str(self._path)]
        if sound is not None:
            sources += [
                "-itsoffset",
                str(sound.offset_s),
                "-i",
                str(sound.path),
                "-map",
                "0:v",
                "-map",
                "1:a",
            ]
        told_on = ("-c", "copy", "-progress", "pipe:1", "-nostats")
        ffmpeg = await start_ffmpeg(
            *sources, *told_on, "-movflags", "+faststart", "-f", "mp4", str(ordered), stdout=PIPE
        )
        try:
            told, _ = await ffmpeg.communicate()
            counts = re.findall(rb"^frame=\s*(\d+)", told, re.MULTILINE)
            if ffmpeg.returncode != 0 or not counts:
                return 0
            ordered.replace(self._path)
            return int(counts[-1])
        finally:
            if ffmpeg.returncode is None:
                ffmpeg.kill()
            ordered.unlink(missing_ok=True)


async def start_ffmpeg(*arguments: str, stdin: int = DEVNULL, stdout: int = DEVNULL) -> Process:
    command = ("ffmpeg", "-y", "-loglevel", "error", *arguments)
    try:
        return await asyncio.create_subprocess_exec(
            *command, stdin=stdin, stdout=stdout, stderr=DEVNULL, start_new_session=True
        )
    except FileNotFoundError:
        raise DriverFailure("recording needs ffmpeg, which is not installed here") from None
