"""Language and vision models behind OpenAI's chat completions."""

import base64
import json
from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field

from paperscope_core.errors import ModelRefusedError, ModelReplyError
from paperscope_core.models.endpoint import BadRequestError, Endpoint
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage

__all__ = ["ChatCompletion", "ChatMessage", "Choice", "ChunkReader", "OpenAIChatModel", "TokenUsage"]


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


MILLION = 1_000_000
_PATH = "/chat/completions"


class OpenAIChatModel:
    """A `LanguageModel` and `VisionModel`; prices are per million tokens.

    Servers differ in what they support: where one refuses `response_format`, the schema is put into words; where it
    refuses `temperature` or `max_tokens`, that is left out or named `max_completion_tokens`. What helped is remembered.
    """

    def __init__(self, endpoint: Endpoint, *, price_prompt: float = 0.0, price_completion: float = 0.0) -> None:
        self._endpoint = endpoint
        self._price_prompt = price_prompt
        self._price_completion = price_completion
        self._unsupported: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The model's name as the server knows it."""
        return self._endpoint.model

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One paid call. Raises `ModelError`; a reply that was withheld is an error too."""
        return self._read(await self._ask(request, None))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One paid call, told as it is written; from a server that can't stream it comes in one piece."""
        reply = self._read(await self._ask(request, on_text))
        on_text(reply.text)
        return reply

    def _read(self, completion: ChatCompletion) -> ModelReply:
        choice, used = completion.choices[0], completion.usage or TokenUsage()
        model, where = f"model {self.name!r}", self._endpoint.base_url
        if choice.message.refusal or choice.finish_reason == "content_filter":
            refusal = choice.message.refusal or "content filter"
            raise ModelRefusedError(f"{model} refuses to answer: {refusal!r}", where=where)
        cut = choice.finish_reason == "length"
        if not choice.message.content and not cut:
            raise ModelReplyError(
                f"{model}: a reply without text (finish_reason {choice.finish_reason!r})", where=where
            )
        return ModelReply(text=choice.message.content or "", usage=self._priced(used), cut=cut)

    async def _ask(self, request: ModelRequest, on_text: Callable[[str], None] | None) -> ChatCompletion:
        unsupported = self._unsupported
        streams = on_text is not None
        first: BadRequestError | None = None
        while True:
            try:
                completion = await self._send(request, unsupported, on_text)
            except BadRequestError as error:
                first = first or error
                refused = _refused_feature(error.complaint, _features(request, streams=streams), unsupported)
                if refused is None:
                    raise first from None
                unsupported |= {refused}
            else:
                self._unsupported |= unsupported
                return completion

    async def _send(
        self, request: ModelRequest, unsupported: frozenset[str], on_text: Callable[[str], None] | None
    ) -> ChatCompletion:
        body = _body(request, unsupported)
        if on_text is None or "stream" in unsupported:
            return await self._endpoint.post(_PATH, body, ChatCompletion)
        if "stream_options" not in unsupported:
            body["stream_options"] = {"include_usage": True}
        reader = ChunkReader(on_text)
        whole = await self._endpoint.stream(_PATH, body | {"stream": True}, ChatCompletion, on_chunk=reader.take)
        return whole or reader.completion

    def _priced(self, usage: TokenUsage) -> Usage:
        cost = usage.prompt_tokens * self._price_prompt + usage.completion_tokens * self._price_completion
        return Usage(
            calls=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=cost / MILLION,
        )


def _features(request: ModelRequest, *, streams: bool) -> Sequence[str]:
    """What of a request some servers refuse."""
    features = {
        "response_format": request.schema is not None,
        "temperature": True,
        "max_tokens": request.max_tokens is not None,
        "stream_options": streams,
        "stream": streams,
    }
    return [feature for feature, sent in features.items() if sent]


def _refused_feature(complaint: str, features: Sequence[str], unsupported: frozenset[str]) -> str | None:
    """The feature that a server complains of, or else `response_format`, the likeliest; None if nothing is left."""
    sent = [feature for feature in features if feature not in unsupported]
    named = [feature for feature in sent if feature in complaint]
    return next(iter(named + [feature for feature in sent if feature == "response_format"]), None)


def _body(request: ModelRequest, unsupported: frozenset[str]) -> dict[str, object]:
    messages = [_message(message) for message in request.messages]
    body: dict[str, object] = {"messages": messages}
    if "temperature" not in unsupported:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_completion_tokens" if "max_tokens" in unsupported else "max_tokens"] = request.max_tokens
    if request.schema is not None and "response_format" in unsupported:
        body["messages"] = [*messages[:-1], _message(_with_schema(request))]
    elif request.schema is not None:
        schema = {"name": request.schema_name, "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _with_schema(request: ModelRequest) -> Message:
    """The last message, which also asks for the schema in words."""
    last = request.messages[-1]
    schema = json.dumps(request.schema, ensure_ascii=False)
    text = f"{last.text}\n\nReply with one JSON object and nothing else. It obeys this JSON schema:\n{schema}"
    return Message(role=last.role, text=text, images=last.images)


def _message(message: Message) -> dict[str, object]:
    if not message.images:
        return {"role": message.role, "content": message.text}
    images = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(image).decode()}}
        for image in message.images
    ]
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *images]}
