"""A model server on this machine for tests: an OpenAI-compatible endpoint whose replies a function writes."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["DIMENSION", "ModelServer", "echo", "fingerprint", "kind_of", "serve", "summaries", "verdicts", "words"]

Body = Mapping[str, Any]

DIMENSION = 16
_HANGING = 6.0


@dataclass
class ModelServer:
    """What a server was asked, in order: each body, and its fingerprint in `names`; `embedded` are the bodies for
    vectors. `usage` replaces what it counts.

    `refuse` holds the statuses of the next calls that it turns down, `retry_after` what it says then (seconds; None:
    nothing). `fault` says what goes wrong with a call: nothing (""), a status with or without a message ("500", "400
    too long"), that it is never answered ("hang"), that the connection closes in the middle of the reply ("cut"), that
    a web page comes ("page"), or that a gateway reports under HTTP 200 that the server behind it failed ("told"; in a
    stream after half of it); `embedding_fault` says so of calls for vectors. A reply that is a mapping is the whole
    message, with `finish_reason` if that is not "stop". With `streams` it tells a reply in pieces to whoever asks for
    that, and breaks the connection off in the middle of the next `breaks` of them. `documents` are what it tells at
    other paths; a mapping from names of models to what it tells of each, if a body names one. `keys` are the keys that
    it was sent.
    """

    reply: Callable[[Body], str | Body]
    seconds: float = 0.0
    url: str = ""
    bodies: list[Body] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    embedded: list[Body] = field(default_factory=list)
    usage: Body = field(default_factory=dict)
    refuse: list[int] = field(default_factory=list)
    retry_after: float | None = 0.0
    fault: Callable[[Body], str] = field(default=lambda _body: "")
    embedding_fault: Callable[[Body], str] = field(default=lambda _body: "")
    streams: bool = False
    breaks: int = 0
    documents: dict[str, Any] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)


def fingerprint(body: Body) -> str:
    """The same for equal requests."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def words(body: Body) -> str:
    """All text of a request."""
    parts: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        parts += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return "\n".join(parts)


def kind_of(body: Body) -> str:
    """What kind of reply a request asks for: the name of its schema; empty if it has none, as for a server without."""
    return str(body.get("response_format", {}).get("json_schema", {}).get("name", ""))


def verdicts(body: Body, *, same: bool = False, reason: str = "No reason.") -> str:
    """A verdict for each pair of names that a request asks about."""
    asked = re.findall(r"^(P\d+) \[", words(body), re.MULTILINE)
    return json.dumps({"pairs": [{"pair": pair, "reason": reason, "same": same} for pair in asked]})


def summaries(body: Body, *, words_of_it: str = "It is used.") -> str:
    """A summary of each term that a request asks about."""
    asked = re.findall(r"^(T\d+) \{", words(body), re.MULTILINE)
    return json.dumps({"terms": [{"term": term, "summary": words_of_it} for term in asked]})


def echo(body: Body) -> str:
    """What a careful model might reply: capitalised words of each passage as entities, a sentence to a picture, and
    that no two names are the same."""
    if kind_of(body) == "same_names":
        return verdicts(body)
    if kind_of(body) == "summaries":
        return summaries(body)
    if kind_of(body) != "entities":
        return json.dumps(
            {
                "kind": "other",
                "description": "This is a picture of the paper, and there is nothing to be said of it.",
                "visible_text": [],
                "entities": [],
                "data_points": [],
                "latex": "",
            }
        )
    entities = [
        {"chunk": name, "mention": word, "type": "concept", "description": f"{word} is named."}
        for name, text in re.findall(r"<<<(C\d+) [0-9a-f]+\n(.*?)\n\1 [0-9a-f]+>>>", words(body), re.DOTALL)
        for word in list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]{3,}\b", text)))[:6]
    ]
    return json.dumps({"entities": entities, "relations": []})


def _vector(index: int, text: str) -> Body:
    """A vector of DIMENSION numbers, the same for equal texts."""
    digest = hashlib.sha256(text.encode()).digest()
    return {"index": index, "embedding": [byte - 127.5 for byte in digest[:DIMENSION]]}


