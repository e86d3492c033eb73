"""The OpenAI client against a server on loopback; the protocol of a model also against the fake."""

import asyncio
import base64
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from pydantic import BaseModel, SecretStr

from paperscope_core.errors import (
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnavailableError,
)
from paperscope_core.models import FakeModel, RetryPolicy, ask_json
from paperscope_core.models import endpoint as endpoint_module
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.embedders import BatchedEmbedder, OpenAIEmbedder
from paperscope_core.models.endpoint import Endpoint, retry_after
from paperscope_core.models.retry import RetryingModel
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Message, ModelRequest, Prices, Usage

KEY = "sk-very-secret-0123456789"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


class Number(BaseModel):
    n: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request that reached the server."""

    path: str
    headers: dict[str, str]
    body: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the server is to say."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False


@dataclass(kw_only=True)
class Server:
    """A server on loopback that follows a script, or else `otherwise`."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    script: list[Said] = field(default_factory=list)
    otherwise: Callable[[Asked], Said] = field(default=lambda _: chat("fine"))
    released: threading.Event = field(default_factory=threading.Event)


def chat(text: str | None, *, finish: str = "stop", **message: object) -> Said:
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish, "index": 0}
    usage = {"prompt_tokens": 1000, "completion_tokens": 200}
    return Said(body=json.dumps({"choices": [choice], "usage": usage}).encode())


def failure(status: int, message: str = "no", **headers: str) -> Said:
    return Said(status=status, body=json.dumps({"error": {"message": message}}).encode(), headers=headers)


def request(text: str = "hello", **options: object) -> ModelRequest:
    return ModelRequest(messages=(Message(role="system", text="be brief"), Message(role="user", text=text)), **options)  # type: ignore[arg-type]


def run_server(server: Server) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(path=self.path, headers={k.lower(): v for k, v in self.headers.items()}, body=body)
            server.asked.append(asked)
            said = server.script.pop(0) if server.script else server.otherwise(asked)
            if said.hangs:
                server.released.wait(10)
                return
            self.send_response(said.status)
            for name, value in {"Content-Type": "application/json", **said.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            self.wfile.write(said.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return http


@pytest.fixture
def make_server() -> Iterator[Callable[[], Server]]:
    running: list[tuple[Server, ThreadingHTTPServer]] = []

    def make() -> Server:
        server = Server()
        running.append((server, run_server(server)))
        return server

    yield make
    for server, http in running:
        server.released.set()
        http.shutdown()
        http.server_close()


@pytest.fixture
def server(make_server: Callable[[], Server]) -> Server:
    return make_server()


def endpoint(server: Server, *, timeout: float = 5.0, key: str = KEY) -> Endpoint:
    return Endpoint(model="m-1", base_url=server.url, api_key=SecretStr(key), timeout=timeout)


@pytest.fixture
def chat_model(server: Server) -> OpenAIChatModel:
    return OpenAIChatModel(endpoint(server), prices=Prices(prompt=2.0, completion=10.0))


# What holds for every model.


@pytest.fixture(params=["fake", "openai"])
def any_model(request: pytest.FixtureRequest, server: Server) -> LanguageModel:
    def reply(text: str) -> str:
        return '{"n": 7}' if "json" in text else "fine"

    def last_text(asked: Asked) -> str:
        messages = asked.body["messages"]
        assert isinstance(messages, list)
        content = messages[-1]["content"]
        return str(content if isinstance(content, str) else content[0]["text"])

    if request.param == "fake":
        return FakeModel(lambda asked: reply(asked.messages[-1].text), name="m-1")
    server.otherwise = lambda asked: chat(reply(last_text(asked)))
    return OpenAIChatModel(endpoint(server))


async def test_a_reply_has_text_and_usage(any_model: LanguageModel) -> None:
    reply = await any_model.complete(request())
    assert reply.text == "fine"
    assert (reply.usage.calls, reply.usage.cached) == (1, 0)
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0
    assert any_model.name == "m-1"


async def test_a_value_comes_for_a_schema(any_model: LanguageModel) -> None:
    number, usage = await ask_json(any_model, request("json"), Number)
    assert number == Number(n=7)
    assert usage.calls == 1


async def test_images_are_looked_at(any_model: LanguageModel) -> None:
    shown = ModelRequest(messages=(Message(role="user", text="what is this?", images=(PNG, PNG)),))
    assert (await any_model.complete(shown)).text == "fine"


def test_a_model_serves_one_event_loop_after_another(any_model: LanguageModel) -> None:
    for _ in range(3):
        assert asyncio.run(any_model.complete(request())).text == "fine"


# Requests.


async def test_a_reply_that_was_cut_is_paid_and_says_so(server: Server, chat_model: OpenAIChatModel) -> None:
    server.script = [chat("half a rep", finish="length"), chat(None, finish="length")]
    replies = [await chat_model.complete(request()) for _ in range(2)]
    assert [(reply.text, reply.cut, reply.usage.calls) for reply in replies] == [("half a rep", True, 1), ("", True, 1)]


async def test_the_request_as_it_travels(server: Server, chat_model: OpenAIChatModel) -> None:
    await chat_model.complete(request(max_tokens=9))
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
        "temperature": 0.0,
        "max_tokens": 9,
    }


async def test_images_travel_as_png_data_addresses(server: Server, chat_model: OpenAIChatModel) -> None:
    await chat_model.complete(ModelRequest(messages=(Message(role="user", text="look", images=(PNG,)),)))
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]
    assert server.asked[0].body["messages"] == [{"role": "user", "content": parts}]


