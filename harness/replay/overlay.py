"""Draws what the driver did over a replay's video, for people who watch: pointer and its path, held buttons and keys, match time. All of it
comes from the tape. Hard part: subtitles count in hundredths of a second and frames in sixtieths, so each mark is timed to begin just before
its frame and never before the one earlier; and with the pointer locked a position leaves the picture, so it comes in again at the other side."""

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from contracts.errors import InfraFailure, WrongInput
from harness.engine import Container, ContainerSpec, Engine, Limits

FPS = 60
TRAIL_FRAMES = 30
CLOCK_EVERY = 6  # frames: a tenth of a second
WORK_BYTES = 1 << 30
DRAW_TIMEOUT_S = 900.0
LIMITS = Limits(memory_bytes=2 << 30, pids=256, cpus=2.0)
BUTTONS = ("left", "middle", "right")
KINDS = ("mouse.move", "mouse.down", "mouse.up", "key.down", "key.up")

HEADER = """[Script Info]
ScriptType: v4.00+
PlayResX: {width}
PlayResY: {height}
WrapStyle: 2
ScaledBorderAndShadow: yes

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, OutlineColour, BackColour, Bold, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV
Style: Text,DejaVu Sans,{size},&H00FFFFFF,&H00202020,&H00202020,-1,1,2,0,1,{size},{size},{size}
Style: Mark,DejaVu Sans,{size},&H0000E5FF,&H00202020,&H00202020,0,1,1,0,7,0,0,0

[Events]
Format: Layer, Start, End, Style, Text
"""
POINTER = "m 0 0 l 0 16 4 12 7 19 10 18 7 11 12 11"


@dataclass(frozen=True)
class Row:
    """One dispatched event of the tape, at a frame of the video."""

    frame: int
    kind: str
    args: tuple[float | str, ...]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a tape.ndjson."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            rows.append(cast(dict[str, Any], json.loads(line)))
        except ValueError:
            raise WrongInput(
                f"The tape {path} is not valid at line {number}: it is no JSON object."
            ) from None
    return rows


def on_frames(tape: Sequence[dict[str, Any]], first_frame: int = 0, started_ms: float = 0.0) -> list[Row]:
    """The tape's rows at the video's frames: by frame number where the tape has them (its first frame is the video's `first_frame`), else by
    time since the video's start."""
    virtual = any(row.get("frame") for row in tape)
    rows: list[Row] = []
    for number, row in enumerate(tape, 1):
        if row.get("kind") not in KINDS:
            continue
        try:
            at = int(row["frame"]) - first_frame if virtual else int((row["t_ms"] - started_ms) * FPS / 1000)
            rows.append(Row(max(0, at), str(row["kind"]), tuple(row["args"])))
        except (KeyError, TypeError, ValueError):
            raise WrongInput(
                f"Row {number} of the tape has no frame, t_ms, kind or args that can be drawn."
            ) from None
    return rows


