"""What is fuzzed: readers, question files, the HTTP service, LightRAG's server and the consumers of model replies."""

import asyncio
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2
import uvicorn
from pydantic import SecretStr

from graph_store import Store
from ingest import parsers
from ingest.captioning import ImageCaptioner
from ingest.extraction import extractor_for
from paperscope.library import Library
from paperscope_core.errors import PaperscopeError
from paperscope_core.models import FakeEmbedder, FakeModel, Models
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.embedders import OpenAIEmbedder
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.settings import LimitSettings, ParserSettings, Settings
from paperscope_core.types import Message, ModelRequest, Paper, PaperFile, PaperImages, content_hash
from service.batch import BatchRow, Question, parse_questions
from service.http.middleware import limit_other_app
from service.http.server import EXTRA_CONNECTIONS, Protocol
from service.jobs.supervisor import Supervisor
from tests.fuzzing.checks import check, check_answer, check_error, check_paper, check_rows
from tests.fuzzing.samples import (
    KEY,
    QUESTIONS,
    REPLIES,
    RESPONSES,
    Sample,
    lightrag_samples,
    paper_samples,
    request_samples,
)
from tests.ingest.captioning.illustrated_papers import figure, png
from tests.ingest.readers.test_markup import FILES
from tests.model_server import Body, echo, kind_of, serve
from tests.service.conftest import PNG, settings_of, small_paper
from tests.service.http.requests import send_raw
from tests.service.servers import embedder_settings, serve_app

__all__ = ["TARGETS", "Target"]

_ASKED = 2
_BAD_ROWS = 50
_LIMITS = LimitSettings(parse_seconds=60.0, memory_mb=3000, max_pages=50)


@dataclass(frozen=True, kw_only=True)
class Target:
    """Files from which cases are made, and the work on a case, which raises for a defect."""

    samples: Sequence[Sample]
    run: Callable[[str, bytes], None]


@contextmanager
def readers(folder: Path) -> Iterator[Target]:
    """The readers of papers, the exporters, the chunker and the extractor."""
    parser = parsers.parser_for(ParserSettings(ocr="off", dpi=36), limits=_LIMITS)
    mineru = folder / "mineru"
    mineru.mkdir()
    (mineru / "a.png").write_bytes(PNG)

    def run(name: str, data: bytes) -> None:
        is_mineru = name.endswith("middle.json")
        file = mineru / "paper_middle.json" if is_mineru else folder / name
        file.write_bytes(data)
        try:
            parsed = parsers.read_paper(parser, PaperFile(mineru if is_mineru else file))
        except PaperscopeError as error:
            check_error(error)
        else:
            check_paper(parsed)
        finally:
            file.unlink()

    yield Target(samples=tuple(paper_samples()), run=run)


@contextmanager
def _small_library(folder: Path, model: FakeModel | None = None) -> Iterator[Library]:
    store = Store.open(folder / "library")
    store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
    models = Models(embedder=FakeEmbedder(), answer=model, vision=model)
    library = Library(store=store, settings=Settings(), models=models)
    try:
        yield library
    finally:
        library.close()


@contextmanager
def questions(folder: Path) -> Iterator[Target]:
    """Question files, and the results of a batch."""
    with _small_library(folder) as library:

        def run(name: str, data: bytes) -> None:
            try:
                parsed = parse_questions(data, name=name)
            except PaperscopeError as error:
                check_error(error)
                return
            good = [one for one in parsed if isinstance(one, Question)][:_ASKED]
            bad = [one for one in parsed if not isinstance(one, Question)][:_BAD_ROWS]
            rows = [*map(ask, good), *(_error_row(one.index, one.text, one.reason) for one in bad)]
            check_rows(rows)

        def ask(question: Question) -> BatchRow:
            try:
                answer = library.ask(question.text, filters=question.filters)
            except PaperscopeError as error:
                check_error(error)
                return _error_row(question.index, question.text, error.public)
            check_answer(answer)
            return BatchRow(
                index=question.index, question=question.text, status=answer.status, answer=answer, gold=question.gold
            )

        yield Target(samples=QUESTIONS, run=run)


