"""Values instead of text from a language model."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from paperscope.errors import ModelReplyError
from paperscope.models.json_schema import strict_schema
from paperscope.protocols import LanguageModel
from paperscope.types import Message, ModelRequest, Usage

__all__ = ["ask_json", "ask_json_anew", "outermost_object"]

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


async def ask_json(
    model: LanguageModel, request: ModelRequest, validator: "TypeAdapter[T] | type[T]"
) -> tuple[T, Usage]:
    """Ask for a JSON object that `validator` accepts; its schema goes with the request.

    A reply that fails is shown to the model once, with what is wrong. Raises `ModelReplyError` when the second reply
    fails too; its `kept` says whether both came from a cache. The usage is that of all calls made.
    """
    adapter = validator if isinstance(validator, TypeAdapter) else TypeAdapter(validator)
    request = replace(request, schema=strict_schema(adapter))
    reply = await model.complete(request)
    usage = reply.usage
    try:
        return _read(reply.text, adapter), usage
    except ValueError as error:
        repair = Message(role="user", text=REPAIR.format(problems=_problems(error)))
    wrong = Message(role="assistant", text=reply.text)
    reply = await model.complete(replace(request, messages=(*request.messages, wrong, repair)))
    usage += reply.usage
    try:
        return _read(reply.text, adapter), usage
    except ValueError as error:
        raise ModelReplyError(
            f"model {model.name!r} twice gave no valid {request.schema_name!r} ({_problems(error)}); "
            f"its reply starts {reply.text[:QUOTE]!r}; a model that follows schemas better may help",
            kept=usage.calls == 0,
        ) from error


async def ask_json_anew(
    model: LanguageModel,
    request: ModelRequest,
    validator: "TypeAdapter[T] | type[T]",
    *,
    accept: Callable[[T], bool] = lambda _: True,
) -> tuple[T, Usage]:
    """`ask_json`, and where a cache has kept a reply that is broken, or that `accept` turns down, again and warmer.

    So what failed in an earlier run is asked for in another way, but not for ever. A fresh reply, and the last, are
    returned without `accept`.
    """
    for number in range(_TRIES):
        last = number == _TRIES - 1
        try:
            value, usage = await ask_json(model, replace(request, temperature=_WARMER * number), validator)
        except ModelReplyError as error:
            if last or not error.kept:
                raise
        else:
            if last or usage.calls or accept(value):
                return value, usage
    raise AssertionError("the last try returns or raises")


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
