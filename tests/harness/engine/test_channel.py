"""Frames are parsed however they are cut, and waiting ends at our deadline, not the socket's."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import InfraFailure
from harness.engine.channel import Channel, ChannelClosed, ChannelTimeout, FrameParser

Pieces = list[tuple[int, bytes]]


def frame(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


def joined(pieces: Pieces) -> Pieces:
    """Neighbouring pieces of one stream put together, since cuts carry no meaning."""
    out: Pieces = []
    for stream, data in pieces:
        if out and out[-1][0] == stream:
            out[-1] = (stream, out[-1][1] + data)
        elif data:
            out.append((stream, data))
    return out


@pytest.fixture
def pair() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    channel = Channel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40))), st.lists(st.integers(1, 12)))
def test_frames_come_out_the_same_however_the_stream_is_cut(frames: Pieces, cuts: list[int]) -> None:
    data = b"".join(frame(stream, body) for stream, body in frames)
    parser = FrameParser()
    pieces: Pieces = []
    steps = iter(cuts)
    while data:
        size = next(steps, len(data))
        pieces += parser.feed(data[:size])
        data = data[size:]
    assert joined(pieces) == joined(frames)
    assert parser.between_frames


def test_payload_is_passed_on_before_its_frame_is_complete() -> None:
    parser = FrameParser()
    assert parser.feed(frame(1, b"x" * 1000)[:108]) == [(1, b"x" * 100)]
    assert not parser.between_frames


@pytest.mark.parametrize(
    "start", [b"\x09\0\0\0\0\0\0\x01x", b"\x01\0\x01\0\0\0\0\x01x", b"hello, I am a terminal"]
)
def test_a_stream_that_is_not_framed_is_refused(start: bytes) -> None:
    with pytest.raises(InfraFailure, match="not framed"):
        FrameParser().feed(start)


def test_bytes_that_arrived_with_the_answer_are_not_lost() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with Channel(ours, first=frame(1, b"early")) as channel, theirs:
        assert channel.recv(0) == (1, b"early")


def test_recv_gives_up_at_its_own_deadline(pair: tuple[Channel, socket.socket]) -> None:
    channel, _ = pair
    began = time.monotonic()
    with pytest.raises(ChannelTimeout, match=r"0\.2 s"):
        channel.recv(0.2)
    assert 0.15 < time.monotonic() - began < 2


def test_a_trickle_of_header_bytes_does_not_extend_the_deadline(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair

    def trickle() -> None:
        for byte in frame(1, b"x")[:7]:
            theirs.send(bytes([byte]))
            time.sleep(0.1)

    thread = threading.Thread(target=trickle)
    thread.start()
    began = time.monotonic()
    with pytest.raises(ChannelTimeout):
        channel.recv(0.3)
    assert time.monotonic() - began < 0.6
    thread.join()


def test_the_end_is_none_and_stays_none(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    theirs.sendall(frame(2, b"last words"))
    theirs.close()
    assert channel.recv(1) == (2, b"last words")
    assert channel.recv(1) is None
    assert channel.recv(None) is None


def test_an_error_of_the_engine_in_the_stream_is_a_failure(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    theirs.sendall(frame(3, b"daemon is going down"))
    with pytest.raises(InfraFailure, match="daemon is going down"):
        channel.recv(1)


def test_send_to_a_process_that_does_not_read_times_out(pair: tuple[Channel, socket.socket]) -> None:
    channel, _ = pair
    with pytest.raises(ChannelTimeout, match="took no input"):
        channel.send(b"x" * (8 << 20), timeout_s=0.2)


def test_send_to_a_process_that_is_gone_says_so(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    theirs.close()
    with pytest.raises(ChannelClosed):
        channel.send(b"x" * (8 << 20), timeout_s=1)


def test_two_threads_may_send_without_mixing_their_messages(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    messages = [bytes([letter]) * 300_000 for letter in b"ab"]
    threads = [threading.Thread(target=channel.send, args=(message, 10)) for message in messages]
    for thread in threads:
        thread.start()
    got = b""
    while len(got) < 600_000:
        got += theirs.recv(1 << 16)
    for thread in threads:
        thread.join()
    assert got in (messages[0] + messages[1], messages[1] + messages[0])
