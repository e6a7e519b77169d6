from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.slots import Slots

Written = list[tuple[bytes, int]]


def filled(slots: Slots, pictures: list[tuple[float, bytes]], end: float) -> list[bytes]:
    due: Written = [slots.place(at, picture) for at, picture in pictures]
    due.append(slots.end(end))
    return [picture for picture, times in due for _ in range(times)]


def test_a_picture_lasts_until_the_next_ones_slot() -> None:
    slots = Slots(60)
    assert filled(slots, [(5.0, b"a"), (5.0 + 3 / 60, b"b")], 5.0 + 5 / 60) == [b"a"] * 3 + [b"b"] * 2
    assert (slots.distinct, slots.repeated, slots.dropped) == (2, 3, 0)
    assert slots.longest_gap_ms == 50.0 or round(slots.longest_gap_ms, 3) == 50.0


def test_of_two_pictures_in_one_slot_the_later_is_shown_and_one_is_dropped() -> None:
    slots = Slots(60)
    assert filled(slots, [(1.0, b"a"), (1.1, b"b"), (1.102, b"c")], 1.1 + 1 / 60) == [b"a"] * 6 + [b"c"]
    assert (slots.captured, slots.distinct, slots.dropped) == (3, 2, 1)


def test_the_last_picture_is_seen_even_when_the_end_comes_at_once() -> None:
    assert filled(Slots(60), [(1.0, b"a")], 1.0) == [b"a"]


def test_nothing_captured_is_nothing_written() -> None:
    slots = Slots(60)
    assert filled(slots, [], 9.0) == []
    assert slots.summary()["distinct_fps"] == 0.0


def test_the_same_picture_again_is_repeated_not_distinct() -> None:
    slots = Slots(60)
    assert filled(slots, [(1.0, b"a"), (1.0 + 1 / 60, b"a")], 1.0 + 2 / 60) == [b"a", b"a"]
    assert (slots.distinct, slots.repeated) == (1, 1)


def test_a_still_page_is_written_as_time_goes_and_its_next_picture_drops_nothing() -> None:
    slots = Slots(60)
    slots.place(0.0, b"a")
    assert slots.hold(1.0) == (b"a", 60)
    assert slots.place(0.999, b"b")[1] == 0  # drawn just before what is written already
    assert slots.end(1.5) == (b"b", 30)
    assert slots.dropped == 0


def test_a_picture_that_could_not_be_taken_is_dropped_and_said() -> None:
    slots = Slots(60)
    slots.lose()
    slots.place(0.0, b"a")
    slots.end(0.1)
    assert (slots.captured, slots.distinct, slots.dropped) == (2, 1, 1)


steps = st.lists(st.tuples(st.floats(0, 0.3), st.sampled_from([b"a", b"b", b"c"])), max_size=60)


@given(steps, st.floats(0, 2), st.sampled_from([1, 30, 60]))
def test_every_slot_is_filled_once_and_every_picture_is_accounted_for(
    steps: list[tuple[float, bytes]], tail: float, fps: int
) -> None:
    slots, at, pictures = Slots(fps), 100.0, list[tuple[float, bytes]]()
    for step, picture in steps:
        at += step
        pictures.append((at, picture))
    written = filled(slots, pictures, at + tail)
    assert len(written) == slots.written == slots.distinct + slots.repeated
    changes = sum(one != before for one, before in zip(written, [b"", *written], strict=False))
    assert slots.distinct == changes
    assert slots.captured == len(steps)
    if steps:
        length = at + tail - pictures[0][0]
        assert (
            abs(len(written) - max(1, length * fps)) <= 1.5
        )  # to the nearest slot, and the last picture is seen
        shown = slots.captured - slots.dropped
        assert slots.distinct <= shown <= len(written)