async def test_a_schema_travels_as_strict_response_format(server: Server, chat_model: OpenAIChatModel) -> None:
    await chat_model.complete(request(schema=SCHEMA, schema_name="number"))
    assert server.asked[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "number", "schema": SCHEMA, "strict": True},
    }


async def test_the_environment_changes_nothing(
    server: Server, chat_model: OpenAIChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer another")
    await chat_model.complete(request())
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_server_without_keys_is_asked_without_one(server: Server) -> None:
    assert (await OpenAIChatModel(endpoint(server, key="")).complete(request())).text == "fine"


async def test_the_cost_follows_from_the_prices(server: Server, chat_model: OpenAIChatModel) -> None:
    reply = await chat_model.complete(request())
    assert reply.usage.cost == pytest.approx(1000 * 2.0 / 1e6 + 200 * 10.0 / 1e6)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1000, 200)


async def test_a_server_that_counts_nothing_costs_nothing(server: Server, chat_model: OpenAIChatModel) -> None:
    server.script = [Said(body=b'{"choices": [{"message": {"content": "fine"}}], "usage": null}')]
    assert (await chat_model.complete(request())).usage == Usage(calls=1)


@pytest.mark.parametrize("tokens", ["-1", "1e30", "1e400", "NaN", "1" + 400 * "0", '"many"'])
async def test_a_number_of_tokens_that_cannot_be_loses_no_reply(
    server: Server, chat_model: OpenAIChatModel, tokens: str
) -> None:
    usage = f'"usage": {{"prompt_tokens": {tokens}}}'
    chunk = f'{{"choices": [{{"delta": {{"content": "fine"}}, "finish_reason": "stop"}}], {usage}}}'
    server.script = [
        Said(body=f'{{"choices": [{{"message": {{"content": "fine"}}}}], {usage}}}'.encode()),
        Said(body=f"data: {chunk}\n\ndata: [DONE]\n\n".encode(), headers={"Content-Type": "text/event-stream"}),
    ]
    for reply in (await chat_model.complete(request()), await chat_model.stream(request(), lambda _: None)):
        assert (reply.text, reply.usage) == ("fine", Usage(calls=1))


# Streams.


def chunks(*texts: str, finish: str = "stop", usage: bool = True) -> Said:
    deltas = [{"role": "assistant"}, *({"content": text} for text in texts)]
    events: list[dict[str, object]] = [{"choices": [{"delta": delta}]} for delta in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    if usage:
        events.append({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 200}})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
    return Said(body="".join(lines).encode(), headers={"Content-Type": "text/event-stream; charset=utf-8"})


