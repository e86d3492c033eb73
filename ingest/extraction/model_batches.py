"""Asks a language model about many things, several per call, and collects the replies of parallel calls."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

import prompts
from paperscope_core.errors import ModelError
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import ModelRequest
from prompts import as_data

__all__ = ["ask_in_batches", "gather_replies"]

T = TypeVar("T")
Answer = TypeVar("Answer")
Reply = TypeVar("Reply", bound=BaseModel)


async def gather_replies(calls: Iterable[Awaitable[T]]) -> list[T | ModelError]:
    """Run calls of a model at once and return the result of each, or its ModelError.

    Other errors are raised, but only after all calls have ended, so that a cache keeps the replies already paid for.
    """
    outcomes: list[T | ModelError] = []
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(outcome, BaseException) and not isinstance(outcome, ModelError):
            raise outcome
        outcomes.append(outcome)
    return outcomes


async def ask_in_batches(
    model: LanguageModel,
    items: Sequence[object],
    *,
    size: int,
    prefix: str,
    prompt: str,
    placeholder: str,
    schema_name: str,
    reply: type[Reply],
    answers: Callable[[Reply], Mapping[str, Answer]],
) -> list[Answer | ModelError | None]:
    """Ask a model about items, `size` of them per call; all calls run at once, wrappers of the model limit them.

    Args:
        items: What the prompt shows of each item, as JSON on a line of its own.
        prefix: Begins the names that the prompt gives to the items of a call: `T` for `T1`, `T2` and so on.
        answers: Returns the usable answers of a reply by the names of the items.

    Returns:
        The answer to each item, the error of its call, or None if the reply has no usable answer to it.

    Raises:
        PaperscopeError: An error other than ModelError, when all calls have ended.
    """

    async def ask(batch: Sequence[object]) -> list[Answer | None]:
        named = {f"{prefix}{number}": item for number, item in enumerate(batch, start=1)}
        lines = [f"{name} {json.dumps(item, ensure_ascii=False)}" for name, item in named.items()]
        template = prompts.load(prompt, placeholders=frozenset({placeholder}))
        request = ModelRequest.of(template.fill(**{placeholder: as_data("\n".join(lines))}), schema_name)
        value, _ = await ask_json(model, request, reply, accept=lambda value: answers(value).keys() >= named.keys())
        found = answers(value)
        return [found.get(name) for name in named]

    batches = [items[start : start + size] for start in range(0, len(items), size)]
    answered: list[Answer | ModelError | None] = []
    for batch, outcome in zip(batches, await gather_replies(map(ask, batches)), strict=True):
        answered += [outcome] * len(batch) if isinstance(outcome, ModelError) else outcome
    return answered
