"""Base classes of models and embedders that wrap another one."""

from collections.abc import Callable

from pydantic_core import from_json

from paperscope_core.protocols import LanguageModel, StreamingModel
from paperscope_core.types import ModelReply, ModelRequest

__all__ = ["streamed", "text_of_field"]


async def streamed(model: LanguageModel, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
    """The model's reply; `on_text` hears it as `StreamingModel.stream` says, or in one piece."""
    if isinstance(model, StreamingModel):
        return await model.stream(request, on_text)
    reply = await model.complete(request)
    on_text(reply.text)
    return reply


def text_of_field(begun: str, field: str) -> str:
    """What a JSON object that is still being written holds so far under a key, "" where there is no text yet.

    Prose or a fence before the object is passed over; a character that is only half written is left out.
    """
    start = begun.find("{")
    if start < 0:
        return ""
    try:
        # Bytes would be read faster, but a lone surrogate has none.
        value = from_json(begun[start:], allow_partial="trailing-strings")
    except ValueError:
        # What follows the object (a fence, prose), or no JSON at all.
        return ""
    text = value.get(field) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