async def test_a_stream_is_passed_on_as_it_grows_and_costs_as_much_as_a_reply(
    server: Server, chat_model: OpenAIChatModel
) -> None:
    server.script = [chunks("Hé", "llo", " you")]
    received: list[str] = []
    reply = await chat_model.stream(request(), received.append)
    assert reply.text == "Héllo you"
    assert list(dict.fromkeys(received)) == ["Hé", "Héllo", "Héllo you"]
    assert reply.usage == Usage(calls=1, prompt_tokens=1000, completion_tokens=200, cost=0.004)
    assert server.asked[0].body["stream"] is True
    assert server.asked[0].body["stream_options"] == {"include_usage": True}


async def test_a_server_that_cannot_stream_replies_in_one_piece(server: Server, chat_model: OpenAIChatModel) -> None:
    received: list[str] = []
    server.script = [chat("whole")]
    assert (await chat_model.stream(request(), received.append)).text == "whole"
    server.script = [
        failure(400, "unknown field: stream_options"),
        failure(400, "'stream' is not supported"),
        chat("x"),
    ]
    assert (await chat_model.stream(request(), received.append)).text == "x"
    assert received == ["whole", "x"]
    assert "stream" not in server.asked[-1].body
    server.script = [chat("y")]
    await chat_model.stream(request(), received.append)
    assert "stream" not in server.asked[-1].body


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (chunks("a", finish="content_filter"), ModelRefusedError, "content filter"),
        (chunks(), ModelReplyError, "without text"),
        (Said(body=b"data: {\n\n", headers={"Content-Type": "text/event-stream"}), ModelReplyError, "streams no"),
        (Said(body=b"data: [7]\n\n", headers={"Content-Type": "text/event-stream"}), ModelReplyError, "streams no"),
        (failure(503), ModelUnavailableError, "503"),
        (Said(body=b"<html>", headers={"Content-Type": "text/html"}), ModelReplyError, "<html>"),
    ],
)
async def test_streams_that_fail(
    server: Server, chat_model: OpenAIChatModel, said: Said, error: type[ModelError], words: str
) -> None:
    server.script = [said]
    with pytest.raises(error, match=words):
        await chat_model.stream(request(), lambda _text: None)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_body_that_breaks_off_is_a_failure_of_the_server(
    server: Server, chat_model: OpenAIChatModel, kind: str
) -> None:
    said = Said(body=b"no length", headers={"Transfer-Encoding": "chunked", "Content-Type": kind})
    server.script = [said, said]
    with pytest.raises(ModelUnavailableError, match="no connection"):
        await chat_model.stream(request(), lambda _text: None)
    with pytest.raises(ModelUnavailableError, match="no connection"):
        await chat_model.complete(request())


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("status", [200, 400])
async def test_a_response_of_any_size_takes_bounded_memory(
    server: Server, chat_model: OpenAIChatModel, kind: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "_MAX_RESPONSE_BYTES", 1000)
    server.otherwise = lambda _asked: Said(body=b" " * 1001, status=status, headers={"Content-Type": kind})
    for call in (
        chat_model.complete(request()),
        chat_model.stream(request(), lambda _text: None),
        OpenAIEmbedder(endpoint(server)).embed(["text"]),
    ):
        with pytest.raises(ModelReplyError, match="more than 1000 bytes"):
            await call


async def test_no_response_is_unpacked(server: Server, chat_model: OpenAIChatModel) -> None:
    server.script = [Said(body=gzip.compress(b" " * 1_000_000), headers={"Content-Encoding": "gzip"})]
    with pytest.raises(ModelReplyError, match="answered no ChatCompletion"):
        await chat_model.complete(request())
    assert server.asked[0].headers["accept-encoding"] == "identity"


async def test_a_long_stream_of_short_pieces_is_passed_on_in_linear_time(
    server: Server, chat_model: OpenAIChatModel
) -> None:
    lengths: list[int] = []
    server.script = [chunks(*"a" * 5000)]
    await chat_model.stream(request(), lambda text: lengths.append(len(text)))
    assert lengths[:100] == list(range(1, 101))
    assert lengths[-1] == 5000
    assert sum(lengths) < 300 * 5000


