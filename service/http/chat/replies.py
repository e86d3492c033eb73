"""Completions, their chunks and the list of models, as OpenAI's clients read them.

https://platform.openai.com/docs/api-reference/chat/object
"""

import secrets
import time
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from paperscope.types import Answer, Usage

__all__ = ["ChatChunk", "ChatCompletion", "Model", "Models"]


class Message(BaseModel):
    """The reply."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    """The one choice of a completion."""

    index: Literal[0] = 0
    message: Message
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class TokenUsage(BaseModel):
    """The tokens that models took; none where no model was asked, or a reply was kept from before."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "TokenUsage":
        """What an answer took."""
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        return cls(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


class Head(BaseModel):
    """What a completion and its chunks have in common."""

    id: str = Field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = Field(default_factory=lambda: int(time.time()), description="seconds since the epoch")
    model: str


class ChatCompletion(Head):
    """A completion; `paperscope` is the whole answer."""

    object: Literal["chat.completion"] = "chat.completion"
    choices: list[Choice]
    usage: TokenUsage
    paperscope: Answer

    @classmethod
    def of(cls, answer: Answer, *, content: str, model: str) -> "ChatCompletion":
        """The completion of an answer."""
        choices = [Choice(message=Message(content=content))]
        return cls(model=model, choices=choices, usage=TokenUsage.of(answer.usage), paperscope=answer)


class ChunkChoice(BaseModel):
    """What a chunk adds to the reply: `role`, `content`, or nothing."""

    index: Literal[0] = 0
    delta: Mapping[str, str]
    finish_reason: Literal["stop"] | None = None


class ChatChunk(Head):
    """A piece of a streamed completion; the one that ends the text has the whole answer."""

    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    choices: list[ChunkChoice] = []
    usage: TokenUsage | None = None
    paperscope: Answer | None = None

    def begun(self) -> "ChatChunk":
        """The chunk that begins the reply."""
        return self._with({"role": "assistant", "content": ""})

    def told(self, content: str) -> "ChatChunk":
        """The chunk with (more of) the reply's content."""
        return self._with({"content": content})

    def ended(self, answer: Answer) -> "ChatChunk":
        """The chunk that ends the reply."""
        choices = [ChunkChoice(delta={}, finish_reason="stop")]
        return self.model_copy(update={"choices": choices, "paperscope": answer})

    def used(self, usage: Usage) -> "ChatChunk":
        """The chunk that tells what the answer took."""
        return self.model_copy(update={"usage": TokenUsage.of(usage)})

    def _with(self, delta: Mapping[str, str]) -> "ChatChunk":
        return self.model_copy(update={"choices": [ChunkChoice(delta=delta)]})


class Model(BaseModel):
    """What can be asked, as OpenAI's clients list it; `name` is what front ends show."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["paperscope"] = "paperscope"
    name: str


class Models(BaseModel):
    """All that can be asked."""

    object: Literal["list"] = "list"
    data: list[Model]
