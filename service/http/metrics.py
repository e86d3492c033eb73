"""The request record, the log line and the Prometheus metrics."""

import re
import secrets
import time
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from graph_store import Store
from paperscope import __version__
from paperscope_core.errors import StoreError
from paperscope_core.types import JOB_STATES
from service.http.limits import FairQueue
from service.libraries import ModelUsage
from service.logs import event_log
from service.tracing import Tracing

__all__ = ["Metrics", "ObservingMiddleware", "RequestRecord", "log_request"]


# No underscore: a key of this service never looks like an id.
_REQUEST_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
_CLIENT_CLOSED_REQUEST = 499

_log = event_log("service.requests")


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestRecord:
    """A request that has ended.

    `route` is the template of its path ("" where no route has it), never the path itself; `caller` the id of the key,
    or "local"; `sent` counts the bytes of the response's body; `problem` names the problem that it was told, or the
    type of an error that nobody foresaw, and `where` the folder or address that the problem is about. `status` is 499
    where the client hung up before there was a response.
    """

    method: str
    route: str
    status: int
    seconds: float
    caller: str
    sent: int
    problem: str
    where: str


class ObservingMiddleware:
    """Middleware that tells `observe` of each request, and traces it."""

    def __init__(self, app: ASGIApp, *, observe: Callable[[RequestRecord], None], tracing: Tracing) -> None:
        self._app = app
        self._observe = observe
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request and tell of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        response = _Response(send, request_id=_request_id(headers))
        # It stays bound when the request has ended: the server logs unforeseen errors after that.
        clear_contextvars()
        bind_contextvars(request_id=response.request_id)
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        state = scope.setdefault("state", {})
        began = time.perf_counter()
        with self._tracing.request(method, headers) as trace:
            try:
                await self._app(scope, receive, response.send)
            except BaseException as error:
                state.setdefault("problem", type(error).__name__)
                raise
            finally:
                seen = RequestRecord(
                    method=method,
                    route=str(getattr(scope.get("route"), "path", "")),
                    status=response.status or _CLIENT_CLOSED_REQUEST,
                    seconds=time.perf_counter() - began,
                    caller=str(state.get("caller_name", "")),
                    sent=response.sent,
                    problem=str(state.get("problem", "")),
                    where=str(state.get("where", "")),
                )
                trace(seen.route, seen.status)
                self._observe(seen)


class _Response:
    """The response on its way: its status, how much of it was sent."""

    def __init__(self, send: Send, *, request_id: str) -> None:
        self._send = send
        self.request_id = request_id
        self.status = 0
        self.sent = 0

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = self.request_id
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
        await self._send(message)


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(16)


def log_request(seen: RequestRecord) -> None:
    """Write a request into the log; those who only look whether the service lives are left out."""
    if seen.route in _PROBES and seen.status < 400:
        return
    fields = {"method": seen.method, "route": seen.route, "status": seen.status, "seconds": round(seen.seconds, 4)}
    more = {"caller": seen.caller, "bytes": seen.sent, "problem": seen.problem, "where": seen.where}
    tell = _log.error if seen.status >= 500 else _log.info
    tell("request", **fields, **{name: value for name, value in more.items() if value})


_LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


class Metrics:
    """The service's own numbers, in a registry of their own. `folders` tells the libraries' folders."""

    def __init__(self, *, gate: FairQueue, folders: Callable[[], Collection[Path]]) -> None:
        self._registry = registry = CollectorRegistry()
        route = ("method", "route")
        self._requests = Counter(
            "paperscope_http_requests", "Requests that have ended.", (*route, "status"), registry=registry
        )
        self._seconds = Histogram(
            "paperscope_http_request_seconds",
            "How long requests took.",
            route,
            buckets=_LATENCY_BUCKETS,
            registry=registry,
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
        registry.register(_JobCollector(folders))

    def _gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        Gauge(name, about, registry=self._registry).set_function(value)

    def observe(self, seen: RequestRecord) -> None:
        """Count a request."""
        route = seen.route or "unknown"
        self._requests.labels(seen.method, route, str(seen.status)).inc()
        self._seconds.labels(seen.method, route).observe(seen.seconds)
        if seen.status == 429:
            self._refused.labels(seen.problem).inc()

    def spend(self, spent: ModelUsage) -> None:
        """Count a model's call, from any thread."""
        spender, usage = (spent.work, spent.role), spent.call.usage
        self._calls.labels(*spender, spent.call.outcome).inc()
        self._tokens.labels(*spender, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(*spender, "completion").inc(usage.completion_tokens)
        self._cost.labels(*spender).inc(usage.cost)

    def text(self) -> bytes:
        """All numbers, in Prometheus' text form. Reads the libraries."""
        return generate_latest(self._registry)


class _JobCollector(Collector):
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
