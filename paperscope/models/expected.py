"""What a call will take, before it is made."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from paperscope.models.tokens import count_tokens, request_tokens
from paperscope.types import ModelRequest, Usage

__all__ = ["expected_embedding", "expected_usage", "least_reply"]

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
