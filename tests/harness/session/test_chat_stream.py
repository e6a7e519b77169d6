import pytest

from harness.session.chat_stream import StreamedReply, failure
from harness.session.provider import ProviderFailure


def chunk(**delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta}]}


def test_pieces_of_calls_without_index_are_told_apart_by_id() -> None:
    reply = StreamedReply()
    reply.add(chunk(tool_calls=[{"id": "a", "function": {"name": "bash", "arguments": '{"comm'}}]))
    reply.add(chunk(tool_calls=[{"function": {"arguments": 'and": "x"}'}}]))
    reply.add(chunk(tool_calls=[{"id": "b", "function": {"name": "bash", "arguments": "{}"}}]))
    calls = reply.reply().tool_calls
    assert [(c.id, c.arguments) for c in calls] == [("a", '{"command": "x"}'), ("b", "{}")]


def test_reasoning_under_either_name_is_kept_apart_from_text() -> None:
    reply = StreamedReply()
    reply.add(chunk(reasoning="one "))
    reply.add(chunk(reasoning_content="two", content=[{"type": "text", "text": "said"}]))
    whole = reply.reply()
    assert (whole.text, whole.reasoning) == ("said", "one two")


def test_usage_nobody_sent_is_unknown_and_zero_is_zero() -> None:
    reply = StreamedReply()
    reply.add(chunk(content="a"))
    assert reply.reply().usage is None
    reply.add({"choices": [], "usage": {"prompt_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}}})
    usage = reply.reply().usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (0, None, 0)


def test_an_answer_with_nothing_in_it_is_a_passing_fault() -> None:
    with pytest.raises(ProviderFailure) as told:
        StreamedReply().reply()
    assert told.value.kind == "transient"


def test_an_error_in_the_middle_of_a_stream_is_an_error() -> None:
    reply = StreamedReply()
    reply.add(chunk(content="half"))
    with pytest.raises(ProviderFailure):
        reply.add({"error": {"message": "broke"}})


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [(500, "", "transient"), (None, "reset", "transient"), (403, "", "unauthorised"), (400, "Context window is full", "context_overflow"),
     (413, "large", "refused")],
)  # fmt: skip
def test_what_a_status_means(status: int | None, message: str, kind: str) -> None:
    assert failure(status, "", message).kind == kind
