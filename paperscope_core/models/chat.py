"""Language and vision models behind OpenAI's chat completions."""

import base64
import json
import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from io import StringIO
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from paperscope_core.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError, TooManyImagesError
from paperscope_core.models.endpoint import BadRequestError, Endpoint
from paperscope_core.models.server_habits import habits_of, image_limit, rejected_feature
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Message, ModelReply, ModelRequest, Prices

__all__ = ["OpenAIChatModel"]

_PATH = "/chat/completions"
_TEXTS = ("text", "output_text")
# Ollama's shortest window is 2,048 tokens. Estimates are within 5 %, and no tokenizer needs half as many for English.
_LONG_REQUEST, _LEAST_SHARE = 2000, 0.5
_log = logging.getLogger(__name__)
_LIMITS = ("max_tokens", "max_completion_tokens")
# The whole text is read whenever it is passed on. Unless it grows by this part in between, that is quadratic.
_STEPS = 200
# Other numbers are no tokens: they would make a cost negative or infinite.
_Tokens = Annotated[int, Field(ge=0, le=10**9)]


def _joined(content: object) -> object:
    """Return the text of a list of parts, without those that are thoughts; a decoded object as JSON."""
    if isinstance(content, list):
        parts = [{"text": part} if isinstance(part, str) else part for part in content]
        texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type", "text") in _TEXTS]
        return "".join(text for text in texts if isinstance(text, str))
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else json.dumps(content, ensure_ascii=False)
    return content


_Text = Annotated[str | None, BeforeValidator(_joined)]


class _Message(BaseModel):
    """The text of a reply; vLLM, DeepSeek and Ollama send thoughts under one of the other two names."""

    content: _Text = None
    refusal: str | None = None
    reasoning: _Text = None
    reasoning_content: _Text = None

    @property
    def text(self) -> str:
        """The text, or else the thoughts: some servers take all of a reply for thoughts."""
        texts = (one for one in (self.content, self.reasoning_content, self.reasoning) if one and one.strip())
        return next(texts, "")


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _TokenUsage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


def _usable(value: object, validate: ValidatorFunctionWrapHandler) -> _TokenUsage | None:
    """Return the usage; None for what can't be one, which is no reason to lose a reply that is paid."""
    try:
        usage: _TokenUsage | None = validate(value)
    except ValidationError:
        return None
    return usage


_Usage = Annotated[_TokenUsage | None, WrapValidator(_usable)]


class ChatCompletion(BaseModel):
    """The fields of a chat completion that are read. Errors quote its name."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage = None


class _ChunkChoice(BaseModel):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    """The fields of a streamed chunk that are read; the last one may have usage and no choices."""

    choices: list[_ChunkChoice] = []
    usage: _Usage = None


class _ChunkReader:
    """Joins the chunks of one completion, and calls `on_text` with the text so far, whenever it is longer by a part."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._text, self._refusal, self._thoughts = StringIO(), StringIO(), StringIO()
        self._length = self._passed_on = 0
        self._finish_reason: str | None = None
        self._usage: _Usage = None

    def add(self, data: object) -> bool:
        """Add one chunk, as decoded JSON. Return whether the reply is complete; raise ValueError if it is no chunk."""
        chunk = _Chunk.model_validate(data)
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            self._refusal.write(choice.delta.refusal or "")
            self._thoughts.write(choice.delta.reasoning_content or choice.delta.reasoning or "")
            self._length += self._text.write(choice.delta.content or "")
            if self._length - self._passed_on > self._length // _STEPS:
                self._passed_on = self._length
                self._on_text(self._text.getvalue())
        return self._finish_reason is not None

    @property
    def completion(self) -> ChatCompletion:
        """The completion assembled from the chunks so far."""
        message = _Message(
            content=self._text.getvalue(), refusal=self._refusal.getvalue(), reasoning=self._thoughts.getvalue()
        )
        return ChatCompletion(choices=[_Choice(message=message, finish_reason=self._finish_reason)], usage=self._usage)