def overlay_ass(rows: Sequence[Row], size: tuple[int, int], frames: int) -> str:
    """The subtitle file (ASS) for a video of this many frames and this size, in the page's pixels."""
    width, height = size
    text = HEADER.format(width=width, height=height, size=max(12, height // 24))
    lines = [*_pointer(rows, size, frames), *_held(rows, frames), *_clock(frames)]
    return text + "\n".join(lines) + "\n"


def stamp(frame: int) -> str:
    """The time of a frame's beginning, rounded down, so that it is on in this frame and off in the one before."""
    hundredths = frame * 100 // FPS
    seconds, rest = divmod(hundredths, 100)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:02d}"


def _line(layer: int, first: int, end: int, style: str, text: str) -> str:
    return f"Dialogue: {layer},{stamp(first)},{stamp(end)},{style},{text}"


def _pointer(rows: Sequence[Row], size: tuple[int, int], frames: int) -> Iterator[str]:
    """The pointer at each frame of a move, with the path of the last half second; at rest, the pointer alone."""
    places: dict[int, tuple[float, float]] = {}
    for row in rows:
        if row.kind == "mouse.move" and row.frame < frames:
            places[row.frame] = (float(row.args[0]), float(row.args[1]))
    moved = sorted(places)
    for index, frame in enumerate(moved):
        x, y = places[frame]
        end = moved[index + 1] if index + 1 < len(moved) else frames
        at = f"\\an7\\pos({x % size[0]:.1f},{y % size[1]:.1f})"
        yield _line(2, frame, end, "Mark", f"{{{at}\\p1}}{POINTER}")
        recent = [
            places[one]
            for one in moved[max(0, index - TRAIL_FRAMES) : index + 1]
            if frame - one <= TRAIL_FRAMES
        ]
        if len(recent) > 1:
            path = _path([(px - x, py - y) for px, py in recent])
            yield _line(
                1,
                frame,
                min(end, frame + TRAIL_FRAMES),
                "Mark",
                f"{{{at}\\1a&HFF&\\3c&H00E5FF&\\bord1\\p1}}{path}",
            )


def _path(points: Sequence[tuple[float, float]]) -> str:
    """There and back again: a line is a shape without an inside."""
    there = " ".join(f"{x:.0f} {y:.0f}" for x, y in points[1:])
    back = " ".join(f"{x:.0f} {y:.0f}" for x, y in reversed(points[:-1]))
    return f"m {points[0][0]:.0f} {points[0][1]:.0f} l {there} {back}"


def _held(rows: Sequence[Row], frames: int) -> Iterator[str]:
    """Buttons and keys that are down, as long as they are; a press within one frame is seen for that frame."""
    changes: dict[int, list[Row]] = {}
    for row in rows:
        if row.kind in ("mouse.down", "mouse.up", "key.down", "key.up"):
            changes.setdefault(row.frame, []).append(row)
    held: list[str] = []
    moments = [*sorted(frame for frame in changes if frame < frames), frames]
    for frame, end in pairwise(moments):
        gone: list[str] = []
        for row in changes[frame]:
            name = _name(row)
            if row.kind.endswith(".down") and name not in held:
                held.append(name)
            elif row.kind.endswith(".up") and name in held:
                gone.append(name)
                if not any(name == _name(one) and one.kind.endswith(".down") for one in changes[frame]):
                    held.remove(name)
        if held:
            yield _line(3, frame, end, "Text", "  ".join(f"[{name}]" for name in held))
        held = [name for name in held if name not in gone]


def _name(row: Row) -> str:
    word = str(row.args[0]) if row.args else "?"
    shown = f"{word} button" if row.kind.startswith("mouse.") and word in BUTTONS else word
    allowed = shown[:24].translate(str.maketrans("{}\\", "()/"))
    return "".join(letter if letter.isprintable() else " " for letter in allowed)


def _clock(frames: int) -> Iterator[str]:
    """Match time, to a tenth of a second."""
    for frame in range(0, frames, CLOCK_EVERY):
        tenths = frame * 10 // FPS
        shown = f"{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"
        yield _line(3, frame, min(frames, frame + CLOCK_EVERY), "Text", f"{{\\an9}}{shown}")


def draw_overlay(
    engine: Engine, image: str, video: Path, rows: Sequence[Row], viewport: tuple[int, int], out: Path
) -> None:
    """Writes `out`: the video with the overlay burnt in, made by the replay image's own ffmpeg in a sealed container."""
    run_id = f"overlay-{secrets.token_hex(6)}"
    volume = engine.tmpfs_volume(run_id, f"{run_id}-work", WORK_BYTES)
    container: Container | None = None
    try:
        container = engine.create(_spec(image, run_id, volume))
        container.start()
        container.put("/work", {"video.mp4": video.read_bytes()})
        marks = overlay_ass(rows, viewport, _frames(container, video))
        container.put("/work", {"overlay.ass": marks.encode()})
        _ffmpeg(container, video)
        made = container.get_file("/work/out.mp4", WORK_BYTES)
    finally:
        if container is not None:
            container.kill()
        engine.remove_run(run_id)
    partial = out.with_name(f".{out.name}.partial")
    partial.write_bytes(made)
    partial.replace(out)


def _spec(image: str, run_id: str, volume: str) -> ContainerSpec:
    return ContainerSpec(
        image=image,
        role="browser",
        run_id=run_id,
        command=("sleep", "3600"),
        limits=LIMITS,
        volumes={volume: "/work"},
        workdir="/tmp",
    )


def _frames(container: Container, video: Path) -> int:
    """The video's length in frames of the game, whatever its own rate is."""
    asked = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "json", "/work/video.mp4"]
    done = container.exec(asked, timeout_s=DRAW_TIMEOUT_S)
    try:
        return round(float(json.loads(done.stdout)["format"]["duration"]) * FPS)
    except (ValueError, KeyError):
        raise WrongInput(f"The file {video} cannot be read as a video.") from None


def _ffmpeg(container: Container, video: Path) -> None:
    codec = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-g", str(FPS)]
    command = [
        "ffmpeg",
        "-y",
        "-loglevel",
        "error",
        "-i",
        "/work/video.mp4",
        "-vf",
        "ass=/work/overlay.ass",
        *codec,
    ]
    end = ["-fps_mode", "passthrough", "-c:a", "copy", "-movflags", "+faststart", "/work/out.mp4"]
    done = container.exec([*command, *end], timeout_s=DRAW_TIMEOUT_S)
    if done.code != 0:
        raise InfraFailure(
            f"The overlay could not be drawn over {video}: {done.stderr.decode(errors='replace').strip()[-300:]}"
        )
