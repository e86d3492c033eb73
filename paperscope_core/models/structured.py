"""JSON replies: strict schemas, and one repair."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.reply_reading import read_reply, readable_text
from paperscope_core.models.usage import MeteredModel
from paperscope_core.models.wrapper import stream_reply
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.escaping import one_line
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage

__all__ = ["PlainReply", "ask_json", "strict_schema"]

T = TypeVar("T")

_IGNORED_KEYWORDS = ("default", "title", "examples", "discriminator")
_REPAIR_PROMPT = (
    "Your reply does not obey the JSON schema: {problems}.\n"
    "Reply again with the whole JSON object, corrected, and nothing else. This is the schema:\n{schema}"
)
_QUOTED_PROBLEMS = 5
_NO_JSON = "is not the JSON object that it was asked for"
_CUT = "was cut off at its token limit"
# A request whose cached reply is unusable is repeated at a higher temperature, which gives it another cache key.
_MAX_ATTEMPTS = 5
_TEMPERATURE_STEP = 0.2


PlainReply = Callable[[str, str], T]
"""Makes a value of the readable text of a reply, and of what is wrong with it ("was cut off at its token limit").

Raises ValueError if the text is no such value either.
"""


class _UnusableReplyError(ModelReplyError):
    """A new or cached reply can't be used."""


async def ask_json(
    model: LanguageModel,
    request: ModelRequest,
    validator: "TypeAdapter[T] | type[T]",
    *,
    on_text: Callable[[str], None] | None = None,
    accept: Callable[[T], bool] = lambda _: True,
    otherwise: PlainReply[T] | None = None,
) -> tuple[T, Usage]:
    """Ask a language model for a JSON object.

    Replies are read tolerantly (see `read_reply`). An invalid one is sent back to the model once, with what is wrong.
    If the cache holds an invalid reply from an earlier run, or one that `accept` rejects, the request is repeated at a
    higher temperature, a few times.

    Args:
        request: The request; its schema is set from `validator`.
        validator: The type of the reply.
        on_text: Called with the text of each reply as it grows, if the model can stream (see `StreamingModel`).
        accept: Whether a cached value is good enough.
        otherwise: Makes a value of the text of replies that can't be read as JSON, in place of an error.

    Returns:
        The value, and the usage of all calls made.

    Raises:
        ModelReplyError: The second reply is invalid, too, or a reply was cut off; and there is no text, or no
            `otherwise`.
        ModelError: As `LanguageModel.complete`.
    """
    adapter = validator if isinstance(validator, TypeAdapter) else TypeAdapter(validator)
    request = replace(request, schema=strict_schema(adapter))
    metered = MeteredModel(model)
    for attempt in range(_MAX_ATTEMPTS):
        calls_before, last = metered.usage.calls, attempt == _MAX_ATTEMPTS - 1
        varied = replace(request, temperature=request.temperature + _TEMPERATURE_STEP * attempt)
        try:
            value = await _ask_with_repair(metered, varied, adapter, on_text, otherwise)
        except _UnusableReplyError:
            if last or metered.usage.calls > calls_before:
                raise
        else:
            if last or metered.usage.calls > calls_before or accept(value):
                return value, metered.usage
    raise AssertionError("the last attempt returns or raises")


async def _ask_with_repair(
    model: LanguageModel,
    request: ModelRequest,
    adapter: "TypeAdapter[T]",
    on_text: Callable[[str], None] | None,
    otherwise: PlainReply[T] | None,
) -> T:
    schema = request.schema or {}
    replies: list[ModelReply] = []
    messages = request.messages
    while True:
        asked = replace(request, messages=messages)
        reply = await (model.complete(asked) if on_text is None else stream_reply(model, asked, on_text))
        replies.append(reply)
        try:
            return read_reply(reply.text, adapter, schema)
        except ValueError as error:
            problems, cause = _problems(error), error
        # A repaired reply would be as long as one that was cut off, and be cut off, too.
        if reply.cut or len(replies) == 2:
            break
        repair = _REPAIR_PROMPT.format(problems=problems, schema=json.dumps(schema, ensure_ascii=False))
        messages += (Message(role="assistant", text=reply.text), Message(role="user", text=repair))
    for one in reversed(replies):
        text = readable_text(one.text, schema) if otherwise else ""
        if otherwise and text:
            with suppress(ValueError):
                return otherwise(text, _CUT if one.cut else _NO_JSON)
    if reply.cut:
        said = "cut off at its token limit" if reply.text else "cut off at its token limit before it began"
        raise _UnusableReplyError(f"model {model.name!r}: the reply was {said}; allow more tokens") from cause
    raise _UnusableReplyError(
        f"model {model.name!r} twice gave no valid {request.schema_name!r} but {model.redacted(reply.text)!r} "
        f"({one_line(model.redacted(problems))}); a model that follows schemas better may help"
    ) from cause


def _problems(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    details = error.errors(include_url=False, include_context=False, include_input=False)[:_QUOTED_PROBLEMS]
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'reply'}: {detail['msg']}" for detail in details)


@lru_cache(maxsize=8)
def strict_schema(adapter: "TypeAdapter[T]") -> dict[str, object]:
    """Return the JSON schema of a type in the form that servers enforce during generation ("strict mode").

    Every object requires all its properties and allows no others, `oneOf` becomes `anyOf`, and a `$ref` has no
    siblings. Source: OpenAI's guide "Structured outputs", section "Supported schemas".

    Raises:
        TypeError: The type has no such schema: it is not an object, or is a mapping with arbitrary keys.
    """
    schema = adapter.json_schema()
    root = _strict(_with_root_resolved(schema))
    if root.get("type") != "object":
        raise TypeError(
            f"a model's reply must be a JSON object, not {schema.get('title', schema)!r}: wrap it in a model"
        )
    return root


def _with_root_resolved(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema without a `$ref` at its root, which Pydantic writes for a recursive type."""
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not isinstance(definitions, dict):
        return schema
    return {**definitions[reference.removeprefix("#/$defs/")], "$defs": definitions}


def _strict(node: dict[str, object]) -> dict[str, object]:
    if "$ref" in node:
        return {key: _strict_value(key, value) for key, value in node.items() if key in ("$ref", "$defs")}
    kept = {key: _strict_value(key, value) for key, value in node.items() if key not in _IGNORED_KEYWORDS}
    if "oneOf" in kept:
        kept["anyOf"] = kept.pop("oneOf")
    if kept.get("type") == "object":
        properties = kept.get("properties")
        if not isinstance(properties, dict) or isinstance(node.get("additionalProperties"), dict):
            raise TypeError(f"strict mode allows no mapping with arbitrary keys: {node.get('title', node)!r}")
        kept |= {"additionalProperties": False, "required": list(properties)}
    return kept


def _strict_value(key: str, value: object) -> object:
    # The keys of these two are names of fields and types, not JSON Schema keywords.
    if key in ("properties", "$defs") and isinstance(value, dict):
        return {name: _strict(node) for name, node in value.items()}
    if key in ("enum", "const", "required"):
        return value
    if isinstance(value, dict):
        return _strict(value)
    if isinstance(value, list):
        return [_strict(item) if isinstance(item, dict) else item for item in value]
    return value
