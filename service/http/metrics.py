"""Prometheus metrics: numbers only, nothing of papers, questions, libraries or keys."""

from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from graph_store import Store
from paperscope import __version__
from paperscope_core.errors import StoreError
from paperscope_core.locations import Location
from paperscope_core.types import JOB_STATES
from service.http.limits import FairQueue
from service.libraries import ModelUsage

__all__ = ["Metrics", "RequestRecord"]

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
        queue: The queue of questions.
        folders: Returns the places of all libraries, whose jobs are counted.
    """

    def __init__(self, *, queue: FairQueue, folders: Callable[[], Collection[Location]]) -> None:
        self._registry = registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
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
        running = gauge("paperscope_questions_running", "Questions being answered.")
        running.set_function(lambda: queue.running)
        waiting = gauge("paperscope_questions_waiting", "Questions in the queue.")
        waiting.set_function(lambda: queue.waiting)
        Info("paperscope", "The running version.", registry=registry).info({"version": __version__})
        ProcessCollector(registry=registry)
        registry.register(_JobCollector(folders))

    def count_request(self, record: RequestRecord) -> None:
        """Counts a finished request."""
        route = record.route or "unknown"
        self._requests.labels(record.method, route, str(record.status)).inc()
        self._seconds.labels(record.method, route).observe(record.seconds)
        if record.status == 429:
            self._refused.labels(record.problem).inc()

    def count_usage(self, usage: ModelUsage) -> None:
        """Counts a model call, from any thread."""
        work, spent = (usage.work, usage.role), usage.call.usage
        self._calls.labels(*work, usage.call.outcome).inc()
        self._tokens.labels(*work, "prompt").inc(spent.prompt_tokens)
        self._tokens.labels(*work, "completion").inc(spent.completion_tokens)
        self._cost.labels(*work).inc(spent.cost)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format; reads the libraries' job queues."""
        return generate_latest(self._registry)


class _JobCollector(Collector):
    """Counts the jobs of all libraries by state at each scrape."""

    def __init__(self, folders: Callable[[], Collection[Location]]) -> None:
        self._folders = folders

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The current counts."""
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
