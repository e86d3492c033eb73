"""Language and vision models behind OpenAI's chat completions."""

import base64
import json
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Annotated

from pydantic import BaseModel, Field

from paperscope_core.errors import ModelRefusedError, ModelReplyError
from paperscope_core.models.endpoint import BadRequestError, Endpoint
from paperscope_core.types import Message, ModelReply, ModelRequest, Prices

__all__ = ["OpenAIChatModel"]

_PATH = "/chat/completions"
# The whole text is read whenever it is passed on. Unless it grows by this part in between, that is quadratic.
_STEPS = 200
# Other numbers are no tokens: they would make a cost negative or infinite.
_Tokens = Annotated[int, Field(ge=0, le=10**9)]


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _TokenUsage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class ChatCompletion(BaseModel):
    """The fields of a chat completion that are read. Errors quote its name."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _TokenUsage | None = None


class _ChunkChoice(BaseModel):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    """The fields of a streamed chunk that are read; the last one may have usage and no choices."""

    choices: list[_ChunkChoice] = []
    usage: _TokenUsage | None = None


class _ChunkReader:
    """Joins the chunks of one completion, and calls `on_text` with the text so far, whenever it is longer by a part."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._text, self._refusal = StringIO(), StringIO()
        self._length = self._passed_on = 0
        self._finish_reason: str | None = None
        self._usage: _TokenUsage | None = None

    def add(self, data: object) -> None:
        """Add one chunk, as decoded JSON. Raise ValueError if it is not a chunk."""
        chunk = _Chunk.model_validate(data)
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            self._refusal.write(choice.delta.refusal or "")
            self._length += self._text.write(choice.delta.content or "")
            if self._length - self._passed_on > self._length // _STEPS:
                self._passed_on = self._length
                self._on_text(self._text.getvalue())

    @property
    def completion(self) -> ChatCompletion:
        """The completion assembled from the chunks so far."""
        message = _Message(content=self._text.getvalue() or None, refusal=self._refusal.getvalue() or None)
        return ChatCompletion(choices=[_Choice(message=message, finish_reason=self._finish_reason)], usage=self._usage)


class OpenAIChatModel:
    """A `StreamingModel` behind OpenAI's chat completions.

    Servers differ in what they support. If one rejects `response_format`, the schema is put into the prompt; if it
    rejects `temperature` or streaming, they are left out; if it rejects `max_tokens`, `max_completion_tokens` is sent
    instead. Later requests leave out the rejected features from the start.

    Args:
        endpoint: The model and its server.
        prices: The model's prices.
    """

    def __init__(self, endpoint: Endpoint, *, prices: Prices = Prices()) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        self._prices = prices
        self._unsupported: frozenset[str] = frozenset()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Send one request. See `LanguageModel.complete`; a withheld reply is a ModelRefusedError."""
        return self._read(await self._ask(request, None))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Send one request and pass on its reply while it is written. See `StreamingModel.stream`."""
        reply = self._read(await self._ask(request, on_text))
        on_text(reply.text)
        return reply

    def redacted(self, text: str) -> str:
        """Return the start of a text, for messages. See `LanguageModel.redacted`."""
        return self._endpoint.redacted(text)

    def _read(self, completion: ChatCompletion) -> ModelReply:
        choice, used = completion.choices[0], completion.usage or _TokenUsage()
        model, where = f"model {self.name!r}", self._endpoint.base_url
        if choice.message.refusal or choice.finish_reason == "content_filter":
            refusal = self._endpoint.redacted(choice.message.refusal or "content filter")
            raise ModelRefusedError(f"{model} refuses to answer: {refusal!r}", where=where)
        cut = choice.finish_reason == "length"
        if not choice.message.content and not cut:
            reason = self._endpoint.redacted(choice.finish_reason or "")
            raise ModelReplyError(f"{model}: a reply without text (finish_reason {reason!r})", where=where)
        usage = self._prices.usage(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)
        return ModelReply(text=choice.message.content or "", usage=usage, cut=cut)

    async def _ask(self, request: ModelRequest, on_text: Callable[[str], None] | None) -> ChatCompletion:
        """Send a request, and again without each feature that the server rejects."""
        unsupported = self._unsupported
        first: BadRequestError | None = None
        while True:
            try:
                completion = await self._send(request, unsupported, on_text)
            except BadRequestError as error:
                first = first or error
                sent = [one for one in _features(request, streams=on_text is not None) if one not in unsupported]
                rejected = _rejected_feature(error.complaint, sent)
                if rejected is None:
                    raise first from None
                unsupported |= {rejected}
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
        reader = _ChunkReader(on_text)
        whole = await self._endpoint.stream(_PATH, body | {"stream": True}, ChatCompletion, on_chunk=reader.add)
        return whole or reader.completion


def _features(request: ModelRequest, *, streams: bool) -> Sequence[str]:
    """Return the fields of a request that some servers reject; a name precedes those that are part of it."""
    features = {
        "response_format": request.schema is not None,
        "temperature": True,
        "max_tokens": request.max_tokens is not None,
        "stream_options": streams,
        "stream": streams,
    }
    return [feature for feature, sent in features.items() if sent]


def _rejected_feature(complaint: str, sent: Sequence[str]) -> str | None:
    """Return the feature that a server's error names, or else `response_format`, the likeliest; None if that was not
    sent."""
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
    """Return the last message with the schema added to its text."""
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