class OpenAIChatModel:
    """A `StreamingModel` behind OpenAI's chat completions.

    Servers differ in what they support. What one rejects is left out or sent in another way, and remembered for all
    later requests to the same model on the same server:

    - A JSON schema becomes JSON mode, and then plain text, both with the schema in the prompt.
    - The system message becomes part of the first user message.
    - `max_tokens` becomes `max_completion_tokens`, or the other way round, and is then left out.
    - `temperature`, `reasoning_effort` and streaming are left out.

    Args:
        extra: Further fields of each request, which precede those of `ModelRequest`.

    Attributes:
        variant: What distinguishes the replies of one model with different `extra`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        prices: Prices = Prices(),
        extra: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        self._prices = prices
        self._extra = extra
        self.variant = json.dumps(dict(extra), sort_keys=True) if extra else ""
        self._habits = habits_of(endpoint.base_url, endpoint.model)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Send one request. See `LanguageModel.complete`; a withheld reply is a ModelRefusedError."""
        return self._read(await self._ask(request, None))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Send one request and pass on its reply while it is written. See `StreamingModel.stream`."""
        reply = self._read(await self._ask(request, on_text))
        on_text(reply.text)
        return reply

    @property
    def images_per_call(self) -> int:
        """The most images that a request should have; 0 if no limit is known."""
        return self._habits.images or 0

    def redacted(self, text: str) -> str:
        """Return the start of a text, for messages. See `LanguageModel.redacted`."""
        return self._endpoint.redacted(text)

    def _read(self, completion: ChatCompletion) -> ModelReply:
        choice, used = completion.choices[0], completion.usage or _TokenUsage()
        message, model, where = choice.message, f"model {self.name!r}", self._endpoint.base_url
        if message.refusal or choice.finish_reason == "content_filter":
            refusal = self._endpoint.redacted(message.refusal or "content filter")
            raise ModelRefusedError(f"{model} refuses to answer: {refusal!r}", where=where)
        if choice.finish_reason == "error":
            raise ModelUnavailableError(
                f"{model}: the server failed in the middle of the reply; try later", where=where
            )
        cut = choice.finish_reason == "length"
        # What was cut off before the reply began is only thoughts.
        text = (message.content or "") if cut else message.text
        if not text.strip() and not cut:
            reason = self._endpoint.redacted(choice.finish_reason or "")
            raise ModelReplyError(f"{model}: a reply without text (finish_reason {reason!r})", where=where)
        usage = self._prices.usage(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)
        return ModelReply(text=text, usage=usage, cut=cut)

    async def _ask(self, request: ModelRequest, on_text: Callable[[str], None] | None) -> ChatCompletion:
        """Send a request, and again without each feature that the server rejects."""
        rejected = self._habits.rejected
        images = sum(len(message.images) for message in request.messages)
        first: BadRequestError | None = None
        while True:
            body = self._body(request, rejected)
            if on_text is not None and "stream" not in rejected:
                options = {} if "stream_options" in rejected else {"stream_options": {"include_usage": True}}
                body |= {"stream": True, **options}
            try:
                completion = await self._send(body, on_text)
            except BadRequestError as error:
                first = first or error
                limit = image_limit(error.complaint, images)
                if limit is not None:
                    self._habits.images = limit
                    message = f"model {self.name!r} takes at most {limit} images a call"
                    raise TooManyImagesError(message, where=self._endpoint.base_url, limit=limit) from None
                feature = rejected_feature(error.complaint, _features(body))
                if feature is None:
                    raise first from None
                rejected |= {feature}
            else:
                self._habits.rejected |= rejected
                self._note_window(request, completion.usage)
                text = completion.choices[0].message.text
                self._habits.unheeded |= _format_of(body) == "json_schema" and bool(text) and "{" not in text
                return completion

    def _note_window(self, request: ModelRequest, usage: _TokenUsage | None) -> None:
        """Warn once if the server seems to have read only a part of a request, as Ollama does without an error."""
        counted = usage.prompt_tokens if usage else 0
        texts = [message.text for message in request.messages]
        if self._habits.noted or not counted or not all(map(str.isascii, texts)):
            return
        expected = sum(map(count_tokens, texts))
        if expected >= _LONG_REQUEST and counted < expected * _LEAST_SHARE:
            self._habits.noted = True
            _log.warning(
                "the server of %r read %d tokens of about %d: its window may be too short (Ollama: set "
                "OLLAMA_CONTEXT_LENGTH), or lower retrieval.tokens",
                self.name,
                counted,
                expected,
            )

    async def _send(self, body: dict[str, object], on_text: Callable[[str], None] | None) -> ChatCompletion:
        if on_text is None or "stream" not in body:
            return await self._endpoint.post(_PATH, body, ChatCompletion)
        reader = _ChunkReader(on_text)
        whole = await self._endpoint.stream(_PATH, body, ChatCompletion, on_chunk=reader.add)
        return whole or reader.completion

    def _body(self, request: ModelRequest, rejected: Set[str]) -> dict[str, object]:
        """Return the JSON of a request without the features that are `rejected`."""
        messages = request.messages
        form = next((one for one in ("json_schema", "json_object") if one not in rejected), "")
        if request.schema is not None and (form != "json_schema" or self._habits.unheeded):
            messages = (*messages[:-1], _with_schema(messages[-1], request.schema))
        if "system" in rejected:
            messages = _without_system(messages)
        body: dict[str, object] = {
            "messages": [_message(message) for message in messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            **self._extra,
        }
        limit = next((body[name] for name in reversed(_LIMITS) if body.get(name) is not None), None)
        first = "max_completion_tokens" if "max_completion_tokens" in self._extra else "max_tokens"
        body |= dict.fromkeys(_LIMITS)
        name = next((one for one in (first, *_LIMITS) if one not in rejected), None)
        if name:
            body[name] = limit
        body = {name: value for name, value in body.items() if name not in rejected and value is not None}
        if request.schema is not None and form == "json_schema":
            schema = {"name": request.schema_name, "schema": request.schema, "strict": True}
            body["response_format"] = {"type": form, form: schema}
        elif request.schema is not None and form:
            body["response_format"] = {"type": form}
        return body


def _format_of(body: Mapping[str, object]) -> str:
    form = body.get("response_format")
    return str(form.get("type")) if isinstance(form, Mapping) else ""


def _features(body: Mapping[str, object]) -> Sequence[str]:
    """Return the features of a request that some servers reject; a name precedes those that are part of it."""
    messages = body["messages"]
    has_system = isinstance(messages, list) and messages[0]["role"] == "system"
    optional = ("max_completion_tokens", "max_tokens", "temperature", "reasoning_effort", "stream_options", "stream")
    return [
        *(["system"] if has_system else []),
        *filter(None, [_format_of(body)]),
        *(one for one in optional if one in body),
    ]


def _with_schema(message: Message, schema: Mapping[str, object]) -> Message:
    """Return a message with the schema added to its text."""
    written = json.dumps(schema, ensure_ascii=False)
    text = f"{message.text}\n\nReply with one JSON object and nothing else. It obeys this JSON schema:\n{written}"
    return replace(message, text=text)


def _without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages in which what the system says begins the first message of the user."""
    said = [message.text for message in messages if message.role == "system"]
    first, *others = (message for message in messages if message.role != "system")
    return (replace(first, text="\n\n".join((*said, first.text))), *others)


def _message(message: Message) -> dict[str, object]:
    if not message.images:
        return {"role": message.role, "content": message.text}
    images = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(image).decode()}}
        for image in message.images
    ]
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *images]}
