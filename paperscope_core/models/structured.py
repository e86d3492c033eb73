"""JSON replies: strict schemas, parsing, and one repair."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.usage import MeteredModel
from paperscope_core.models.wrapper import streamed
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage

__all__ = ["ask_json", "outermost_object", "strict_schema"]


SchemaT = TypeVar("SchemaT")

ANNOTATIONS = ("default", "title", "examples", "discriminator")


def strict_schema(adapter: "TypeAdapter[SchemaT]") -> dict[str, object]:
    """The type's schema in the form that strict mode takes.

    Every object names all its properties as required and allows no others; `oneOf` becomes `anyOf`; a `$ref` stands
    alone. Source: OpenAI's guide "Structured outputs", section "Supported schemas". Raises TypeError for a type that
    has no such form: one that isn't an object, or a mapping with free keys.
    """
    schema = adapter.json_schema()
    root = _strict(_at_root(schema))
    if root.get("type") != "object":
        raise TypeError(
            f"a model's reply must be a JSON object, not {schema.get('title', schema)!r}: wrap it in a model"
        )
    return root


def _at_root(schema: dict[str, object]) -> dict[str, object]:
    """The schema with its root spelled out: Pydantic writes that of a recursive type as a `$ref`."""
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not isinstance(definitions, dict):
        return schema
    return {**definitions[reference.removeprefix("#/$defs/")], "$defs": definitions}


def _strict(node: dict[str, object]) -> dict[str, object]:
    if "$ref" in node:
        return {key: _walked(key, value) for key, value in node.items() if key in ("$ref", "$defs")}
    kept = {key: _walked(key, value) for key, value in node.items() if key not in ANNOTATIONS}
    if "oneOf" in kept:
        kept["anyOf"] = kept.pop("oneOf")
    if kept.get("type") == "object":
        properties = kept.get("properties")
        if not isinstance(properties, dict) or isinstance(node.get("additionalProperties"), dict):
            raise TypeError(f"strict mode knows no mapping with free keys: {node.get('title', node)!r}")
        kept |= {"additionalProperties": False, "required": list(properties)}
    return kept


def _walked(key: str, value: object) -> object:
    # Under these two, keys are names of the user's, not words of JSON schema.
    if key in ("properties", "$defs") and isinstance(value, dict):
        return {name: _strict(node) for name, node in value.items()}
    if key in ("enum", "const", "required"):
        return value
    if isinstance(value, dict):
        return _strict(value)
    if isinstance(value, list):
        return [_strict(item) if isinstance(item, dict) else item for item in value]
    return value


T = TypeVar("T")

# A fence starts a line; inside a JSON string there are no line breaks, so a fence found here is never part of a value.
FENCED = re.compile(r"^[ \t]*```[a-zA-Z]*[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
REPAIR = (
    "Your reply does not obey the JSON schema: {problems}.\n"
    "Reply again with the whole JSON object, corrected, and nothing else."
)
QUOTE = 200
_TRIES = 5
_WARMER = 0.2


class _UnusableReplyError(ModelReplyError):
    """A reply came, fresh or kept, and can't be used."""


async def ask_json(
    model: LanguageModel,
    request: ModelRequest,
    validator: "TypeAdapter[T] | type[T]",
    *,
    on_text: Callable[[str], None] | None = None,
    accept: Callable[[T], bool] = lambda _: True,
) -> tuple[T, Usage]:
    """Ask for a JSON object that `validator` accepts; its schema goes with the request.

    `on_text` hears the text of each reply as it grows, where the model can stream (see `StreamingModel`).

    A reply that fails is shown to the model once, with what is wrong. Raises `ModelReplyError` when the second reply
    fails too, or one was cut short. Where a cache has kept such a reply from an earlier run, or one that `accept` turns
    down, the same request would get it for ever: it is asked anew and warmer, a few times. The usage is that of all
    calls made.
    """
    adapter = validator if isinstance(validator, TypeAdapter) else TypeAdapter(validator)
    request = replace(request, schema=strict_schema(adapter))
    metered = MeteredModel(model)
    for number in range(_TRIES):
        before, last = metered.usage.calls, number == _TRIES - 1
        warmer = replace(request, temperature=request.temperature + _WARMER * number)
        try:
            value = await _ask(metered, warmer, adapter, on_text)
        except _UnusableReplyError:
            if last or metered.usage.calls > before:
                raise
        else:
            if last or metered.usage.calls > before or accept(value):
                return value, metered.usage
    raise AssertionError("the last try returns or raises")


async def _ask(
    model: LanguageModel, request: ModelRequest, adapter: "TypeAdapter[T]", on_text: Callable[[str], None] | None
) -> T:
    reply = await _whole(model, request, on_text)
    try:
        return _read(reply.text, adapter)
    except ValueError as error:
        repair = Message(role="user", text=REPAIR.format(problems=_problems(error)))
    wrong = Message(role="assistant", text=reply.text)
    reply = await _whole(model, replace(request, messages=(*request.messages, wrong, repair)), on_text)
    try:
        return _read(reply.text, adapter)
    except ValueError as error:
        raise _UnusableReplyError(
            f"model {model.name!r} twice gave no valid {request.schema_name!r} ({_problems(error)}); "
            f"its reply starts {reply.text[:QUOTE]!r}; a model that follows schemas better may help"
        ) from error


async def _whole(model: LanguageModel, request: ModelRequest, on_text: Callable[[str], None] | None) -> ModelReply:
    """The reply; one that was cut short is not worth a repair, which would be as long."""
    reply = await model.complete(request) if on_text is None else await streamed(model, request, on_text)
    if reply.cut:
        raise _UnusableReplyError(f"model {model.name!r}: the reply was cut at its limit of tokens; allow more")
    return reply


def outermost_object(text: str) -> str:
    """From the first opening to the last closing brace, in the last fenced block where there is one.

    Prose and fences round an object fall away. Raises ValueError where there are no braces; what is between them is
    not checked.
    """
    blocks = [block for block in FENCED.findall(text) if "{" in block]
    inner = blocks[-1] if blocks else text
    start, end = inner.find("{"), inner.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in it")
    return inner[start : end + 1]


def _read(text: str, adapter: "TypeAdapter[T]") -> T:
    return adapter.validate_json(outermost_object(text))


def _problems(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'reply'}: {detail['msg']}" for detail in details[:5])