async def test_a_stream_that_was_cut_says_so(server: Server, chat_model: OpenAIChatModel) -> None:
    server.script = [chunks("a", finish="length")]
    reply = await chat_model.stream(request(), lambda _text: None)
    assert (reply.text, reply.cut) == ("a", True)


# Rejected features and errors.


async def test_a_refused_schema_is_put_into_words_and_remembered(server: Server, chat_model: OpenAIChatModel) -> None:
    server.otherwise = lambda asked: failure(400) if "response_format" in asked.body else chat('{"n": 3}')
    for _ in range(2):
        number, usage = await ask_json(chat_model, request(), Number)
        assert (number.n, usage.calls) == (3, 1)
    assert ["response_format" in asked.body for asked in server.asked] == [True, True, False, False]
    assert server.asked[1].body["response_format"] == {"type": "json_object"}
    messages = server.asked[-1].body["messages"]
    assert isinstance(messages, list)
    assert '"additionalProperties": false' in messages[-1]["content"]


async def test_refused_options_are_left_out_and_remembered(server: Server, chat_model: OpenAIChatModel) -> None:
    def picky(asked: Asked) -> Said:
        if "temperature" in asked.body:
            return failure(400, "Unsupported value: 'temperature'")
        if "max_tokens" in asked.body:
            return failure(400, "Use 'max_completion_tokens' instead of 'max_tokens'")
        return chat("fine")

    server.otherwise = picky
    await chat_model.complete(request(max_tokens=9))
    await chat_model.complete(request(max_tokens=9))
    assert len(server.asked) == 4
    assert server.asked[-1].body["max_completion_tokens"] == 9


async def test_a_bad_request_stays_one_and_is_not_remembered(server: Server, chat_model: OpenAIChatModel) -> None:
    server.script = [failure(400, "odd prompt"), failure(400, "something else"), failure(400, "a third thing")]
    with pytest.raises(ModelRefusedError, match="odd prompt"):
        await chat_model.complete(request(schema=SCHEMA))
    await chat_model.complete(request(schema=SCHEMA))
    assert "response_format" in server.asked[-1].body


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (failure(401, f"wrong key {KEY}"), ModelRefusedError, "check the role's api_key"),
        (failure(403), ModelRefusedError, "may not use this model"),
        (failure(404), ModelRefusedError, "no such model or path"),
        (failure(418), ModelRefusedError, "HTTP 418"),
        (failure(429), ModelRateLimitError, "HTTP 429"),
        (
            Said(status=429, body=b'{"error": {"code": "insufficient_quota", "message": "pay"}}'),
            ModelRefusedError,
            "no credit",
        ),
        (failure(408), ModelUnavailableError, "HTTP 408"),
        (failure(500), ModelUnavailableError, "HTTP 500"),
        (Said(status=503, body=b"<html>", headers={"Content-Type": "text/html"}), ModelUnavailableError, "HTTP 503"),
        (Said(body=b'{"choices": ['), ModelReplyError, "OpenAI-compatible"),
        (Said(body=b"<html>" + KEY.encode(), headers={"Content-Type": "text/html"}), ModelReplyError, "<html>"),
        (Said(body=b'{"choices": []}'), ModelReplyError, "ends in /v1"),
        (Said(body=b"[1]"), ModelReplyError, "answered no ChatCompletion"),
        (chat(None), ModelReplyError, "without text"),
        (chat(None, refusal="I won't"), ModelRefusedError, "I won't"),
        (failure(401, f"wrong key {base64.b64encode(KEY.encode()).decode()}"), ModelRefusedError, "HTTP 401"),
        (failure(400, f"wrong key {KEY[:-3]}"), ModelRefusedError, "HTTP 400"),
        (chat(None, refusal=f"not for {KEY[3:]}"), ModelRefusedError, "not for"),
        (chat(None, finish="content_filter"), ModelRefusedError, "content filter"),
    ],
)
async def test_every_failure_is_of_our_tree_and_names_model_and_server(
    server: Server, chat_model: OpenAIChatModel, said: Said, kind: type[ModelError], words: str
) -> None:
    server.script = [said]
    with pytest.raises(ModelError) as caught:
        await chat_model.complete(request())
    error = caught.value
    assert isinstance(error, kind)
    assert isinstance(error, ModelUnavailableError) == issubclass(kind, ModelUnavailableError)
    for part in (words, "'m-1'", server.url):
        assert part in str(error)
    told = str(error) + repr(error.__cause__)
    assert "very-secret" not in told
    assert base64.b64encode(KEY.encode()).decode()[:8] not in told
    assert error.__suppress_context__ or error.__context__ is None


