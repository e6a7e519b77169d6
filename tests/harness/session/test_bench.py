import pytest

from harness.engine import Engine
from harness.session.bench import bash_latency

pytestmark = pytest.mark.docker


def test_the_bash_tool_is_measured_against_every_reference_that_is_there(engine: Engine, image: str) -> None:
    left_out: list[str] = []
    rows = bash_latency(engine, image, 30, left_out.append)
    assert len(rows) + len(left_out) == 3 and rows
    assert all(row.ours > 0 and row.reference > 0 and row.runs == 30 and row.unit == "ms" for row in rows)
