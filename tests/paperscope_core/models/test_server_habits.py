"""What servers are found to take, from the texts of their errors as their documentation and issues quote them."""

import json
import logging
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from pydantic import SecretStr

from paperscope_core.errors import ContextTooLongError, ModelRefusedError, TooManyImagesError
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.embedders import BatchedEmbedder, OpenAIEmbedder
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.server_habits import ServerHabits, batch_limit, habits_of, image_limit, rejected_feature
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Message, ModelRequest
from tests.model_server import Body, ModelServer, serve, words

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
REQUEST = ModelRequest(
    messages=(Message(role="system", text="Be brief."), Message(role="user", text="How many?")), schema=SCHEMA
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve(lambda _body: '{"n": 3}') as model:
        yield model


def endpoint(server: ModelServer) -> Endpoint:
    return Endpoint(model="m", base_url=server.url, api_key=SecretStr(""), timeout=10.0)


def form(body: Body) -> str:
    return str(body.get("response_format", {}).get("type", ""))


def refuses(rejected: Callable[[Body], bool], said: str) -> Callable[[Body], str]:
    return lambda body: f"400 {said}" if rejected(body) else ""


def has_system(body: Body) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


@pytest.mark.parametrize(
    ("fault", "sent"),
    [
        # llama.cpp before it had schemas, and DeepSeek.
        (
            refuses(lambda body: form(body) == "json_schema", "This response_format type is unavailable now"),
            "json_object",
        ),
        # LM Studio, if a proxy turned the schema away.
        (refuses(lambda body: form(body) != "", "'response_format.type' must be 'json_schema' or 'text'"), ""),
        # vLLM.
        (
            refuses(
                lambda body: form(body) == "json_schema",
                "The provided JSON schema contains features not supported by xgrammar.",
            ),
            "json_object",
        ),
        (refuses(lambda body: form(body) != "", "bad request"), ""),
    ],
)
async def test_a_schema_becomes_json_mode_and_then_text_once(
    server: ModelServer, fault: Callable[[Body], str], sent: str
) -> None:
    server.fault = fault
    for _ in range(2):
        assert (await OpenAIChatModel(endpoint(server)).complete(REQUEST)).text == '{"n": 3}'
    refused = len(server.bodies) - 2
    assert refused == (1 if sent else 2)
    for body in server.bodies[refused:]:
        assert form(body) == sent
        assert '"additionalProperties": false' in words(body)


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Only user and assistant roles are supported; the role system is not",
    ],
)
async def test_a_system_message_becomes_part_of_the_users(server: ModelServer, said: str) -> None:
    server.fault = refuses(has_system, said)
    for _ in range(2):
        await OpenAIChatModel(endpoint(server)).complete(REQUEST)
    assert [has_system(body) for body in server.bodies] == [True, False, False]
    assert server.bodies[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nHow many?"}]
    assert form(server.bodies[-1]) == "json_schema"


@pytest.mark.parametrize(
    ("extra", "field", "said", "instead"),
    [
        (
            {"max_tokens": 9},
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            {"max_completion_tokens": 9},
        ),
        (
            {"max_completion_tokens": 9},
            "max_completion_tokens",
            "Unknown field: max_completion_tokens",
            {"max_tokens": 9},
        ),
        (
            {},
            "temperature",
            "Unsupported value: 'temperature' does not support 0.0 with this model. "
            "Only the default (1) value is supported.",
            {},
        ),
        (
            {"reasoning_effort": "low"},
            "reasoning_effort",
            "Unrecognized request argument supplied: reasoning_effort",
            {},
        ),
    ],
)
async def test_fields_are_sent_as_the_server_takes_them(
    server: ModelServer, extra: dict[str, object], field: str, said: str, instead: dict[str, object]
) -> None:
    server.fault = refuses(lambda body: field in body, said)
    for _ in range(2):
        await OpenAIChatModel(endpoint(server), extra=extra).complete(REQUEST)
    assert [field in body for body in server.bodies] == [True, False, False]
    assert instead.items() <= server.bodies[-1].items()


async def test_extra_fields_are_sent_and_a_rejected_one_is_an_error(server: ModelServer) -> None:
    extra = {"temperature": 0.6, "chat_template_kwargs": {"enable_thinking": False}, "max_tokens": None}
    await OpenAIChatModel(endpoint(server), extra=extra).complete(REQUEST)
    body = server.bodies[-1]
    assert (body["temperature"], body["chat_template_kwargs"]) == (0.6, {"enable_thinking": False})
    assert "max_tokens" not in body
    server.fault = lambda _body: "400 chat_template_kwargs: Extra inputs are not permitted"
    with pytest.raises(ModelRefusedError, match="chat_template_kwargs"):
        await OpenAIChatModel(endpoint(server), extra=extra).complete(REQUEST)


async def test_a_schema_that_a_server_does_not_heed_is_put_into_words(server: ModelServer) -> None:
    server.reply = lambda body: '{"n": 3}' if "JSON schema" in words(body) else "three"
    replies = [(await OpenAIChatModel(endpoint(server)).complete(REQUEST)).text for _ in range(2)]
    assert replies == ["three", '{"n": 3}']
    assert form(server.bodies[-1]) == "json_schema"


async def test_two_models_of_a_server_have_their_own_habits(server: ModelServer) -> None:
    habits_of(server.url, "m").rejected |= {"temperature"}
    assert habits_of(server.url, "other") == ServerHabits()
    assert habits_of(server.url, "m").rejected == {"temperature"}


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("At most 1 image(s) may be provided in one request.", 1),
        ("At most 2 image(s) may be provided in one prompt.", 2),
        (
            "You set image=2 (or defaulted to 1) in `--limit-mm-per-prompt`, but passed 3 image items in the "
            "same prompt.",
            2,
        ),
        ("vision model only supports a single image per message", 1),
        ("multiple images are not supported by this model", 1),
    ],
)
async def test_a_number_of_images_that_a_server_refuses(server: ModelServer, said: str, limit: int) -> None:
    server.fault = refuses(lambda body: len(body["messages"][-1]["content"]) > limit + 1, said)
    model = OpenAIChatModel(endpoint(server))
    shown = ModelRequest(messages=(Message(role="user", text="look", images=(b"1", b"2", b"3")),), schema=SCHEMA)
    assert model.images_per_call == 0
    with pytest.raises(TooManyImagesError, match="images a call") as caught:
        await model.complete(shown)
    assert (caught.value.limit, model.images_per_call, len(server.bodies)) == (limit, limit, 1)


