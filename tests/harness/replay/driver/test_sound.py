"""Sound and media under the virtual clock: pages note what they see frame by frame, and what they play is listened to in the video."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness.replay.driver.errors import DriverFailure
from harness.replay.driver.sound import Sound

from .conftest import Box

PROGRAM = Path(__file__).with_name("sounding.py")
QUANTUM_FRAMES = 128 / 735
"""Sound begins and ends in steps of 128 samples."""

HEAD = """<!doctype html><body><canvas id=canvas width=160 height=120></canvas><script>
const log = []; let frame = 0;
const each = (run) => requestAnimationFrame(function next(time) {
  frame = Math.round((time - 100) * 60 / 1000); run(); requestAnimationFrame(next); });
"""

TONE = """
const sound = new AudioContext();
let begun = false;
addEventListener("mousedown", () => sound.resume());
sound.onstatechange = () => log.push(["state", frame, sound.state, sound.currentTime]);
each(() => {
  if (frame % 7 === 0) log.push([frame, sound.currentTime]);
  if (frame !== 60) return;
  const tone = new OscillatorNode(sound, { frequency: 440 });
  tone.connect(new GainNode(sound, { gain: 0.5 })).connect(sound.destination);
  tone.start();
  tone.stop(sound.currentTime + 1);
  tone.onended = () => log.push(["ended", frame, sound.currentTime]);
});
"""

CROWD = """
const sound = new AudioContext(), other = new AudioContext({ sampleRate: 22050 });
addEventListener("mousedown", () => { sound.resume(); other.resume(); });
const tone = (context, name, length) => {
  const source = context.createOscillator();
  source.connect(context.destination);
  source.start();
  source.stop(context.currentTime + length);
  source.addEventListener("ended", () => log.push(["ended", name, frame]));
};
let blocks = 0;
const own = sound.createScriptProcessor(1024, 1, 1);
own.onaudioprocess = () => blocks++;
own.connect(sound.destination);
const seen = (state) => () => log.push([state, frame, sound.state, other.state]);
fetch("half.wav").then((answer) => answer.arrayBuffer()).then((bytes) => {
  sound.decodeAudioData(bytes.slice(), (buffer) => log.push(["decoded", frame, buffer.duration]));
  sound.decodeAudioData(bytes).then((buffer) => log.push(["promised", frame, buffer.sampleRate]));
});
each(() => {
  if (frame === 20) { for (let k = 0; k < 8; k++) tone(sound, k, 0.2); tone(other, "other", 0.5); }
  if (frame === 40) sound.suspend().then(seen("suspended"));
  if (frame === 60) sound.resume().then(seen("resumed"));
  if (frame === 70) other.close().then(seen("closed"));
  if (frame === 75) other.resume().catch((error) => log.push([error.name]));
  if (frame % 10 === 0) log.push([frame, sound.currentTime, other.currentTime, blocks]);
});
"""

LOOKS = """
const said = (run) => { try { return String(run()); } catch (error) { return `${error.name}: ${error.message}`; } };
const sound = new AudioContext();
class Mine extends AudioContext { extra() { return 7; } }
const mine = new Mine();
log.push(
  sound instanceof AudioContext, sound instanceof OfflineAudioContext, String(sound), sound.constructor === AudioContext,
  AudioContext.prototype.constructor === AudioContext, Object.getPrototypeOf(AudioContext) === BaseAudioContext,
  String(AudioContext), AudioContext.length, sound.state, sound.currentTime, sound.sampleRate, sound.baseLatency,
  String(sound.destination), sound.destination.numberOfOutputs, sound.destination.maxChannelCount, mine.extra(), mine instanceof Mine,
  String(sound.resume), said(() => AudioContext()), said(() => new AudioContext({ sampleRate: 10 })),
  said(() => Object.getOwnPropertyDescriptor(OfflineAudioContext.prototype, "length").get.call(sound)),
  said(() => Object.getOwnPropertyDescriptor(BaseAudioContext.prototype, "state").get.call({})),
  said(() => Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, "paused").get.call({})),
  String(new Audio().play), new Audio() instanceof HTMLAudioElement, new Audio().preload, String(Audio), Audio.prototype === HTMLAudioElement.prototype,
);
"""

MEDIA = """
const note = (name, element) => {
  for (const type of ["loadstart", "loadedmetadata", "canplaythrough", "play", "playing", "timeupdate", "pause", "ended", "seeked", "volumechange", "error"])
    element.addEventListener(type, () => log.push([name, type, frame, element.readyState, +element.currentTime.toFixed(3), element.paused]));
};
const one = new Audio("one.wav"), half = document.createElement("audio"), gone = new Audio("gone.wav");
note("one", one); note("half", half); note("gone", gone);
half.src = "half.wav";
one.play().catch((error) => log.push([error.name]));
const clip = document.createElement("video");
clip.src = "clip.webm";
const paper = canvas.getContext("2d", { willReadFrequently: true });
addEventListener("mousedown", () => { one.play().then(() => log.push(["plays", one.duration])); clip.play(); });
one.onended = () => { half.loop = true; half.volume = 0.5; half.play(); };
each(() => {
  if (frame === 130) half.loop = false;
  if (frame === 10 || frame === 40) {
    paper.drawImage(clip, 0, 0);
    let sum = 0;
    for (const value of paper.getImageData(0, 0, 160, 120).data) sum = (sum * 31 + value) | 0;
    log.push(["picture", clip.currentTime.toFixed(3), sum]);
  }
});
"""

GRAPH = """
const sound = new AudioContext(), element = new Audio("one.wav");
const source = sound.createMediaElementSource(element);
const look = sound.createAnalyser(), data = new Float32Array(256);
source.connect(look).connect(new GainNode(sound, { gain: 0.5 })).connect(sound.destination);
sound.createMediaStreamDestination();
log.push(String(source), source.mediaElement === element, source.numberOfInputs);
addEventListener("mousedown", () => { sound.resume(); element.play(); });
each(() => {
  look.getFloatTimeDomainData(data);
  if (frame % 30 === 0) log.push([frame, Math.max(...data) > 0.5]);
});
"""

SILENT = """
addEventListener("mousedown", () => new AudioContext().resume());
each(() => {});
"""

WORKLET = """
const sound = new AudioContext();
const code = `registerProcessor("buzz", class extends AudioWorkletProcessor {
  process(inputs, outputs) { for (const channel of outputs[0]) channel.forEach((_, at) => (channel[at] = at % 64 < 32 ? 0.25 : -0.25)); return true; } });`;
