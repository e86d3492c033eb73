"""Measures the usage of model calls, and estimates it in advance."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from paperscope_core.models.token_counting import count_tokens, request_tokens
from paperscope_core.models.wrapper import ModelWrapper, SendRequest, reply_key
from paperscope_core.protocols import CallCache, LanguageModel
from paperscope_core.types import ModelCall, ModelReply, ModelRequest, Prices, Usage

__all__ = [
    "CallListener",
    "DryRunModel",
    "MeteredModel",
    "estimate_embedding",
    "estimate_usage",
    "minimal_reply",
]

CallListener = Callable[[ModelCall], None]
"""Called on any thread with each call as it ends."""

# Reply tokens per token of the request's text, by schema name. Entities: the mean of careful replies to a paper's
# calls, which range from 0.7 to 2.1. Verdicts on names and summaries: what the prompts ask for, 40 tokens for a pair of
# 100 tokens and 80 for sentences of 550.
_REPLY_SHARES: Mapping[str, float] = MappingProxyType({"entities": 1.2, "same_names": 0.4, "summaries": 0.15})
# Tokens of any other reply. The length of an image's description can't be predicted: it ranges from 70 tokens for an
# equation to 970 for a large table.
_REPLY_TOKENS = 300
_FILLER_SENTENCE = "There is nothing that could be said of this before the model is asked."

Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


def estimate_usage(request: ModelRequest, prices: Prices) -> Usage:
    """Estimate the usage of one call from its tokens and the mean reply to calls of its kind."""
    completion = _REPLY_TOKENS
    user_messages = [message for message in request.messages if message.role == "user"]
    if request.schema_name in _REPLY_SHARES and len(user_messages) == 1:
        completion = round(_REPLY_SHARES[request.schema_name] * count_tokens(user_messages[0].text))
    return prices.usage(prompt_tokens=request_tokens(request), completion_tokens=completion)


def estimate_embedding(texts: Sequence[str], prices: Prices) -> Usage:
    """Estimate the usage of one call that embeds these texts."""
    return prices.usage(prompt_tokens=sum(map(count_tokens, texts)))


def minimal_reply(schema: Mapping[str, object]) -> Json:
    """Return the smallest value that matches a strict JSON schema: lists are empty, texts are a sentence without
    content."""
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
    """Sums the usage of all replies of a language model in `usage`, cached ones included."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.usage = Usage()

    async def _call(self, _request: ModelRequest, send: SendRequest, /) -> ModelReply:
        reply = await send()
        self.usage += reply.usage
        return reply


class DryRunModel(ModelWrapper):
    """Replaces a language model to count requests without sending any.

    A cached reply comes from the cache. Any other request is counted once and gets the minimal reply that its schema
    allows, with its estimated usage. `usage` is the sum; requests with a cached reply count as cached.
    """

    def __init__(self, model: LanguageModel, cache: CallCache, *, prices: Prices = Prices()) -> None:
        super().__init__(model)
        self.usage = Usage()
        self._cache = cache
        self._prices = prices
        self._counted: set[str] = set()

    async def _call(self, request: ModelRequest, _send: SendRequest, /) -> ModelReply:
        key = reply_key(self, request)
        cached = self._cache.get_call(key)
        if cached is not None:
            self.usage += Usage(cached=1)
            return replace(cached, usage=Usage(cached=1))
        estimate = estimate_usage(request, self._prices)
        if key not in self._counted:
            self._counted.add(key)
            self.usage += estimate
        text = "" if request.schema is None else json.dumps(minimal_reply(request.schema))
        return ModelReply(text=text, usage=estimate)
