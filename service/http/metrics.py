"""Prometheus metrics: numbers only, nothing of papers, questions, libraries or keys.

The processes of one service write their numbers to files in a common folder (see `share_numbers`), and each of them
reports the sums, and the memory and processor time of its own. The numbers of a service with one process are in its
memory.
"""

import os
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
    values,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from graph_store import Store
from graph_store.job_queue import JOB_STATES
from paperscope import __version__
from paperscope_core.errors import StoreError
from paperscope_core.locations import Location
from service.libraries import ModelUsage

__all__ = ["Metrics", "RequestRecord", "share_numbers"]

_FILES_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"

# From the milliseconds of a lookup to the minutes of an answer with many images.
_LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestRecord:
    """A finished request.

    Attributes:
        route: The template of its path, never the path itself; "" if no route matches.
        status: 499 if the client disconnected before there was a response.
        caller: The id of the API key, or "local".
        sent: The bytes of the response's body.
        problem: The kind of the problem in the response, or the type of an unexpected error.
        where: The folder or address that the problem is about.
    """

    method: str
    route: str
    status: int
    seconds: float
    caller: str
    sent: int
    problem: str
    where: str


class Metrics:
    """The metrics of one service, in a separate registry.

    Args:
        folders: Returns the places of all libraries, whose jobs are counted.
    """

    def __init__(self, *, folders: Callable[[], Collection[Location]]) -> None:
        registry = CollectorRegistry()
        counter, gauge = (
            partial(Counter, registry=registry),
            partial(Gauge, registry=registry, multiprocess_mode="livesum"),
        )
        route, work = ("method", "route"), ("work", "role")
        self._requests = counter("paperscope_http_requests", "Finished requests.", (*route, "status"))
        self._seconds = Histogram(
            "paperscope_http_request_seconds",
            "Duration of requests.",
            route,
            buckets=_LATENCY_BUCKETS,
            registry=registry,
        )
        self._refused = counter("paperscope_http_refused", "Requests refused as one too many (429).", ("reason",))
        calls = "Model calls, each retry and each cached reply included."
        self._calls = counter("paperscope_model_calls", calls, (*work, "outcome"))
        self._tokens = counter("paperscope_model_tokens", "Tokens of model calls.", (*work, "kind"))
        cost = "Cost of model calls, in the currency of the price settings."
        self._cost = counter("paperscope_model_cost", cost, work)
        self._running = gauge("paperscope_questions_running", "Questions being answered.")
        self._waiting = gauge("paperscope_questions_waiting", "Questions in the queue.")
        files = os.environ.get(_FILES_VARIABLE)
        # The numbers in files have no registry but the one that reads them.
        self._registry = CollectorRegistry() if files else registry
        self._files = Path(files) if files else None
        ProcessCollector(registry=self._registry)
        if files:
            MultiProcessCollector(self._registry, path=files)  # type: ignore[no-untyped-call]
        Info("paperscope", "The running version.", registry=self._registry).info({"version": __version__})
        self._registry.register(_JobCollector(folders))

    def set_questions(self, running: int, waiting: int) -> None:
        """Set how many questions are being answered in this process, and how many wait."""
        self._running.set(running)
        self._waiting.set(waiting)

    def count_request(self, record: RequestRecord) -> None:
        """Count a finished request."""
        route = record.route or "unknown"
        self._requests.labels(record.method, route, str(record.status)).inc()
        self._seconds.labels(record.method, route).observe(record.seconds)
        if record.status == 429:
            self._refused.labels(record.problem).inc()

    def count_usage(self, usage: ModelUsage) -> None:
        """Count a model call, from any thread."""
        work, spent = (usage.work, usage.role), usage.call.usage
        self._calls.labels(*work, usage.call.outcome).inc()
        self._tokens.labels(*work, "prompt").inc(spent.prompt_tokens)
        self._tokens.labels(*work, "completion").inc(spent.completion_tokens)
        self._cost.labels(*work).inc(spent.cost)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format; reads the libraries' job queues."""
        if self._files is not None:
            _forget_ended_processes(self._files)
        return generate_latest(self._registry)


def share_numbers(folder: Path) -> None:
    """Let the metrics of this process, and of those that it starts, be files in a folder.

    Must be called before a metric is made.
    """
    os.environ[_FILES_VARIABLE] = str(folder)
    # prometheus_client has chosen when it was imported.
    values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]


def _forget_ended_processes(files: Path) -> None:
    """Keep only the counts of processes that wrote to a folder and have ended."""
    for file in files.glob("gauge_livesum_*.db"):
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            # Another process may have done so.
            with suppress(FileNotFoundError):
                mark_process_dead(process, str(files))  # type: ignore[no-untyped-call]


class _JobCollector(Collector):
    """Counts the jobs of all libraries by state at each scrape."""

    def __init__(self, folders: Callable[[], Collection[Location]]) -> None:
        self._folders = folders

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the current counts."""
        jobs: Tally[str] = Tally()
        libraries = {"read": 0, "unread": 0}
        for folder in self._folders():
            try:
                with closing(Store.open(folder, read_only=True)) as store:
                    jobs.update(store.jobs.counts())
                libraries["read"] += 1
            except StoreError:
                libraries["unread"] += 1
        for name, about, counts in (
            ("paperscope_jobs", "Jobs by state.", {state: jobs[state] for state in JOB_STATES}),
            ("paperscope_libraries", "Libraries, by whether they could be read.", libraries),
        ):
            family = GaugeMetricFamily(name, about, labels=("state",))
            for state, count in counts.items():
                family.add_metric((state,), count)
            yield family
