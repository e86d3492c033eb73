"""OpenAI's chat completions: the supported fields of a request, and the form of a reply.

https://platform.openai.com/docs/api-reference/chat
"""

import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, field_validator

from paperscope_core.text.escaping import is_encodable, markdown_line, markdown_text, read_markdown_text
from paperscope_core.types import MAX_QUESTION_LENGTH, Answer, AskRequest, Evidence, Filters, Turn, Usage
from service.http.problems import ProblemError
from service.page_links import viewer_path

__all__ = [
    "ALL_PAPERS",
    "ChatBody",
    "ChatChunk",
    "ChatCompletion",
    "Model",
    "Models",
    "Reply",
    "answer_chunks",
    "read_reply",
    "unknown_model",
]

ALL_PAPERS = "paperscope"
"""The id of the model that asks all papers."""

# Older turns do not help to interpret a question.
_MAX_TURNS = 20
_MAX_REPLY_LENGTH = 50_000
# Values of `tool_choice` with which a model may call no tool.
_NO_TOOL = (None, "auto", "none")
_SOURCES_HEADING, _NOTES_HEADING = "\n\nSources:\n", "\n\nNotes:\n"
_APPENDED = re.compile(r"\n\n(?:Sources|Notes):\n(?:\d+\.|-) .*\Z", re.DOTALL)
_CITED_PAPER = re.compile(r"^\d+\. .*\(paper ([0-9a-f]{12})\)$", re.MULTILINE)


class Part(BaseModel):
    """A part of a message's content; only text is read."""

    type: str
    text: str = ""


def _parts(content: str | list[Part] | None) -> list[Part]:
    return content if isinstance(content, list) else [Part(type="text", text=content or "")]


class ChatMessage(BaseModel):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @field_validator("content")
    @classmethod
    def _refuse_surrogates(cls, content: str | list[Part] | None) -> str | list[Part] | None:
        # Within a union, Pydantic admits lone surrogates, which can't be encoded.
        texts = [text for part in _parts(content) for text in (part.type, part.text)]
        if not all(map(is_encodable, texts)):
            raise ValueError("holds half of a character (a lone surrogate)")
        return content

    @property
    def text(self) -> str:
        """The text of all its parts."""
        return "\n".join(part.text for part in _parts(self.content) if part.type == "text")


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: StrictBool | None = None


class Format(BaseModel):
    """The requested format of the reply."""

    type: str = "text"


class ChatBody(BaseModel):
    """A request for a completion; other fields are ignored."""

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
        """Whether the last chunk of a stream has the usage."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)

    @property
    def asked(self) -> AskRequest:
        """The last message of the user, with the ones before as history. Raises ProblemError if it can't be served."""
        self._refuse_unsupported()
        last = max((at for at, message in enumerate(self.messages) if message.role == "user"), default=None)
        if last is None:
            raise ProblemError(400, "no-question", "The messages hold none of role 'user'; its text is the question.")
        question, history = _question(self.messages[last]), _turns(self.messages[:last])
        return AskRequest(question=question, filters=self._filters, history=history)

    @property
    def _filters(self) -> Filters:
        name, _, paper = self.model.partition("/")
        if name != ALL_PAPERS or (not paper and name != self.model):
            raise unknown_model(self.model)
        return Filters(papers=(paper,) if paper else ())

    def _refuse_unsupported(self) -> None:
        if (self.n or 1) != 1:
            raise ProblemError(400, "unsupported", f"n={self.n}: there is one answer to a question; leave n out")
        if self.tool_choice not in _NO_TOOL or self.function_call not in _NO_TOOL:
            detail = "no tool is ever called: an answer is based on papers alone; leave tool_choice out"
            raise ProblemError(400, "unsupported", detail)
        if self.response_format is not None and self.response_format.type != "text":
            detail = "an answer is text; leave response_format out and take its JSON from `paperscope`"
            raise ProblemError(400, "unsupported", detail)


def unknown_model(name: str) -> ProblemError:
    """Return the problem of a model that doesn't exist."""
    detail = f"There is no model {name!r}; take {ALL_PAPERS!r}, or {ALL_PAPERS + '/PAPERID'!r} for one paper."
    return ProblemError(404, "model-not-found", detail)


def _question(message: ChatMessage) -> str:
    if types := [part.type for part in _parts(message.content) if part.type != "text"]:
        detail = f"The message holds {', '.join(types)}; a question is text only. Images of papers are read."
        raise ProblemError(400, "unsupported-content", detail)
    text = message.text.strip()
    if not text:
        raise ProblemError(400, "no-question", "The last message of role 'user' is empty; its text is the question.")
    if len(text) > MAX_QUESTION_LENGTH:
        detail = f"The last message has {len(text)} characters; a question has at most {MAX_QUESTION_LENGTH}."
        raise ProblemError(400, "question-too-long", detail)
    return text


