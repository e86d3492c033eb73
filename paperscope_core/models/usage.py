"""Measures the usage of model calls, and estimates it in advance."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import ModelRateLimitError
from paperscope_core.models.tokens import count_tokens, request_tokens
from paperscope_core.models.wrapper import EmbedderWrapper, ModelWrapper, SendRequest
from paperscope_core.protocols import CallCache, Embedder, LanguageModel
from paperscope_core.types import ModelCall, ModelReply, ModelRequest, Usage

__all__ = [
    "CallListener",
    "CountedCache",
    "CountedEmbedder",
    "CountedModel",
    "DryRunModel",
    "MeteredModel",
    "estimate_embedding",
    "estimate_usage",
    "minimal_reply",
]

T = TypeVar("T")

CallListener = Callable[[ModelCall], None]
"""Called on any thread with each call as it ends."""

_PRICED_TOKENS = 1_000_000
# Reply tokens per token of the request's text, by schema name. Entities: the mean of careful replies to a paper's
# calls, which range from 0.7 to 2.1. Verdicts on names and summaries: what the prompts ask for, 40 tokens for a pair of
# 100 tokens and 80 for sentences of 550.
_REPLY_SHARES: Mapping[str, float] = MappingProxyType({"entities": 1.2, "same_names": 0.4, "summaries": 0.15})
# Tokens of any other reply. The length of an image's description can't be predicted: it ranges from 70 tokens for an
# equation to 970 for a large table.
_REPLY_TOKENS = 300
_FILLER_SENTENCE = "There is nothing that could be said of this before the model is asked."

Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


def estimate_usage(request: ModelRequest, *, price_prompt: float, price_completion: float) -> Usage:
    """Estimate the usage of one call from its tokens and the mean reply to calls of its kind.

    Args:
        request: The request.
        price_prompt: Price of a million prompt tokens.
        price_completion: Price of a million completion tokens.
    """
    prompt = request_tokens(request)
    completion = _REPLY_TOKENS
    user_messages = [message for message in request.messages if message.role == "user"]
    if request.schema_name in _REPLY_SHARES and len(user_messages) == 1:
        completion = round(_REPLY_SHARES[request.schema_name] * count_tokens(user_messages[0].text))
    cost = (prompt * price_prompt + completion * price_completion) / _PRICED_TOKENS
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion, cost=cost)


def estimate_embedding(texts: Sequence[str], *, price_prompt: float) -> Usage:
    """Estimate the usage of one call that embeds these texts; the price is per million tokens."""
    tokens = sum(map(count_tokens, texts))
    return Usage(calls=1, prompt_tokens=tokens, cost=tokens * price_prompt / _PRICED_TOKENS)


def minimal_reply(schema: Mapping[str, object]) -> Json:
    """The smallest value that matches a strict JSON schema: lists are empty, texts are a sentence without content."""
    return _minimal(schema, schema.get("$defs", {}))


def _minimal(node: object, definitions: object) -> Json:
    if not isinstance(node, Mapping) or not isinstance(definitions, Mapping):
        return None
    if "$ref" in node:
        return _minimal(definitions[str(node["$ref"]).removeprefix("#/$defs/")], definitions)
    for key in ("const", "enum", "anyOf"):
        if key in node:
            first = node[key][0] if isinstance(node[key], list) else node[key]
            return _minimal(first, definitions) if isinstance(first, Mapping) else str(first)
    properties = node.get("properties", {})
    minimal: Mapping[object, Json] = {
        "string": _FILLER_SENTENCE,
        "integer": 0,
        "number": 0.0,
        "boolean": False,
        "array": [],
        "object": {name: _minimal(part, definitions) for name, part in dict(properties).items()},
    }
    return minimal.get(node.get("type"))


class MeteredModel(ModelWrapper):
    """Sums the usage of all replies of a language model, cached ones included."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """The usage of all replies so far."""
        return self._usage

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        reply = await send()
        self._usage += reply.usage
        return reply


class CountedModel(ModelWrapper):
    """Reports every call that is sent, including failed and repeated ones."""

    def __init__(self, model: LanguageModel, on_call: CallListener) -> None:
        super().__init__(model)
        self._on_call = on_call

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        return await _reported(send(), self._on_call, usage=lambda reply: reply.usage)


class CountedEmbedder(EmbedderWrapper):
    """Reports every call that is sent, with its estimated tokens."""

    def __init__(self, embedder: Embedder, on_call: CallListener, *, price_prompt: float = 0.0) -> None:
        super().__init__(embedder)
        self._on_call = on_call
        self._price_prompt = price_prompt

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts and report the call. See `Embedder.embed`."""
        used = estimate_embedding(texts, price_prompt=self._price_prompt)
        return await _reported(self._embedder.embed(texts), self._on_call, usage=lambda _rows: used)


class CountedCache:
    """A call cache that reports every cached reply that is used."""

    def __init__(self, cache: CallCache, on_call: CallListener) -> None:
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


async def _reported(call: Awaitable[T], on_call: CallListener, *, usage: Callable[[T], Usage]) -> T:
    """Await a call and report how it ended; a cancelled call counts as failed."""
    ended = ModelCall(outcome="failed")
    try:
        result = await call
        ended = ModelCall(outcome="answered", usage=usage(result))
    except ModelRateLimitError:
        ended = ModelCall(outcome="limited")
        raise
    finally:
        on_call(ended)
    return result


class DryRunModel:
    """Replaces a language model to count requests without sending any.

    A cached reply comes from the cache. Any other request is counted once and gets the minimal reply that its schema
    allows. Prices are per million tokens.
    """

    def __init__(
        self, model: LanguageModel, cache: CallCache, *, price_prompt: float = 0.0, price_completion: float = 0.0
    ) -> None:
        self._model = model
        self._cache = cache
        self._price_prompt = price_prompt
        self._price_completion = price_completion
        self._counted: set[str] = set()
        self._usage = Usage()

    @property
    def name(self) -> str:
        """The name of the model that it replaces."""
        return self._model.name

    @property
    def usage(self) -> Usage:
        """The estimated usage of the requests so far; requests with a cached reply count as cached."""
        return self._usage

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the cached reply, or the minimal one and its estimated usage."""
        key = request.key(self.name)
        cached = self._cache.get_call(key)
        if cached is not None:
            self._usage += Usage(cached=1)
            return replace(cached, usage=Usage(cached=1))
        estimate = estimate_usage(request, price_prompt=self._price_prompt, price_completion=self._price_completion)
        if key not in self._counted:
            self._counted.add(key)
            self._usage += estimate
        text = "" if request.schema is None else json.dumps(minimal_reply(request.schema))
        return ModelReply(text=text, usage=estimate)