async def test_a_server_that_is_down_is_unavailable() -> None:
    gone = Endpoint(model="m-1", base_url="http://127.0.0.1:9/v1", api_key=SecretStr(KEY), timeout=5)
    with pytest.raises(ModelUnavailableError, match=r"no connection .*is the server up"):
        await OpenAIChatModel(gone).complete(request())


async def test_a_server_that_hangs_is_given_up(server: Server) -> None:
    server.script = [Said(body=b"", hangs=True)]
    with pytest.raises(ModelUnavailableError, match="raise the role's timeout"):
        await OpenAIChatModel(endpoint(server, timeout=0.2)).complete(request())


async def test_a_redirect_is_not_followed(make_server: Callable[[], Server]) -> None:
    here, elsewhere = make_server(), make_server()
    here.script = [Said(status=307, body=b"", headers={"Location": elsewhere.url + "/chat/completions"})]
    with pytest.raises(ModelRefusedError, match=f"to '{elsewhere.url}.*not followed"):
        await OpenAIChatModel(endpoint(here)).complete(request())
    assert elsewhere.asked == []


async def test_a_rate_limit_is_waited_out(server: Server, chat_model: OpenAIChatModel) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    server.script = [failure(429, **{"Retry-After": "7"}), chat("at last")]
    model = RetryingModel(chat_model, RetryPolicy(sleep=sleep))
    assert (await model.complete(request())).text == "at last"
    assert waits == [7.0]


def test_the_wait_that_a_server_asks_for() -> None:
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    later = retry_after({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"})
    assert later is not None
    assert later > 1e9
    for nonsense in ({}, {"retry-after": "soon"}, {"retry-after-ms": "soon"}):
        assert retry_after(nonsense) is None


# Embeddings.


def embeddings(*vectors: list[float]) -> Said:
    data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Said(body=json.dumps({"data": data[::-1]}).encode())


async def test_vectors_come_in_batches_in_order_and_of_unit_length(server: Server) -> None:
    def embed(asked: Asked) -> Said:
        texts = asked.body["input"]
        assert isinstance(texts, list)
        return embeddings(*([float(text), 1.0] for text in texts))

    server.otherwise = embed
    embedder = BatchedEmbedder(OpenAIEmbedder(endpoint(server)), size=2)
    rows = await embedder.embed(["0", "1", "2"])
    expected = np.array([[0, 1], [1, 1], [2, 1]]) / np.sqrt([[1], [2], [5]])
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert rows.dtype == np.float32
    assert [asked.path for asked in server.asked] == ["/v1/embeddings"] * 2
    assert len(await embedder.embed([])) == 0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (embeddings([1.0, 0.0, 0.0]), r"different lengths: \[2, 3\]"),
        (embeddings(), "0 vectors for 1 texts"),
        (embeddings([0.0, 0.0]), "without direction"),
        (Said(body=b'{"data": [{"index": 0}]}'), "answered no Embeddings"),
    ],
)
async def test_vectors_that_are_none_are_refused(server: Server, said: Said, words: str) -> None:
    server.script = [embeddings([1.0, 0.0]), said]
    embedder = OpenAIEmbedder(endpoint(server))
    await embedder.embed(["first"])
    with pytest.raises(ModelReplyError, match=words):
        await embedder.embed(["text"])
