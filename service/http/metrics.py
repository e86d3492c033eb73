"""What the service tells Prometheus: numbers only, nothing of papers, questions, libraries or keys."""

from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from graph_store import Store
from paperscope import __version__
from paperscope.errors import StoreError
from paperscope.types import JOB_STATES
from service.http.gate import Gate
from service.http.observing import Seen
from service.spending import Spent

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


class Metrics:
    """The service's own numbers, in a registry of their own. `folders` tells the libraries' folders."""

    def __init__(self, *, gate: Gate, folders: Callable[[], Collection[Path]]) -> None:
        self._registry = registry = CollectorRegistry()
        route = ("method", "route")
        self._requests = Counter(
            "paperscope_http_requests", "Requests that have ended.", (*route, "status"), registry=registry
        )
        self._seconds = Histogram(
            "paperscope_http_request_seconds", "How long requests took.", route, buckets=_SECONDS, registry=registry
        )
        self._refused = Counter(
            "paperscope_http_refused", "Requests that were one too many (429).", ("reason",), registry=registry
        )
        spender = ("work", "role")
        self._calls = Counter(
            "paperscope_model_calls",
            "Calls of models, each try by itself, and replies that were kept.",
            (*spender, "outcome"),
            registry=registry,
        )
        self._tokens = Counter(
            "paperscope_model_tokens", "Tokens of these calls.", (*spender, "kind"), registry=registry
        )
        self._cost = Counter(
            "paperscope_model_cost",
            "Cost of these calls, in the currency of the price settings.",
            spender,
            registry=registry,
        )
        self._gauge("paperscope_questions_running", "Questions being answered.", lambda: gate.running)
        self._gauge("paperscope_questions_waiting", "Questions that wait for their turn.", lambda: gate.waiting)
        Info("paperscope", "The version that runs.", registry=registry).info({"version": __version__})
        ProcessCollector(registry=registry)
        registry.register(_Jobs(folders))

    def _gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        Gauge(name, about, registry=self._registry).set_function(value)

    def observe(self, seen: Seen) -> None:
        """Count a request."""
        route = seen.route or "unknown"
        self._requests.labels(seen.method, route, str(seen.status)).inc()
        self._seconds.labels(seen.method, route).observe(seen.seconds)
        if seen.status == 429:
            self._refused.labels(seen.problem).inc()

    def spend(self, spent: Spent) -> None:
        """Count a model's call, from any thread."""
        spender, usage = (spent.work, spent.role), spent.call.usage
        self._calls.labels(*spender, spent.call.outcome).inc()
        self._tokens.labels(*spender, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(*spender, "completion").inc(usage.completion_tokens)
        self._cost.labels(*spender).inc(usage.cost)

    def text(self) -> bytes:
        """All numbers, in Prometheus' text form. Reads the libraries."""
        return generate_latest(self._registry)


class _Jobs(Collector):
    """How many jobs are in each state, over all libraries, counted when it is asked."""

    def __init__(self, folders: Callable[[], Collection[Path]]) -> None:
        self._folders = folders

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """What `collect` will tell, without looking."""
        yield GaugeMetricFamily("paperscope_jobs", "Jobs by state.")
        yield GaugeMetricFamily("paperscope_libraries", "Libraries, by whether they could be read.")

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Look."""
        jobs: Tally[str] = Tally()
        libraries: Tally[str] = Tally({"read": 0, "unread": 0})
        for folder in self._folders():
            try:
                store = Store.open(folder, read_only=True)
                try:
                    jobs.update(store.jobs.counts())
                finally:
                    store.close()
                libraries["read"] += 1
            except StoreError:
                libraries["unread"] += 1
        yield _family("paperscope_jobs", "Jobs by state.", "state", {state: jobs[state] for state in JOB_STATES})
        yield _family("paperscope_libraries", "Libraries, by whether they could be read.", "state", libraries)


def _family(name: str, about: str, label: str, counts: dict[str, int] | Tally[str]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=(label,))
    for value, count in counts.items():
        family.add_metric((value,), count)
    return family
