"""The part of a request for a chat completion that is read here.

https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, field_validator

from paperscope.types import Filters, Turn
from service.http.asking import LONGEST_QUESTION, Asked
from service.http.chat.text import read_reply
from service.http.problems import ProblemError

__all__ = ["ALL_PAPERS", "ChatBody", "unknown_model"]

ALL_PAPERS = "paperscope"
"""The id of the model that asks all papers."""

_TURNS = 20
_LONGEST_REPLY = 50_000
# Choices of a tool that let a model call none.
_NO_TOOL = (None, "auto", "none")


class Part(BaseModel):
    """A part of a message's content; only text is read."""

    type: str
    text: str = ""


class ChatMessage(BaseModel):
    """What somebody said."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @field_validator("content")
    @classmethod
    def _whole(cls, content: str | list[Part] | None) -> str | list[Part] | None:
        # In a union, Pydantic lets half characters (lone surrogates) in, which nothing here can encode.
        parts = content if isinstance(content, list) else [Part(type="text", text=content or "")]
        texts = [text for part in parts for text in (part.type, part.text)]
        if any("\ud800" <= letter <= "\udfff" for text in texts for letter in text):
            raise ValueError("holds half of a character (a lone surrogate)")
        return content

    @property
    def text(self) -> str:
        """All that was said in words."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""

    @property
    def others(self) -> Sequence[str]:
        """The types of the parts that are no text."""
        return [part.type for part in self.content if part.type != "text"] if isinstance(self.content, list) else []


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: StrictBool | None = None


class Format(BaseModel):
    """The form that a reply shall have."""

    type: str = "text"


class ChatBody(BaseModel):
    """A request for a completion; fields that are not named here are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "model": ALL_PAPERS,
                "messages": [
                    {"role": "user", "content": "What LoRA rank and alpha were used to fine-tune Qwen2.5-7B?"}
                ],
            }
        }
    )

    model: Annotated[str, Field(min_length=1, max_length=1000)] = ALL_PAPERS
    messages: list[ChatMessage] = Field(min_length=1, max_length=2000)
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: StrictInt | None = None
    tool_choice: str | dict[str, object] | None = None
    function_call: str | dict[str, object] | None = None
    response_format: Format | None = None

    @property
    def includes_usage(self) -> bool:
        """Whether a stream ends by telling what was used."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)

    @property
    def asked(self) -> Asked:
        """The question that the request asks. Raises ProblemError where it can't be served."""
        self._check()
        last = max((at for at, message in enumerate(self.messages) if message.role == "user"), default=None)
        if last is None:
            raise ProblemError(400, "no-question", "The messages hold none of role 'user'; its text is the question.")
        return Asked(
            question=_question(self.messages[last]), filters=self._filters, history=_turns(self.messages[:last])
        )

    @property
    def _filters(self) -> Filters:
        name, _, paper = self.model.partition("/")
        if name != ALL_PAPERS or (not paper and name != self.model):
            raise unknown_model(self.model)
        return Filters(papers=(paper,) if paper else ())

    def _check(self) -> None:
        asked_for = {
            "n": f"n={self.n}: there is one answer to a question; leave n out" if (self.n or 1) != 1 else "",
            "tools": "no tool is ever called: an answer rests on papers alone; leave tool_choice out"
            if self.tool_choice not in _NO_TOOL or self.function_call not in _NO_TOOL
            else "",
            "response_format": "an answer is text; leave response_format out and take its JSON from `paperscope`"
            if self.response_format is not None and self.response_format.type != "text"
            else "",
        }
        refused = next(filter(None, asked_for.values()), "")
        if refused:
            raise ProblemError(400, "unsupported", refused)


def unknown_model(name: str) -> ProblemError:
    """What to say of a model that there isn't."""
    detail = f"There is no model {name!r}; take {ALL_PAPERS!r}, or {ALL_PAPERS + '/PAPERID'!r} for one paper."
    return ProblemError(404, "model-not-found", detail)


def _question(message: ChatMessage) -> str:
    if message.others:
        detail = f"The message holds {', '.join(message.others)}; only text can be asked. Pictures of papers are read."
        raise ProblemError(400, "unsupported-content", detail)
    text = message.text.strip()
    if not text:
        raise ProblemError(400, "no-question", "The last message of role 'user' is empty; its text is the question.")
    if len(text) > LONGEST_QUESTION:
        detail = (
            f"The last message has {len(text)} characters; the most that can be asked at once is {LONGEST_QUESTION}."
        )
        raise ProblemError(400, "question-too-long", detail)
    return text


def _turns(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """The last turns of a conversation; what was said by anybody else is not heard."""
    turns: list[Turn] = []
    for message in messages:
        if message.role == "user":
            turns.append(Turn(question=message.text[:LONGEST_QUESTION]))
        elif message.role == "assistant" and turns:
            turns[-1] = read_reply(turns[-1], message.text[:_LONGEST_REPLY])
    return tuple(turns[-_TURNS:])