def _error_row(index: int, text: str, reason: str) -> BatchRow:
    return BatchRow(index=index, question=text, status="error", error=reason)


@contextmanager
def replies(folder: Path) -> Iterator[Target]:
    """The text of each kind of reply of a model, and whole responses of a model server."""
    given: dict[str, str] = {}
    model = FakeModel(lambda request: given.get(request.schema_name, json.dumps(REPLIES[request.schema_name])))
    stored, picture = small_paper(), png("Owl")
    about: dict[str, Any] = {"title": "", "authors": (), "sha256": "", "file": "p.pdf", "pages": (), "sections": ()}
    pictured = Paper(id="p", elements=(figure(1, picture),), **about)

    def read(kind: str) -> None:
        if kind == "image_description":
            crops = {content_hash(picture): picture}
            reading = ImageCaptioner(model).describe(
                pictured, crops, before=PaperImages(), on_read=lambda _done, _total: None
            )
            asyncio.run(reading)
        elif kind in ("entities", "same_names", "summaries"):
            asyncio.run(extractor_for(model).extract(stored.paper, stored.chunks))
        else:
            check_answer(library.ask("What is the F1 of the tagger in Table 1?"))

    def run(name: str, data: bytes) -> None:
        model.requests.clear()
        given.clear()
        try:
            if name.endswith(".http"):
                sent.append(data)
                asyncio.run(_call(name, endpoint))
            else:
                kind = name.partition(".")[0]
                given[kind] = data.decode("utf-8", "replace")
                read(kind)
        except PaperscopeError as error:
            check_error(error)
            check(KEY not in str(error), "a key in a message")

    texts = [(f"{kind}.json", json.dumps(reply).encode()) for kind, reply in REPLIES.items()]
    with _small_library(folder, model) as library, _raw_server() as (url, sent):
        endpoint = Endpoint(model="m", base_url=url, api_key=SecretStr(KEY), timeout=5.0)
        yield Target(samples=[*texts, *RESPONSES], run=run)


async def _call(name: str, endpoint: Endpoint) -> None:
    request = ModelRequest(messages=(Message(role="user", text="a"),), schema_name="answer")
    if name.startswith("embeddings"):
        await OpenAIEmbedder(endpoint).embed(["a"])
    elif "stream" in name:
        await OpenAIChatModel(endpoint).stream(request, lambda _: None)
    else:
        await OpenAIChatModel(endpoint).complete(request)


@contextmanager
def _raw_server() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server, and a list: it replies to each request with the last bytes in it."""
    sent: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        # Closing the socket ends `accept`.
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.settimeout(2)
                    connection.recv(1 << 20)
                    connection.sendall(sent[-1])
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):
                        pass

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", sent
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


class _Errors(logging.Handler):
    """Collects the errors that are logged with a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.found.append(record.exc_info[1])


@contextmanager
def http(folder: Path) -> Iterator[Target]:
    """Requests to a service in this process, with a model, an embedder and a paper. Jobs are queued and not done."""
    errors = _Errors()
    logging.getLogger().addHandler(errors)
    file = folder / "owl.md"
    file.write_bytes(FILES["owl.md"])
    with ExitStack() as stack:
        stack.callback(logging.getLogger().removeHandler, errors)
        model = stack.enter_context(serve(_reply))
        given = {"answer": {"model": "m", "base_url": model.url}, **embedder_settings(model.url)}
        settings = settings_of(folder / "library", **given, **{"service.question_seconds": 15.0})

        def add() -> str:
            with Library.open(settings.library, settings=settings) as library:
                return library.add(file).paper.id

        paper = add()
        stack.enter_context(patch.object(Supervisor, "start"))
        address = stack.enter_context(serve_app(settings))
        client = stack.enter_context(httpx2.Client(base_url=address, timeout=30))

        def run(_name: str, data: bytes) -> None:
            model.bodies.clear()
            answer = send_raw(address, data)
            _check_response(answer, folder)
            if job := re.search(rb"\r\nlocation: (/v1/jobs/job-\w+)", answer[:2000]):
                check(client.delete(job[1].decode()).status_code == 200, "a job that can't be cancelled")
            check(client.get("/healthz").status_code == 200, "the service is gone")
            if not client.get("/v1/papers").json()["papers"]:
                add()
            # Some are logged after the response.
            while errors.found:
                raise errors.found.pop()

        job = client.post("/v1/batch", json={"questions": ["Which score?"]}).json()["id"]
        yield Target(samples=tuple(request_samples(paper, job)), run=run)