def test_complaints_about_something_else() -> None:
    assert image_limit("at most 1 image(s) may be provided", 1) is None
    assert image_limit("invalid image data", 2) is None
    assert rejected_feature("the response was filtered: content_filter", ["system", "json_schema"]) is None
    assert rejected_feature("no", ["temperature"]) is None


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the "
        "messages, 10000 in the completion). Please reduce the length of the messages or completion.",
        "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "Requested tokens (2285) exceed context window of 2048",
        "the input length exceeds the context length",
        "input length exceeds maximum context length",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "`inputs` must have less than 512 tokens. Given: 600",
    ],
)
async def test_requests_that_are_too_long(server: ModelServer, said: str) -> None:
    server.fault = lambda _body: f"400 {said}"
    with pytest.raises(ContextTooLongError, match=r"lower retrieval\.tokens"):
        await OpenAIChatModel(endpoint(server)).complete(REQUEST)
    assert len(server.bodies) == 1


async def test_a_server_that_reads_only_a_part_is_noted_once(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.usage = {"prompt_tokens": 4096}
    long = ModelRequest(messages=(Message(role="user", text="A long context of many words. " * 3000),))
    for request in (REQUEST, long, long):
        await OpenAIChatModel(endpoint(server)).complete(request)
    assert caplog.text.count("OLLAMA_CONTEXT_LENGTH") == 1


# Embeddings.


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        (
            "<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, "
            "it should not be larger than 10.",
            10,
        ),
        ("input batch size 64 > maximum allowed batch size 32", 32),
        ("batch size 64 > maximum allowed batch size 4", 4),
        ("BatchEmbedContentsRequest.requests: at most 20 requests can be in one batch", 20),
        ("too many inputs", 32),
    ],
)
def test_the_size_of_a_batch_that_a_server_takes(said: str, limit: int) -> None:
    assert batch_limit(said.lower(), 64) == limit


def embedder(server: ModelServer, size: int = 64) -> BatchedEmbedder:
    return BatchedEmbedder(OpenAIEmbedder(endpoint(server)), size=size, habits=habits_of(server.url, "m"))


async def test_a_batch_shrinks_to_what_the_server_takes_and_stays_so(server: ModelServer) -> None:
    server.embedding_fault = lambda body: (
        "422 batch size 64 > maximum allowed batch size 10" if len(body["input"]) > 10 else ""
    )
    texts = [f"text {number}" for number in range(25)]
    rows = await embedder(server).embed(texts)
    assert [len(body["input"]) for body in server.embedded] == [25, 10, 10, 5]
    await embedder(server).embed(texts)
    assert [len(body["input"]) for body in server.embedded[4:]] == [10, 10, 5]
    np.testing.assert_array_equal(rows[3], (await embedder(server).embed([texts[3]]))[0])


@pytest.mark.parametrize(
    "said",
    [
        "the input length exceeds the context length",
        "This model's maximum context length is 512 tokens. However, you requested 900 tokens in the input for "
        "embedding generation. Please reduce the length of the input.",
    ],
)
async def test_long_texts_are_shortened_with_a_note(
    server: ModelServer, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.embedding_fault = lambda body: f"400 {said}" if any(len(text) > 2000 for text in body["input"]) else ""
    texts = ["short", "a long text " * 1000, "medium " * 100]
    with caplog.at_level(logging.WARNING):
        rows = await embedder(server).embed(texts)
    assert rows.shape[0] == 3
    sent = server.embedded[-1]["input"]
    assert (sent[0], sent[2]) == (texts[0], texts[2])
    assert 1000 < len(sent[1]) <= 2000
    assert texts[1].startswith(sent[1])
    assert "1 of 3 texts are longer than the window of 'm'" in caplog.text
    asked = len(server.embedded)
    await embedder(server).embed(texts)
    assert len(server.embedded) == asked + 1
    limit = habits_of(server.url, "m").tokens
    assert limit is not None
    assert count_tokens(sent[1]) <= limit


async def test_what_no_batch_can_mend_is_an_error_and_not_remembered(server: ModelServer) -> None:
    server.embedding_fault = lambda _body: "400 no such model for embeddings"
    with pytest.raises(ModelRefusedError, match="no such model"):
        await embedder(server).embed(["a", "b", "c"])
    assert habits_of(server.url, "m").texts is None
    server.embedding_fault = lambda _body: "400 the input length exceeds the context length"
    with pytest.raises(ContextTooLongError):
        await embedder(server).embed(["a"])


async def test_a_server_without_encoding_formats_is_asked_without(server: ModelServer) -> None:
    server.embedding_fault = lambda body: (
        "400 encoding_format: extra fields not permitted" if "encoding_format" in body else ""
    )
    for _ in range(2):
        assert len(await embedder(server).embed(["a", "b"])) == 2
    assert ["encoding_format" in body for body in server.embedded] == [True, False, False]
    assert json.dumps(server.embedded[-1]["input"]) == '["a", "b"]'