_TOLD: Body = {"error": {"message": "Provider returned error", "code": 502}}


class _Quiet(BaseHTTPRequestHandler):
    """Says nothing, also where a client hangs up."""

    def log_message(self, *_arguments: object) -> None:
        return

    def handle(self) -> None:
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            return


def _as_events(message: Body, usage: Body, *, fails: bool) -> bytes:
    deltas: list[Body] = []
    for name, value in message.items():
        pieces = re.findall(r"(?s).{1,8}", value) if isinstance(value, str) else [[part] for part in value or ()]
        deltas += [{name: piece} for piece in pieces if name not in ("role", "finish_reason")]
    chunks: list[Body] = [{"choices": [{"delta": delta}]} for delta in deltas]
    finish = message.get("finish_reason", "stop")
    chunks.append({"choices": [{"delta": {}, "finish_reason": finish}], "usage": usage})
    if fails:
        chunks = [*chunks[: len(chunks) // 2], _TOLD]
    return "".join(f"data: {data}\n\n" for data in (*map(json.dumps, chunks), "[DONE]")).encode()


class _Replying(_Quiet):
    """Replies as `model` says."""

    model: ModelServer

    def do_GET(self) -> None:
        self.model.keys.append(self.headers.get("Authorization", ""))
        self._send(200 if self.path in self.model.documents else 404, self.model.documents.get(self.path, {}))

    def do_POST(self) -> None:
        state, body = self.model, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state.keys.append(self.headers.get("Authorization", ""))
        if "messages" not in body and "input" not in body:
            document = state.documents.get(self.path, {}).get(body.get("model"))
            self._send(404 if document is None else 200, document or {})
            return
        if self.path.endswith("/embeddings"):
            state.embedded.append(body)
            if not self._fails(state.embedding_fault(body)):
                self._send(200, {"data": [_vector(*item) for item in enumerate(body["input"])]})
            return
        state.bodies.append(body)
        state.names.append(fingerprint(body))
        time.sleep(state.seconds)
        fault = str(state.refuse.pop(0)) if state.refuse else state.fault(body)
        if self._fails(fault):
            return
        content = state.reply(body)
        message = {"role": "assistant", **({"content": content} if isinstance(content, str) else content)}
        usage = {"prompt_tokens": len(words(body)) // 4, "completion_tokens": len(str(content)) // 4, **state.usage}
        if state.streams and body.get("stream"):
            self._tell(message, usage, fails=fault == "told")
            return
        if fault == "told":
            self._send(200, _TOLD)
            return
        choice = {"index": 0, "finish_reason": message.get("finish_reason", "stop"), "message": message}
        self._send(
            200, {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}, cut=fault == "cut"
        )

    def _fails(self, fault: str) -> bool:
        """Let a call fail; whether that was all."""
        status, _, message = fault.partition(" ")
        if status.isdecimal():
            self._send(int(status), {"error": {"message": message or "not now"}})
        elif fault == "hang":
            time.sleep(_HANGING)
        elif fault == "page":
            self._write(200, b"<html><title>Welcome!</title></html>", kind="text/html")
        return status.isdecimal() or fault in ("hang", "page")

    def _send(self, status: int, reply: Body, *, cut: bool = False) -> None:
        self._write(status, json.dumps(reply).encode(), kind="application/json", cut=cut)

    def _write(self, status: int, payload: bytes, *, kind: str, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if self.model.retry_after is not None:
            self.send_header("Retry-After", str(self.model.retry_after))
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload[: len(payload) // 2] if cut else payload)

    def _tell(self, message: Body, usage: Body, *, fails: bool) -> None:
        """The reply as events, all of them or the first half."""
        payload = _as_events(message, usage, fails=fails)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.model.breaks:
            self.model.breaks -= 1
            payload = payload[: len(payload) // 2]
        self.wfile.write(payload)


@contextmanager
def serve(reply: Callable[[Body], str | Body] = echo, *, seconds: float = 0.0) -> Iterator[ModelServer]:
    """A server that takes so many seconds for each reply, and none for embeddings, which it does not count. It counts a
    token for four characters."""
    state = ModelServer(reply=reply, seconds=seconds)

    class Handler(_Replying):
        model = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