def _turns(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return the last turns of a conversation; messages of roles other than user and assistant are ignored."""
    turns: list[Turn] = []
    for message in messages:
        if message.role == "user":
            turns.append(Turn(question=message.text[:MAX_QUESTION_LENGTH]))
        elif message.role == "assistant" and turns:
            turns[-1] = read_reply(turns[-1], message.text[:_MAX_REPLY_LENGTH])
    return tuple(turns[-_MAX_TURNS:])


class UrlCitation(BaseModel):
    """A cited place: where the content lists it, and the address at which the web page shows it."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(BaseModel):
    """A citation in the form of OpenAI's web search."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class Reply(BaseModel):
    """The text of an answer for chat front ends, with its citations."""

    content: str
    annotations: list[Annotation]

    @classmethod
    def of(cls, answer: Answer, *, service: str) -> "Reply":
        """Return the reply to a question asked at the service's address, without its final slash."""
        content = _text(answer)
        end = content.rfind(_SOURCES_HEADING)
        annotations: list[Annotation] = []
        for line, evidence in _sources(answer).items():
            start = content.index(line, end)
            end = start + len(line)
            # Front ends show titles as Markdown, too.
            title, url = markdown_line(str(evidence)), service + viewer_path(evidence)
            citation = UrlCitation(start_index=start, end_index=end, title=title, url=url)
            annotations.append(Annotation(url_citation=citation))
        return cls(content=content, annotations=annotations)


class Message(BaseModel):
    """The reply as a message."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class Choice(BaseModel):
    """The only choice of a completion."""

    index: Literal[0] = 0
    message: Message
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class TokenUsage(BaseModel):
    """The tokens of model calls; 0 if no model was called, or the reply was cached."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "TokenUsage":
        """Return the tokens of an answer."""
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        return cls(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


class Head(BaseModel):
    """The common fields of a completion and its chunks."""

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
    def of(cls, answer: Answer, *, reply: Reply, model: str) -> "ChatCompletion":
        """Return the completion of an answer."""
        choices = [Choice(message=Message(content=reply.content, annotations=reply.annotations))]
        return cls(model=model, choices=choices, usage=TokenUsage.of(answer.usage), paperscope=answer)


class ChunkChoice(BaseModel):
    """What a chunk adds to the reply: `role`, `content` with `annotations`, or nothing."""

    index: Literal[0] = 0
    delta: Mapping[str, str | list[Annotation]]
    finish_reason: Literal["stop"] | None = None


class ChatChunk(Head):
    """A chunk of a streamed completion; the one that ends the text has the whole answer."""

    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    choices: list[ChunkChoice] = []
    usage: TokenUsage | None = None
    paperscope: Answer | None = None

    def with_delta(self, **delta: str | list[Annotation]) -> "ChatChunk":
        """Return a chunk that adds to the reply."""
        return self.model_copy(update={"choices": [ChunkChoice(delta=delta)]})


def answer_chunks(chunk: ChatChunk, answer: Answer, *, reply: Reply, usage: bool) -> Iterator[ChatChunk]:
    """Yield the chunks of an answer after the first: the whole text, the answer that ends it, and its `usage`."""
    yield chunk.with_delta(content=reply.content, annotations=reply.annotations)
    end = [ChunkChoice(delta={}, finish_reason="stop")]
    yield chunk.model_copy(update={"choices": end, "paperscope": answer})
    if usage:
        yield chunk.model_copy(update={"usage": TokenUsage.of(answer.usage)})


class Model(BaseModel):
    """A model as OpenAI's clients list it; front ends show its `name`."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["paperscope"] = "paperscope"
    name: str


class Models(BaseModel):
    """All models."""

    object: Literal["list"] = "list"
    data: list[Model]


def _text(answer: Answer) -> str:
    """Return the answer's text, followed by lists of its sources and its findings, if any.

    Chat front ends render it as Markdown, so text of papers and models is escaped: an image could leak the question by
    its address.

    Args:
        titles: The titles of the cited papers by id.
    """
    text = markdown_text(answer.text)
    sources = _sources(answer)
    if sources:
        text += _SOURCES_HEADING + "\n".join(f"{number}. {source}" for number, source in enumerate(sources, start=1))
    if answer.findings:
        text += _NOTES_HEADING + "\n".join(f"- {markdown_line(str(finding))}" for finding in answer.findings)
    return text


def read_reply(turn: Turn, text: str) -> Turn:
    """Return the turn with its answer and cited papers from a reply that `Reply` wrote, or any other text."""
    appended = _APPENDED.search(text)
    papers = _CITED_PAPER.findall(appended[0]) if appended else []
    answer = text[: appended.start()] if appended else text
    return replace(turn, answer=read_markdown_text(answer), papers=tuple(dict.fromkeys(papers)))


def _sources(answer: Answer) -> dict[str, Evidence]:
    """Return the evidence by its line in the list of sources: the name of what is cited, and the id of its paper."""
    lines: dict[str, Evidence] = {}
    for one in answer.evidence:
        lines.setdefault(f"{markdown_line(str(one))} (paper {one.place.paper})", one)
    return lines
