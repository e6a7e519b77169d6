from hypothesis import given
from hypothesis import strategies as st

from harness.session.keeper import HeadTail


def feed(pieces: list[bytes], head: int = 10, tail: int = 10) -> HeadTail:
    kept = HeadTail(head, tail)
    for piece in pieces:
        kept.feed(piece)
    return kept


@given(st.lists(st.binary(max_size=15), max_size=12))
def test_text_never_breaks_and_says_exactly_what_is_left_out(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    text, gap = feed(pieces).text()
    text.encode("utf-8")
    assert "\0" not in text
    assert (gap > 0) == (len(whole) > 20)
    if gap:
        assert f"{gap} bytes of output left out" in text
    else:
        assert text == whole.decode("utf-8", "replace").replace("\0", "␀")


@given(st.text(max_size=200), st.integers(1, 7))
def test_valid_text_is_never_cut_inside_a_character(text: str, size: int) -> None:
    data = text.encode()
    shown, gap = feed([data[i : i + size] for i in range(0, len(data), size)]).text()
    if "\ufffd" not in text:
        assert "\ufffd" not in shown
    assert gap == 0 or len(data) > 20


@given(st.lists(st.binary(max_size=50), max_size=30))
def test_memory_stays_bounded_and_the_last_bytes_are_the_last(pieces: list[bytes]) -> None:
    kept = feed(pieces)
    assert kept.last(10) == b"".join(pieces)[-10:]
    assert len(kept._head) + len(kept._tail) <= 10 + 2 * 10 + 50
