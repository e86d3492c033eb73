"""The parts of OpenAI's chat completions that are read."""

from pydantic import BaseModel, Field

__all__ = ["ChatCompletion", "ChatMessage", "Choice", "TokenUsage"]


class ChatMessage(BaseModel):
    """The part of a message that is read."""

    content: str | None = None
    refusal: str | None = None


class Choice(BaseModel):
    """The part of a choice that is read."""

    message: ChatMessage
    finish_reason: str | None = None


class TokenUsage(BaseModel):
    """What the server counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class ChatCompletion(BaseModel):
    """The part of a chat completion that is read."""

    choices: list[Choice] = Field(min_length=1)
    usage: TokenUsage | None = None
