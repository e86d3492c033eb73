"""OpenTelemetry traces: a span for each request, each stage of an answer and each stage of a job.

Spans hold times, route templates, statuses and stages, but no question, no path and no text of a paper. They are sent
by OTLP over HTTP to `service.otlp_endpoint` and nowhere else, whatever OTEL_* says in the environment, without proxies
and redirects.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode, TracerProvider, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from paperscope import __version__
from paperscope_core.errors import SettingsError

__all__ = ["Tracing", "open_tracing"]

_TRACES_PATH = "/v1/traces"
_TRACE_PARENT = "traceparent"
_EXPORT_TIMEOUT_SECONDS = 5.0
# Short, so that a restart loses little; OpenTelemetry's own default is 5 s, the sizes are its defaults.
_EXPORT_INTERVAL_MILLISECONDS = 2000.0
_MAX_QUEUED_SPANS = 2048
_MAX_EXPORTED_SPANS = 512


class Tracing:
    """Creates spans and exports them until it is closed."""

    def __init__(self, provider: TracerProvider, *, close: Callable[[], None]) -> None:
        self._tracer = provider.get_tracer("paperscope", __version__)
        self._close = close

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Callable[[str, int], None]]:
        """Begin a span for a request, which continues the caller's trace (`traceparent`).

        Yields a function that takes the route template and the status before the span ends.
        """
        with self._tracer.start_as_current_span(
            method,
            # Without `tracestate`, which is the caller's text.
            context=TraceContextTextMapPropagator().extract({_TRACE_PARENT: headers.get(_TRACE_PARENT, "")}),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:

            def end(route: str, status: int) -> None:
                span.update_name(f"{method} {route}".strip())
                span.set_attributes({"http.route": route, "http.response.status_code": status})
                if status >= 500:
                    span.set_status(StatusCode.ERROR)

            yield end

    @contextmanager
    def stages(self, work: str) -> Iterator[Callable[[str], None]]:
        """Begin a span for some work ("answer", "add"), a child of the current span.

        Yields a function that starts a child span for a stage and ends that of the stage before. It may be called from
        any thread.
        """
        parent = self._tracer.start_span(work)
        context = set_span_in_context(parent)
        spans = [parent]

        def on_stage(stage: str) -> None:
            if spans[-1] is not parent:
                spans.pop().end()
            spans.append(self._tracer.start_span(f"{work}: {stage}", context=context))

        try:
            yield on_stage
        except BaseException as error:
            parent.set_attribute("error.type", type(error).__name__)
            raise
        finally:
            for span in reversed(spans):
                span.end()

    def close(self, *, timeout: float) -> None:
        """Export the remaining spans and stops; gives up after `timeout` seconds."""
        # A daemon thread, so that a collector that never replies does not keep the process alive.
        closing = threading.Thread(target=self._close, daemon=True)
        closing.start()
        closing.join(timeout)


def open_tracing(endpoint: str) -> Tracing:
    """Return traces that are exported to `endpoint`, or nowhere if it is empty.

    Raises SettingsError if the extra `tracing` is not installed.
    """
    if not endpoint:
        return Tracing(NoOpTracerProvider(), close=lambda: None)
    try:
        import requests
        from opentelemetry.exporter.otlp.proto.http import Compression
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider as Provider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON
    except ImportError as error:
        raise SettingsError(
            f"service.otlp_endpoint {endpoint!r} needs the extra `tracing`: pip install 'paperscope[tracing]', or "
            "leave the setting empty"
        ) from error
    session = requests.Session()
    session.trust_env = False
    exporter = OTLPSpanExporter(
        endpoint=endpoint if endpoint.endswith(_TRACES_PATH) else endpoint + _TRACES_PATH,
        timeout=_EXPORT_TIMEOUT_SECONDS,
        compression=Compression.Gzip,
        session=session,
    )
    resource = Resource({"service.name": "paperscope", "service.version": __version__})
    provider = Provider(sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(
            exporter,
            max_queue_size=_MAX_QUEUED_SPANS,
            schedule_delay_millis=_EXPORT_INTERVAL_MILLISECONDS,
            max_export_batch_size=_MAX_EXPORTED_SPANS,
        )
    )
    return Tracing(provider, close=provider.shutdown)
