"""Counts what model calls use, and estimates it before they are made."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import ModelRateLimitError
from paperscope_core.models.tokens import count_tokens, request_tokens
from paperscope_core.models.wrapper import streamed
from paperscope_core.protocols import CallCache, Embedder, LanguageModel
from paperscope_core.types import ModelCall, ModelReply, ModelRequest, Usage

__all__ = [
    "CountedCache",
    "CountedEmbedder",
    "CountedModel",
    "DryRunModel",
    "MeteredModel",
    "OnCall",
    "expected_embedding",
    "expected_usage",
    "least_reply",
]


_MILLION = 1_000_000
# How many tokens a reply is, by the kind of call, as careful replies to a paper's own calls had it. Entities take a
# share of the tokens of their passages (single ones from 0.7 to 2.1); what a picture shows has no such measure (from 70
# for an equation to 970 for a large table). The shares of verdicts about names (40 tokens for a pair of 100) and of
# summaries (80 for sentences of 550) are no measure, but what the prompts ask for.
_SHARES: Mapping[str, float] = MappingProxyType({"entities": 1.2, "same_names": 0.4, "summaries": 0.15})
_LENGTH = 300
_SENTENCE = "There is nothing that could be said of this before the model is asked."

Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


def expected_usage(request: ModelRequest, *, price_prompt: float, price_completion: float) -> Usage:
    """The usage of one call, by the rule of `tokens` and by what replies to calls of its kind take on average.

    Prices are per million tokens.
    """
    prompt = request_tokens(request)
    completion = _completion_tokens(request)
    cost = (prompt * price_prompt + completion * price_completion) / _MILLION
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion, cost=cost)


def expected_embedding(texts: Sequence[str], *, price_prompt: float) -> Usage:
    """The usage of one call that embeds these texts, by the rule of `tokens`; the price is per million tokens."""
    tokens = sum(map(count_tokens, texts))
    return Usage(calls=1, prompt_tokens=tokens, cost=tokens * price_prompt / _MILLION)


def _completion_tokens(request: ModelRequest) -> int:
    share = _SHARES.get(request.schema_name)
    if share is None:
        return _LENGTH
    asked = [message for message in request.messages if message.role == "user"]
    return round(share * count_tokens(asked[0].text)) if len(asked) == 1 else _LENGTH


def least_reply(schema: Mapping[str, object]) -> Json:
    """The least value that obeys a schema in strict form: lists are empty, a text is one that says nothing."""
    return _least(schema, schema.get("$defs", {}))


def _least(node: object, definitions: object) -> Json:
    if not isinstance(node, Mapping) or not isinstance(definitions, Mapping):
        return None
    if "$ref" in node:
        return _least(definitions[str(node["$ref"]).removeprefix("#/$defs/")], definitions)
    for key in ("const", "enum", "anyOf"):
        if key in node:
            return _first(node[key], definitions)
    properties = node.get("properties", {})
    least: Mapping[object, Json] = {
        "string": _SENTENCE,
        "integer": 0,
        "number": 0.0,
        "boolean": False,
        "array": [],
        "object": {name: _least(part, definitions) for name, part in dict(properties).items()},
    }
    return least.get(node.get("type"))


def _first(options: object, definitions: object) -> Json:
    one = options[0] if isinstance(options, list) else options
    return _least(one, definitions) if isinstance(one, Mapping) else str(one)


class MeteredModel:
    """Passes requests on; `usage` is the sum over all replies so far, those from a cache included as such."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._usage = Usage()

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    @property
    def usage(self) -> Usage:
        """What the replies so far took together."""
        return self._usage

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The wrapped model's reply."""
        return self._added(await self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The wrapped model's reply, told as it is written."""
        return self._added(await streamed(self._model, request, on_text))

    def _added(self, reply: ModelReply) -> ModelReply:
        self._usage += reply.usage
        return reply


T = TypeVar("T")

OnCall = Callable[[ModelCall], None]


class CountedModel:
    """Tells each call that is sent, also those that fail and are tried again; `on_call` hears it on any thread."""

    def __init__(self, model: LanguageModel, on_call: OnCall) -> None:
        self._model = model
        self._on_call = on_call

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The wrapped model's reply."""
        return await self._counted(self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The wrapped model's reply; see `StreamingModel`."""
        return await self._counted(streamed(self._model, request, on_text))

    async def _counted(self, call: Awaitable[ModelReply]) -> ModelReply:
        return await _reported(call, self._on_call, usage=lambda reply: reply.usage)


class CountedEmbedder:
    """An embedder that tells each call that is sent; its tokens are told by rule (`expected_embedding`)."""

    def __init__(self, embedder: Embedder, on_call: OnCall, *, price_prompt: float = 0.0) -> None:
        self._embedder = embedder
        self._on_call = on_call
        self._price_prompt = price_prompt

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """The wrapped embedder's rows."""
        taken = expected_embedding(texts, price_prompt=self._price_prompt)
        return await _reported(self._embedder.embed(texts), self._on_call, usage=lambda _rows: taken)


class CountedCache:
    """A cache that tells each call that it answers."""

    def __init__(self, cache: CallCache, on_call: OnCall) -> None:
        self._cache = cache
        self._on_call = on_call

    def get_call(self, key: str) -> ModelReply | None:
        """See `CallCache.get_call`."""
        reply = self._cache.get_call(key)
        if reply is not None:
            self._on_call(ModelCall(outcome="kept"))
        return reply

    def check_room(self) -> None:
        """See `CallCache.check_room`."""
        self._cache.check_room()

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        """See `CallCache.put_call`."""
        self._cache.put_call(key, model, reply)


async def _reported(call: Awaitable[T], on_call: OnCall, *, usage: Callable[[T], Usage]) -> T:
    """What a call brings, told with its usage; one that fails is told, too, as is one that is given up."""
    ended = ModelCall(outcome="failed")
    try:
        brought = await call
        ended = ModelCall(outcome="answered", usage=usage(brought))
    except ModelRateLimitError:
        ended = ModelCall(outcome="limited")
        raise
    finally:
        on_call(ended)
    return brought


class DryRunModel:
    """Stands in for `model` while the same code runs that would call it, so that exactly its requests are counted.

    A kept reply comes from the cache. Any other request is noted, once, and gets the least reply that its schema
    allows; nothing is sent. Prices are per million tokens.
    """

    def __init__(
        self, model: LanguageModel, cache: CallCache, *, price_prompt: float = 0.0, price_completion: float = 0.0
    ) -> None:
        self._model = model
        self._cache = cache
        self._price_prompt = price_prompt
        self._price_completion = price_completion
        self._noted: set[str] = set()
        self._usage = Usage()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def usage(self) -> Usage:
        """What the requests so far would take together; those in the cache count as cached."""
        return self._usage

    async def complete(self, request: ModelRequest) -> ModelReply:
        """A kept reply, or a stand-in that counts as a call."""
        key = request.key(self.name)
        kept = self._cache.get_call(key)
        if kept is not None:
            self._usage += Usage(cached=1)
            return replace(kept, usage=Usage(cached=1))
        expected = expected_usage(request, price_prompt=self._price_prompt, price_completion=self._price_completion)
        if key not in self._noted:
            self._noted.add(key)
            self._usage += expected
        text = "" if request.schema is None else json.dumps(least_reply(request.schema))
        return ModelReply(text=text, usage=expected)
