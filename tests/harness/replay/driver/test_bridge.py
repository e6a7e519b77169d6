import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.bridge import MAX_CALL_BYTES, Call, parse_call
from harness.replay.driver.motion import Number

arguments = (
    st.none() | st.just(False) | st.text(max_size=20) | st.floats(allow_nan=False, allow_infinity=False)
)
counts = st.integers(1, 2**53 - 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(
    st.tuples(
        counts, st.text(max_size=40), counts, counts, st.text(max_size=20), arguments, arguments, arguments
    )
)
def test_what_the_client_writes_is_read_back(
    parts: tuple[int, str, int, int, str, Number, Number, Number],
) -> None:
    assert parse_call(json.dumps(list(parts))) == Call(*parts)


@given(st.text() | json_values.map(json.dumps))
def test_anything_else_is_a_call_or_nothing_but_never_an_error(payload: str) -> None:
    call = parse_call(payload)
    assert call is None or isinstance(call.method, str)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "{}",
        "[1]",
        '[0,"run",1,1,"mouse.stop",null,null,null]',
        '[true,"run",1,1,"mouse.stop",null,null,null]',
        '[1,"run",1,1,"mouse.move",true,null,null]',
        '[1,"run",1,1,"mouse.move",[1],null,null]',
        '[1,"run",1,1,"mouse.move",NaN,null,null]',
        '[1,null,1,1,"mouse.move",1,1,null]',
        '[1,"run",1,1,"mouse.stop",null,null]',
        "[" * 3000,
        json.dumps([1, "run", 1, 1, "key" * MAX_CALL_BYTES, None, None, None]),
    ],
)
def test_a_payload_the_client_cannot_have_written_is_no_call(payload: str) -> None:
    assert parse_call(payload) is None


def test_a_number_that_overflows_is_not_finite_and_left_to_the_rules() -> None:
    call = parse_call('[1,"run",1,1,"mouse.move",1e999,0,null]')
    assert call is not None
    assert call.first == math.inf