@contextmanager
def lightrag(folder: Path) -> Iterator[Target]:
    """Requests with the key to LightRAG's server on a library, which must stay as it is."""
    file = folder / "owl.md"
    file.write_bytes(FILES["owl.md"])
    key = {"LIGHTRAG_API_KEY": KEY}
    with ExitStack() as stack:
        stack.enter_context(patch.dict("os.environ", key))
        model = stack.enter_context(serve(_reply))
        given = {"answer": {"model": "m", "base_url": model.url}, **embedder_settings(model.url)}
        settings = settings_of(folder / "library", **given)
        library = stack.enter_context(Library.open(settings.library, settings=settings))
        library.add(file)
        inputs = folder / "inputs"
        inputs.mkdir()
        made = library.lightrag_app(host="127.0.0.1", port=9621, inputs=inputs)
        address = stack.enter_context(_served(limit_other_app(made, keyed=True)))
        client = stack.enter_context(httpx2.Client(base_url=address, timeout=30, headers={"X-API-Key": KEY}))

        def state() -> object:
            """What a request could change: the library, and the files in the folder of uploads."""
            return list(library.entries()), sorted(file for file in inputs.rglob("*") if file.is_file())

        before = state()

        def run(_name: str, data: bytes) -> None:
            model.bodies.clear()
            answer = send_raw(address, data)
            check(re.match(rb"HTTP/1\.1 \d\d\d |$", answer), "no response of HTTP")
            check(client.get("/health").status_code == 200, "the server is gone")
            check(str(folder).encode() not in answer, "the folder in a response")
            check(KEY.encode() not in answer, "the key in a response")
            check(state() == before, "a library that was changed")

        yield Target(samples=tuple(lightrag_samples()), run=run)


@contextmanager
def _served(app: Any) -> Iterator[str]:
    """The address of a server of another program's app."""
    config = uvicorn.Config(app, http=Protocol, ws="none", log_level="critical", limit_concurrency=EXTRA_CONNECTIONS)
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            check(thread.is_alive(), "a server that did not start")
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def _reply(body: Body) -> str:
    name = kind_of(body)
    return json.dumps(REPLIES[name]) if name in REPLIES else echo(body)


def _check_response(answer: bytes, folder: Path) -> None:
    """A response, or none to an incomplete request, that is no failure of the service and reveals nothing of it."""
    check(re.match(rb"HTTP/1\.1 \d\d\d |$", answer), "no response of HTTP")
    # 501 is right for an unknown transfer encoding (RFC 9112, 6.1).
    check(not re.match(rb"HTTP/1\.1 5(?!01)", answer), f"status {answer[9:12].decode('ascii', 'replace')}")
    for secret in ("internal-error", "Traceback (most", str(folder)):
        check(secret.encode() not in answer, f"{secret} in a response")


TARGETS: Mapping[str, Callable[[Path], AbstractContextManager[Target]]] = {
    "readers": readers,
    "questions": questions,
    "http": http,
    "lightrag": lightrag,
    "replies": replies,
}
"""Each target by its name: sets it up in an empty folder."""
