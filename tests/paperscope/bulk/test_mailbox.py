"""Calls of workers to the library's process, with threads in place of Ray's processes."""

import asyncio
import pickle
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from paperscope.adding import Stage
from paperscope.bulk.adder import BulkReport
from paperscope.bulk.mailbox import Mailbox, RemoteEmbedder, RemoteModel, RemoteStore, Sender
from paperscope.bulk.paper_worker import without_secrets
from paperscope.event_loop import EventLoopThread
from paperscope.sources import PaperSource
from paperscope_core.errors import PaperFileError, StoreFullError
from paperscope_core.settings import load_settings
from paperscope_core.types import Message, ModelReply, ModelRequest

REQUEST = ModelRequest(messages=(Message(role="user", text="Hello"),))


class _Actor:
    """An actor's handle whose methods run on a thread's event loop."""

    def __init__(self, loop: EventLoopThread, mailbox: Mailbox) -> None:
        self.ask = self
        self._loop = loop
        self._mailbox = mailbox

    def remote(self, data: bytes) -> Any:
        future, _ = self._loop._start(self._mailbox.ask(data))
        return _Reference(future)


class _Reference:
    def __init__(self, future: "Future[bytes]") -> None:
        self.future = future

    def __await__(self) -> Any:
        return asyncio.wrap_future(self.future).__await__()


class _Ray:
    @staticmethod
    def get(reference: _Reference) -> bytes:
        return reference.future.result()


async def _answer_all(mailbox: Mailbox, seen: list[Any]) -> None:
    """Answers as a library's process might."""
    while True:
        for number, data in await mailbox.take():
            call = pickle.loads(data)  # noqa: S301
            seen.append(call)
            result: object = None
            match call.method:
                case "check_room":
                    result = StoreFullError("the disk is full")
                case "complete":
                    result = ModelReply(text="Yes.")
                case "embed":
                    result = np.ones((len(call.arguments[0]), 2), dtype=np.float32)
                case "redacted":
                    result = "masked"
            await mailbox.answer(number, pickle.dumps(result))


def test_calls_reach_the_library_and_their_results_the_worker() -> None:
    loop, mailbox, seen = EventLoopThread(), Mailbox(), list[Any]()
    loop._start(_answer_all(mailbox, seen))
    sender = Sender(_Ray, _Actor(loop, mailbox))
    sender.work = 3
    store = RemoteStore(sender)
    assert store.entry_by_source("/a.pdf") is None
    with pytest.raises(StoreFullError, match="the disk is full"):
        store.check_room()
    model = RemoteModel(sender, role="extract", name="m", concurrency=1)

    async def ask_twice() -> list[ModelReply]:
        return list(await asyncio.gather(model.complete(REQUEST), model.complete(REQUEST)))

    assert [reply.text for reply in asyncio.run(ask_twice())] == ["Yes.", "Yes."]
    assert [reply.text for reply in asyncio.run(ask_twice())] == ["Yes.", "Yes."]
    assert model.redacted("secret") == "masked"
    vectors = asyncio.run(RemoteEmbedder(name="e", sender=sender).embed(["a", "b", "c"]))
    assert vectors.shape == (3, 2)
    sender.report(Stage(name="parsing", done=1, total=2))
    loop.close()
    assert {(call.target, call.work) for call in seen} >= {("store", 3), ("extract", 3), ("embed", 3)}


def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    asyncio.run(Mailbox().answer(7, b""))


def test_workers_get_no_secrets() -> None:
    address = "postgresql://ann:s3cret@host/papers?files=/srv"
    environ = {"PAPERSCOPE_MODEL": "m", "PAPERSCOPE_BASE_URL": "http://host/v1", "PAPERSCOPE_API_KEY": "k3y"}
    settings = load_settings(environ=environ, overrides={"library": address, "limits.max_pages": 7})
    assert b"k3y" in pickle.dumps(settings)
    given = pickle.dumps(without_secrets(settings))
    assert b"k3y" not in given
    assert b"s3cret" not in given
    copy = pickle.loads(given)  # noqa: S301
    assert copy.limits.max_pages == 7
    assert copy.extract.configured


def test_the_report_counts_what_was_done() -> None:
    report = BulkReport(seconds=30.0)
    report.outcomes.update(["added", "added", "unchanged", "replaced"])
    report.pages = 12
    report.note(PaperSource(address="/a.pdf"), PaperFileError("a.pdf is empty"))
    assert report.failed == {"/a.pdf": "a.pdf is empty"}
    assert (report.papers_per_minute, report.pages_per_minute) == (6.0, 24.0)
    assert BulkReport().papers_per_minute == 0.0