sound.audioWorklet.addModule(URL.createObjectURL(new Blob([code], { type: "text/javascript" })))
  .then(() => new AudioWorkletNode(sound, "buzz").connect(sound.destination));
addEventListener("mousedown", () => sound.resume());
"""


@pytest.fixture(scope="module")
def studio(box: Box) -> Box:
    box.container.put("/tmp", {PROGRAM.name: PROGRAM.read_bytes()})
    return box


def listen(
    box: Box, script: str, frames: int, hogs: int = 0, film: bool = True, crash: int = 0
) -> dict[str, Any]:
    order = {"html": f"{HEAD}{script}</script>", "frames": frames, "click": 10, "hogs": hogs, "film": film}
    order["crash"] = crash
    done = box.container.exec(
        ["python3", f"/tmp/{PROGRAM.name}"], timeout_s=180, stdin=json.dumps(order).encode()
    )
    assert done.code == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)


def rows(told: dict[str, Any], word: str) -> list[list[Any]]:
    return [row for row in told["log"] if word in row]


@pytest.mark.docker
@pytest.mark.browser
def test_a_tone_of_one_second_is_heard_in_that_second_of_the_video(studio: Box) -> None:
    told = listen(studio, TONE, 150)
    assert rows(told, "state") == [["state", 9, "running", 0]], "the click of frame 10 allows sound"
    (ended,) = rows(told, "ended")
    assert ended[1] in (119, 120)
    heard = told["heard"]
    begin = 60 - told["told"]["first_frame"]
    assert begin <= heard["first"] <= begin + QUANTUM_FRAMES
    assert begin + 60 - 0.1 <= heard["last"] <= begin + 60 + 2 * QUANTUM_FRAMES
    assert {peak for _, peak in heard["tenths"][:9]} == {0}
    assert {hz for hz, _ in heard["tenths"][10:19]} == {440}
    assert all(15500 < peak < 17500 for _, peak in heard["tenths"][10:19])
    audio = told["told"]["audio"]
    assert (audio["from"], audio["rate"], audio["partial"]) == ("web audio, rendered by frames", 44100, [])
    assert audio["peak"] == pytest.approx(0.5, abs=0.01)
    assert told["streams"] == ["h264", "aac"]
    assert (told["told"]["encoded"], told["told"]["complete"]) == (150, True)


@pytest.mark.docker
@pytest.mark.browser
def test_contexts_are_the_same_beside_a_busy_program_and_without_a_recording(studio: Box) -> None:
    quiet, busy = listen(studio, CROWD, 100), listen(studio, CROWD, 100, hogs=2)
    unfilmed = listen(studio, CROWD, 100, film=False)
    assert quiet["log"] == busy["log"] == unfilmed["log"]
    assert quiet["late"] == busy["late"] == []
    ends = [row[1] for row in rows(quiet, "ended")]
    assert ends == [*range(8), "other"], "in the order in which they were started"
    assert [row[0] for row in rows(quiet, "decoded") + rows(quiet, "promised")] == ["decoded", "promised"]
    assert rows(quiet, "suspended")[0][2:] == ["suspended", "running"]
    assert rows(quiet, "resumed")[0][2:] == ["running", "running"]
    assert rows(quiet, "closed")[0][2:] == ["running", "closed"]
    assert rows(quiet, "InvalidStateError")
    times = {row[0]: row[1:] for row in quiet["log"] if isinstance(row[0], int)}
    assert times[50][0] == times[60][0] > times[40][0], "a context that rests has no time"
    assert times[100][0] - times[80][0] == pytest.approx(20 / 60, abs=128 / 44100)
    assert times[100][1] == times[80][1]
    assert times[100][2] > times[80][2] > 0, "the page's own processor is called"


@pytest.mark.docker
@pytest.mark.browser
def test_contexts_and_elements_look_like_the_browsers_own(studio: Box) -> None:
    told = listen(studio, LOOKS, 2, film=False)
    assert told["log"] == [
        *(True, False, "[object AudioContext]", True, True, True),
        *("function AudioContext() { [native code] }", 0, "suspended", 0, 44100, 0.01),
        *("[object AudioDestinationNode]", 0, 2, 7, True, "function resume() { [native code] }"),
        "TypeError: Failed to construct 'AudioContext': Please use the 'new' operator, "
        "this DOM object constructor cannot be called as a function.",
        "NotSupportedError: Failed to construct 'AudioContext': "
        "The hardware sample rate provided (10) is outside the range [3000, 768000].",
        *["TypeError: Illegal invocation"] * 3,
        *("function play() { [native code] }", True, "auto", "function Audio() { [native code] }", True),
    ]


@pytest.mark.docker
@pytest.mark.browser
def test_media_elements_play_by_frames_and_are_heard(studio: Box) -> None:
    told, busy = listen(studio, MEDIA, 170), listen(studio, MEDIA, 170, hogs=2, film=False)
    assert told["log"] == busy["log"]
    assert told["late"] == busy["late"] == []
    assert told["log"][0] == ["NotAllowedError"]
    boot = [row[:2] for row in told["log"] if row[1:2] in (["loadstart"], ["canplaythrough"], ["error"])]
    assert boot[:3] == [["one", "loadstart"], ["gone", "loadstart"], ["half", "loadstart"]]
    assert ["gone", "error"] in boot and ["gone", "canplaythrough"] not in boot
    one = [row for row in told["log"] if row[0] == "one" and row[3] > 0][2:]
    assert [(row[1], row[4], row[5]) for row in one] == [
        ("play", 0.017, False),
        ("playing", 0.017, False),
        *(("timeupdate", at, False) for at in (0.25, 0.5, 0.75)),
        *((kind, 1, True) for kind in ("timeupdate", "pause", "ended")),
    ]
    assert one[-1][2] == 68, "played at the time of frame 9, it has ended before frame 69 is drawn"
    half = [(row[1], row[2]) for row in told["log"] if row[0] == "half" and row[1] in ("seeked", "ended")]
    assert half == [("seeked", 98), ("seeked", 128), ("ended", 158)], "two rounds of 30 frames, then the last"
    assert rows(told, "plays") == [["plays", 1]]
    (first, second) = rows(told, "picture")
    assert first[1:] != second[1:] and float(second[1]) == pytest.approx(31 / 60, abs=0.002)
    heard = told["heard"]
    begin = 9 - told["told"]["first_frame"]
    assert begin <= heard["first"] <= begin + 1
    assert {hz for hz, _ in heard["tenths"][2:9]} <= {435, 440, 445}
    assert heard["tenths"][12][1] == pytest.approx(10000, rel=0.1), "half the volume"


@pytest.mark.docker
@pytest.mark.browser
def test_an_element_in_a_graph_is_heard_through_it(studio: Box) -> None:
    told = listen(studio, GRAPH, 100)
    assert told["log"][:3] == ["[object MediaElementAudioSourceNode]", True, 0]
    assert told["log"][3:] == [[30, True], [60, True], [90, False]]
    assert told["told"]["audio"]["peak"] == pytest.approx(0.305, abs=0.01)
    assert told["told"]["audio"]["partial"] == ["sound sent into a media stream is not heard"]


@pytest.mark.docker
@pytest.mark.browser
def test_a_page_that_makes_no_sound_has_no_track(studio: Box) -> None:
    told = listen(studio, SILENT, 70)
    assert told["streams"] == ["h264"]
    assert told["told"]["audio"] == "none: the page made no sound"


@pytest.mark.docker
@pytest.mark.browser
def test_a_worklet_is_heard_and_named_and_a_crash_keeps_the_sound_so_far(studio: Box) -> None:
    told = listen(studio, WORKLET, 150, crash=140)
    assert [what for _, what in told["late"]] == ["an AudioWorklet's messages and randomness are not driven"]
    assert told["streams"] == ["h264", "aac"]
    assert told["told"]["encoded"] == 139
    assert 119 < told["heard"]["last"] <= 122, "what was taken in whole seconds"
    assert told["told"]["audio"]["peak"] == 0.25
    assert told["told"]["audio"]["partial"] == ["no sound of its end: the page was lost"]


def test_a_page_that_is_lost_before_any_sound_is_said_to_be(tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(call: str, *_: int) -> dict[str, Any] | None:
        asked.append(call)
        raise DriverFailure("gone")

    async def record() -> Any:
        sound = Sound(ask, tmp_path / "sound.aac")
        await sound.begin(1)
        for frame in range(2, 200):
            await sound.frame(frame)
        assert await sound.finish() is None
        return sound.told(False)

    assert asyncio.run(record()) == "none: the page was lost before it made any sound"
    assert asked == ["hear"], "it is not asked again"
