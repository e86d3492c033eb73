"""Chat completions that come in pieces, put together again."""

from collections.abc import Callable

from pydantic import BaseModel

from paperscope.models.openai_completion import ChatCompletion, ChatMessage, Choice, TokenUsage

__all__ = ["ChunkReader"]


class _Delta(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _ChunkChoice(BaseModel):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    """The part of a chunk that is read; the last one may hold no choice but the usage."""

    choices: list[_ChunkChoice] = []
    usage: TokenUsage | None = None


class ChunkReader:
    """Takes the chunks of one completion; `on_text` hears the text so far."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._text = self._refusal = ""
        self._finish: str | None = None
        self._usage: TokenUsage | None = None

    def take(self, data: object) -> None:
        """Read one chunk, as decoded JSON; raises ValueError where it is none."""
        chunk = _Chunk.model_validate(data)
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices[:1]:
            self._finish = choice.finish_reason or self._finish
            self._refusal += choice.delta.refusal or ""
            if choice.delta.content:
                self._text += choice.delta.content
                self._on_text(self._text)

    @property
    def completion(self) -> ChatCompletion:
        """What the chunks so far say together."""
        message = ChatMessage(content=self._text or None, refusal=self._refusal or None)
        return ChatCompletion(choices=[Choice(message=message, finish_reason=self._finish)], usage=self._usage)
