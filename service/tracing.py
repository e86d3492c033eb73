"""OpenTelemetry spans for requests, answers and jobs."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode, TracerProvider, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from paperscope import __version__
from paperscope_core.errors import SettingsError

__all__ = ["Tracing", "open_tracing"]


_TRACES = "/v1/traces"
_SEND_SECONDS = 5.0
_EVERY_MILLISECONDS = 2000.0
_KEPT, _SENT_AT_ONCE = 2048, 512


class Tracing:
    """Makes spans, and sends them until it is closed."""

    def __init__(self, provider: TracerProvider, *, close: Callable[[], None]) -> None:
        self._tracer = provider.get_tracer("paperscope", __version__)
        self._close = close

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Callable[[str, int], None]]:
        """A span for a request, a part of its caller's trace (`traceparent`); told the route's template and the status
        before it ends. What is traced meanwhile is below it."""
        caller = TraceContextTextMapPropagator().extract(headers)
        with self._tracer.start_as_current_span(
            method,
            context=caller,
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
        """A span for a work ("answer", "add"), and below it one for each stage that is told, until the next one.

        It is a part of what is traced where it begins; stages may be told from any thread.
        """
        whole = self._tracer.start_span(work)
        under = set_span_in_context(whole)
        current = [whole]

        def on_stage(stage: str) -> None:
            if current[-1] is not whole:
                current.pop().end()
            current.append(self._tracer.start_span(f"{work}: {stage}", context=under))

        try:
            yield on_stage
        except BaseException as error:
            whole.set_attribute("error.type", type(error).__name__)
            raise
        finally:
            for span in reversed(current):
                span.end()

    def close(self, *, within: float) -> None:
        """Send what is left, and stop; where nobody takes it, after so many seconds."""
        # A thread that does not keep the process from ending.
        closing = threading.Thread(target=self._close, daemon=True)
        closing.start()
        closing.join(within)


def open_tracing(endpoint: str) -> Tracing:
    """Traces that go to this address; to an empty one, none do. Raises SettingsError where the extra is missing."""
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
            f"service.otlp_endpoint {endpoint!r} takes the extra `tracing`: pip install 'paperscope[tracing]', or "
            "leave the setting empty"
        ) from error
    session = requests.Session()
    session.trust_env = False
    exporter = OTLPSpanExporter(
        endpoint=endpoint if endpoint.endswith(_TRACES) else endpoint + _TRACES,
        timeout=_SEND_SECONDS,
        compression=Compression.Gzip,
        session=session,
    )
    resource = Resource({"service.name": "paperscope", "service.version": __version__})
    provider = Provider(sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(
            exporter,
            max_queue_size=_KEPT,
            schedule_delay_millis=_EVERY_MILLISECONDS,
            max_export_batch_size=_SENT_AT_ONCE,
        )
    )
    return Tracing(provider, close=provider.shutdown)
