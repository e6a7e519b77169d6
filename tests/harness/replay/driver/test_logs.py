import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.clock import RealClock
from harness.replay.driver.logs import MAX_LINE_BYTES, LogBook, error_text, plain_text, shorten


def lines(book: LogBook) -> list[str]:
    return [entry.line for entry in book.entries]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "string", "value": 'a "b"'}, 'a "b"'),
        ({"type": "number", "value": 3}, "3"),
        ({"type": "number", "unserializableValue": "NaN"}, "NaN"),
        ({"type": "bigint", "unserializableValue": "10n"}, "10n"),
        ({"type": "boolean", "value": True}, "true"),
        ({"type": "object", "subtype": "null", "value": None}, "null"),
        ({"type": "undefined"}, "undefined"),
        (
            {"type": "object", "subtype": "error", "description": "Error: x\n    at y", "objectId": "1"},
            "Error: x\n    at y",
        ),
        ({"type": "object", "description": "Object", "objectId": "1"}, None),
    ],
)
def test_a_logged_value_reads_as_the_interface_says(value: dict[str, object], text: str | None) -> None:
    assert plain_text(value) == text


def test_a_thrown_error_reads_as_message_and_stack_and_anything_else_as_its_value() -> None:
    assert (
        error_text({"text": "Uncaught", "exception": {"type": "object", "description": "Error: x\n    at y"}})
        == "Error: x\n    at y"
    )
    assert error_text({"text": "Uncaught", "exception": {"type": "string", "value": "oops"}}) == "oops"
    assert error_text({"text": "Uncaught SyntaxError"}) == "Uncaught SyntaxError"


@given(st.permutations(range(6)))
def test_lines_stand_in_the_order_of_the_calls_however_values_arrive(order: list[int]) -> None:
    book = LogBook(RealClock())
    slots = [book.reserve("log") for _ in order]
    for k in order:
        book.fill(slots[k], str(k))
    assert lines(book) == [f"[log] {k}" for k in range(6)]


def test_a_value_that_never_arrives_does_not_hold_the_others() -> None:
    book = LogBook(RealClock())
    book.reserve("log")
    book.add("warning", "after")
    assert lines(book) == []
    asyncio.run(book.settle(0.01))
    assert lines(book) == ["[log] (the page did not hand the value over)", "[warning] after"]


def test_the_caps_on_lines_and_bytes_hold_and_are_said() -> None:
    book = LogBook(RealClock(), max_lines=3, max_bytes=1000)
    for k in range(10):
        book.add("log", str(k))
    assert book.is_full
    book.close_run()
    assert lines(book)[:3] == ["[log] 0", "[log] 1", "[log] 2"]
    assert lines(book)[3:] == [
        "[log cap] 7 more lines (56 bytes) are not shown: at most 3 lines and 1000 bytes are kept"
    ]
    book.add("log", "next run")
    assert lines(book)[-1] == "[log] next run"


def test_one_endless_line_is_cut_and_the_rest_is_counted() -> None:
    text = shorten("é" * MAX_LINE_BYTES)
    assert text.endswith(f"… ({MAX_LINE_BYTES} more bytes)")
    assert len(text.encode()) < MAX_LINE_BYTES + 40
