"""Every call to an endpoint is reported as it ends, with its role, outcome and usage."""

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest

from paperscope_core.errors import BudgetError, ModelUnavailableError
from paperscope_core.models import Budget, Models, RetryPolicy, build_models
from paperscope_core.models.budget import AccountedModel, Accounting
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.settings import load_settings
from paperscope_core.types import Message, ModelCall, ModelRequest, Usage
from tests.model_server import ModelServer, serve
from tests.paperscope_core.models.doubles import SlowModel, settle

TEXT = "What is the rank?"
REQUEST = ModelRequest(messages=(Message(role="user", text=TEXT),))
Reports = list[tuple[str, ModelCall]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve(lambda _body: "It is 256.") as model:
        yield model


def build(server: ModelServer, reported: Reports, *, retries: int = 0, budget: Budget | None = None) -> Models:
    shared = {"model": "m", "base_url": server.url, "price_prompt": 1e6}
    given = dict.fromkeys(("answer", "extract", "vision", "embed"), shared)
    settings = load_settings(environ={}, overrides={**given, "calls.retries": retries})
    return build_models(
        settings, MemoryCallCache(), budget=budget, on_call=lambda role, call: reported.append((role, call))
    )


async def test_each_role_reports_its_calls_with_their_usage(server: ModelServer) -> None:
    reported: Reports = []
    models = build(server, reported)
    assert models.answer is not None
    assert models.extract is not None
    assert models.vision is not None
    tokens = len(TEXT) // 4
    usage = Usage(calls=1, prompt_tokens=tokens, completion_tokens=2, cost=tokens)
    await models.vision.complete(REQUEST)
    await models.vision.complete(REQUEST)
    await models.embedder.embed([TEXT])
    assert reported[:2] == [
        ("vision", ModelCall(outcome="answered", usage=usage)),
        ("vision", ModelCall(outcome="kept")),
    ]
    role, embedded = reported.pop()
    assert (role, embedded.outcome, embedded.usage.calls) == ("embed", "answered", 1)
    assert embedded.usage.cost == embedded.usage.prompt_tokens > 0
    await models.aclose()


async def test_each_attempt_is_reported(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paperscope_core.models.build.RetryPolicy", partial(RetryPolicy, first=0.01))
    reported: Reports = []
    models = build(server, reported, retries=1)
    server.refuse, server.retry_after = [429, 500], 0.01
    assert models.extract is not None
    await models.extract.complete(REQUEST)
    assert [(role, call.outcome) for role, call in reported] == [
        ("extract", "limited"),
        ("extract", "failed"),
        ("extract", "answered"),
    ]
    server.refuse = [500, 500]
    assert models.answer is not None
    other = ModelRequest(messages=(Message(role="user", text="Another one?"),))
    with pytest.raises(ModelUnavailableError):
        await models.answer.complete(other)
    assert [(role, call.outcome) for role, call in reported[3:]] == [("answer", "failed")] * 2
    await models.aclose()


async def test_what_a_budget_forbids_is_no_call(server: ModelServer) -> None:
    reported: Reports = []
    models = build(server, reported, budget=Budget(max_calls=0))
    assert models.answer is not None
    with pytest.raises(BudgetError):
        await models.answer.complete(REQUEST)
    assert reported == []
    await models.aclose()


async def test_a_cancelled_call_is_reported_as_failed() -> None:
    reported: list[ModelCall] = []
    model = AccountedModel(SlowModel(), Accounting(on_call=reported.append))
    call = asyncio.create_task(model.complete(REQUEST))
    await settle()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert reported == [ModelCall(outcome="failed")]
