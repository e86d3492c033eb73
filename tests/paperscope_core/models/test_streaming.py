"""Streamed replies, of models that stream and of those that don't, through every wrapper."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from paperscope_core.errors import ModelUnavailableError
from paperscope_core.models import Budget, CachedModel, FakeModel, MeteredModel, RetryPolicy, ask_json
from paperscope_core.models.budget import AccountedModel, Accounting
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.concurrency import LimitedModel
from paperscope_core.models.reply_reading import partial_text
from paperscope_core.models.retry import RetryingModel
from paperscope_core.models.wrapper import stream_reply
from paperscope_core.protocols import LanguageModel, StreamingModel
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage
from tests.paperscope_core.models.doubles import RecordingSleep


def request(text: str = "hello") -> ModelRequest:
    return ModelRequest(messages=(Message(role="user", text=text),))


class Broken(FakeModel):
    """Breaks off its first stream."""

    broken = False

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        if not self.broken:
            self.broken = True
            on_text("a long text")
            raise ModelUnavailableError("gone")
        return await super().stream(request, on_text)


class Answered(BaseModel):
    answer: str


TEXT = "a text of more than one piece"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model,
        lambda model: RetryingModel(model, RetryPolicy()),
        lambda model: LimitedModel(model, concurrency=1),
        lambda model: AccountedModel(model, Accounting(budget=Budget(max_calls=1))),
        lambda model: CachedModel(model, MemoryCallCache()),
        MeteredModel,
    ],
)
async def test_wrappers_pass_the_pieces_on(wrap: Callable[[LanguageModel], LanguageModel]) -> None:
    model = wrap(FakeModel([TEXT]))
    received: list[str] = []
    assert isinstance(model, StreamingModel)
    reply = await stream_reply(model, request(), received.append)
    assert (reply.text, reply.usage.calls) == (TEXT, 1)
    assert len(received) == 5
    assert received == [TEXT[: len(text)] for text in received]


async def test_a_model_without_streaming_replies_in_one_piece() -> None:
    fake = FakeModel([TEXT])

    class Plain:
        name, complete, redacted = "plain", fake.complete, fake.redacted

    received: list[str] = []
    reply = await stream_reply(Plain(), request(), received.append)
    assert received == [TEXT] == [reply.text]


async def test_a_streamed_reply_is_kept_as_a_plain_one() -> None:
    cache, model = MemoryCallCache(), FakeModel([TEXT])
    first: list[str] = []
    again: list[str] = []
    await CachedModel(model, cache).stream(request(), first.append)
    plain = await CachedModel(model, cache).complete(request())
    kept = await CachedModel(model, cache).stream(request(), again.append)
    assert plain == kept == ModelReply(text=TEXT, usage=Usage(cached=1))
    assert (len(first), again, len(model.requests)) == (5, [TEXT], 1)
    assert cache.get_call(request().key("fake")) is not None


async def test_a_broken_stream_starts_over() -> None:
    received: list[str] = []
    clock = RecordingSleep()
    model = RetryingModel(Broken([TEXT]), RetryPolicy(sleep=clock.sleep))
    assert (await model.stream(request(), received.append)).text == TEXT
    assert received[:2] == ["a long text", TEXT[:7]]


async def test_a_reply_that_fails_its_schema_is_followed_by_the_corrected_one() -> None:
    received: list[str] = []
    model = FakeModel(['{"answer": {}}', '{"answer": "seven"}'])
    value, usage = await ask_json(model, request(), Answered, on_text=received.append)
    assert (value.answer, usage.calls) == ("seven", 2)
    assert received[-1] == '{"answer": "seven"}'


PRINTED = st.text(st.characters(exclude_categories=("Cc", "Cs")))


@given(PRINTED, PRINTED)
def test_what_is_written_so_far_is_a_beginning_of_the_text(before: str, answer: str) -> None:
    for ascii_only in (True, False):
        whole = json.dumps({"status": before, "answer": answer, "claims": []}, ensure_ascii=ascii_only)
        grown = [partial_text(whole[:end], "answer") for end in range(len(whole) + 1)]
        assert grown[-1] == answer
        assert all(answer.startswith(text) for text in grown)
        assert [len(text) for text in grown] == sorted(len(text) for text in grown)


@pytest.mark.parametrize(
    "begun", ["", "Sure: ", "[1, 2", '{"answer": 7', '{"answer": {"answer": "x', "{]", '{"other": "answer"}']
)
def test_where_there_is_no_such_text_there_is_none(begun: str) -> None:
    assert partial_text(begun, "answer") == ""


def test_prose_and_fences_before_the_object_are_passed_over() -> None:
    assert partial_text('Sure:\n```json\n{"answer": "ab', "answer") == "ab"
