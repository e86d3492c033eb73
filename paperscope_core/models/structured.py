"""JSON replies: strict schemas, parsing, and one repair."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.usage import MeteredModel
from paperscope_core.models.wrapper import stream_reply
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.escaping import one_line
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage

__all__ = ["ask_json", "outermost_object", "partial_text", "strict_schema"]

T = TypeVar("T")

_IGNORED_KEYWORDS = ("default", "title", "examples", "discriminator")
# A fence starts a line. JSON strings contain no line breaks, so a fence is never part of a value.
_FENCED_BLOCK = re.compile(r"^[ \t]*```[a-zA-Z]*[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_REPAIR_PROMPT = (
    "Your reply does not obey the JSON schema: {problems}.\n"
    "Reply again with the whole JSON object, corrected, and nothing else."
)
_QUOTED_PROBLEMS = 5
# A request whose cached reply is unusable is repeated at a higher temperature, which gives it another cache key.
_MAX_ATTEMPTS = 5
_TEMPERATURE_STEP = 0.2


class _UnusableReplyError(ModelReplyError):
    """A new or cached reply can't be used."""


async def ask_json(
    model: LanguageModel,
    request: ModelRequest,
    validator: "TypeAdapter[T] | type[T]",
    *,
    on_text: Callable[[str], None] | None = None,
    accept: Callable[[T], bool] = lambda _: True,
) -> tuple[T, Usage]:
    """Ask a language model for a JSON object.

    An invalid reply is sent back to the model once, with what is wrong. If the cache holds an invalid reply from an
    earlier run, or one that `accept` rejects, the request is repeated at a higher temperature, a few times.

    Args:
        model: The model to ask.
        request: The request; its schema is set from `validator`.
        validator: The type of the reply.
        on_text: Called with the text of each reply as it grows, if the model can stream (see `StreamingModel`).
        accept: Whether a cached value is good enough.

    Returns:
        The value, and the usage of all calls made.

    Raises:
        ModelReplyError: The second reply is invalid, too, or a reply was cut off.
        ModelError: As `LanguageModel.complete`.
    """
    adapter = validator if isinstance(validator, TypeAdapter) else TypeAdapter(validator)
    request = replace(request, schema=strict_schema(adapter))
    metered = MeteredModel(model)
    for attempt in range(_MAX_ATTEMPTS):
        calls_before, last = metered.usage.calls, attempt == _MAX_ATTEMPTS - 1
        varied = replace(request, temperature=request.temperature + _TEMPERATURE_STEP * attempt)
        try:
            value = await _ask_with_repair(metered, varied, adapter, on_text)
        except _UnusableReplyError:
            if last or metered.usage.calls > calls_before:
                raise
        else:
            if last or metered.usage.calls > calls_before or accept(value):
                return value, metered.usage
    raise AssertionError("the last attempt returns or raises")


async def _ask_with_repair(
    model: LanguageModel, request: ModelRequest, adapter: "TypeAdapter[T]", on_text: Callable[[str], None] | None
) -> T:
    reply = await _complete_reply(model, request, on_text)
    try:
        return adapter.validate_json(outermost_object(reply.text))
    except ValueError as error:
        repair = Message(role="user", text=_REPAIR_PROMPT.format(problems=_problems(error)))
    invalid = Message(role="assistant", text=reply.text)
    reply = await _complete_reply(model, replace(request, messages=(*request.messages, invalid, repair)), on_text)
    try:
        return adapter.validate_json(outermost_object(reply.text))
    except ValueError as error:
        raise _UnusableReplyError(
            f"model {model.name!r} twice gave no valid {request.schema_name!r} but {model.redacted(reply.text)!r} "
            f"({one_line(model.redacted(_problems(error)))}); a model that follows schemas better may help"
        ) from error


async def _complete_reply(
    model: LanguageModel, request: ModelRequest, on_text: Callable[[str], None] | None
) -> ModelReply:
    reply = await model.complete(request) if on_text is None else await stream_reply(model, request, on_text)
    if reply.cut:
        # A repaired reply would be as long, and therefore cut off, too.
        raise _UnusableReplyError(f"model {model.name!r}: the reply was cut off at its token limit; allow more tokens")
    return reply


def _problems(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    details = error.errors(include_url=False, include_context=False, include_input=False)[:_QUOTED_PROBLEMS]
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'reply'}: {detail['msg']}" for detail in details)


def outermost_object(text: str) -> str:
    """Return the text from the first opening to the last closing brace, inside the last fenced block if one has braces.

    The text between the braces is not checked.

    Raises:
        ValueError: There are no braces.
    """
    blocks = [block for block in _FENCED_BLOCK.findall(text) if "{" in block]
    inner = blocks[-1] if blocks else text
    start, end = inner.find("{"), inner.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in it")
    return inner[start : end + 1]


def partial_text(incomplete: str, field: str) -> str:
    """Return the text under a key of a JSON object that is still being written; "" if there is none yet.

    Prose or a fence before the object is skipped, and so is an incomplete escape at its end.
    """
    start = incomplete.find("{")
    if start < 0:
        return ""
    try:
        # Bytes would be parsed faster, but a lone surrogate can't be encoded.
        value = from_json(incomplete[start:], allow_partial="trailing-strings")
    except ValueError:
        # The object is followed by a fence or prose, or is not JSON.
        return ""
    text = value.get(field) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


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
