"""A client of a service that may be killed under it: it asks again until it is answered and notes what was taken."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.service.work import ServiceProcess, paper, upload

__all__ = ["Client", "ended", "job"]

_PAUSE = 0.3
_ROWS = 4
_PARTS = 4
_BUSY = 6
_ENDED = ("succeeded", "failed", "cancelled")


@dataclass
class Client(threading.Thread):
    """Adds papers, asks, and hands over batches, one after another, until `stop`.

    `papers` are the jobs of papers that were accepted, `batches` those of batches with their questions, `answered` how
    many questions were answered at once, `cut` how many requests broke off, `refused` what else came back.
    """

    service: ServiceProcess
    papers: list[str] = field(default_factory=list)
    batches: dict[str, list[str]] = field(default_factory=dict)
    answered: int = 0
    cut: int = 0
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._stopping = threading.Event()

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        """Go on until it is stopped."""
        number = 0
        while not self._stopping.is_set():
            for step in (self._add, self._query, self._batch, self._stream):
                self._until_answered(step, number)
                number += 1
            self._stopping.wait(_PAUSE)

    def stop(self) -> None:
        """Let it end after what it is doing."""
        self._stopping.set()
        self.join(60)

    def accepted(self) -> list[str]:
        """The jobs that were accepted."""
        return [*self.papers, *self.batches]

    def _until_answered(self, step: Any, number: int) -> None:
        tries = 0
        while not self._stopping.is_set():
            try:
                if self._is_busy():
                    time.sleep(_PAUSE)
                    continue
                step(number, tries)
            except httpx2.TransportError:
                self.cut += 1
                tries += 1
                time.sleep(0.05)
            else:
                return

    def _is_busy(self) -> bool:
        """Whether so much waits that nothing should be added."""
        jobs = httpx2.get(f"{self.service.address}/v1/jobs", timeout=60).json()
        return sum(job["state"] not in _ENDED for job in jobs) >= _BUSY

    def _add(self, number: int, _tries: int) -> None:
        response = upload(self.service.address, paper(_PARTS, f"Tagger{number}"), f"paper-{number}.md")
        if job_id := self._accepted(response):
            self.papers.append(job_id)

    def _batch(self, number: int, tries: int) -> None:
        # A try of its own questions: those of one that was not acknowledged may be answered as well.
        questions = [f"What is part {row} of try {tries} in file {number} about?" for row in range(_ROWS)]
        response = httpx2.post(f"{self.service.address}/v1/batch", json={"questions": questions}, timeout=60)
        if job_id := self._accepted(response):
            self.batches[job_id] = questions

    def _query(self, number: int, _tries: int) -> None:
        body = {"question": f"Which Corpus does Tagger{number - 1} have?"}
        self._asked(httpx2.post(f"{self.service.address}/v1/query", json=body, timeout=60), "text")

    def _stream(self, number: int, _tries: int) -> None:
        body = {"question": f"Which part names Tagger{number - 3}?", "stream": True}
        self._asked(httpx2.post(f"{self.service.address}/v1/query", json=body, timeout=60), "event: done")

    def _asked(self, response: httpx2.Response, sign: str) -> None:
        if response.status_code == 200 and sign in response.text:
            self.answered += 1
        else:
            self.refused.append(response.text)

    def _accepted(self, response: httpx2.Response) -> str:
        if response.status_code == 202:
            return str(response.json()["id"])
        self.refused.append(response.text)
        return ""


def job(address: str, name: str, *, wait: float = 0.0) -> Mapping[str, Any]:
    """A job as the service shows it, maybe after waiting for its end."""
    found: Mapping[str, Any] = httpx2.get(f"{address}/v1/jobs/{name}", params={"wait": wait}, timeout=90).json()
    return found


def ended(address: str, name: str) -> bool:
    """Whether a job has ended; waits for it for a while."""
    return job(address, name, wait=30)["state"] in _ENDED
