"""Traces are sent to the configured address only, and contain nothing of questions."""

import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from paperscope_core.errors import SettingsError
from service.tracing import open_tracing
from tests.service.http.requests import QUESTION, serve_library

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@dataclass
class Collector:
    """An OTLP receiver: the request bodies and their paths."""

    url: str = ""
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.paths.append(self.path)
            collector.bodies.append(gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # its signature
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@pytest.mark.slow
def test_a_question_is_a_span_with_its_stages_below(
    example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as elsewhere, collecting() as collector:
        for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, elsewhere.url)
        monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
        monkeypatch.setenv("NO_PROXY", "")
        with (
            serve_library(example_library, model=None, **{"service.otlp_endpoint": collector.url}) as address,
            httpx2.Client(trust_env=False, timeout=120) as client,
        ):
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "of=the-caller"}
            client.post(f"{address}/v1/query?key=in-query", json={"question": QUESTION}, headers=headers)
            client.post(f"{address}/v1/query", json={"question": QUESTION, "stream": True})
            client.get(f"{address}/v1/in-path")
    assert elsewhere.paths == []
    assert set(collector.paths) == {"/v1/traces"}
    spans = collector.spans()
    asked = next(span for span in spans if span.parent_span_id.hex() == PARENT)
    assert (asked.name, asked.trace_id.hex()) == ("POST /v1/query", TRACE)
    answer = next(span for span in spans if span.parent_span_id == asked.span_id)
    assert answer.name == "answer"
    stages = [span for span in spans if span.parent_span_id == answer.span_id]
    assert [span.name for span in stages] == ["answer: retrieving", "answer: answering", "answer: verifying"]
    assert all(answer.start_time_unix_nano <= span.start_time_unix_nano for span in stages)
    assert all(span.end_time_unix_nano <= answer.end_time_unix_nano for span in stages)
    assert sum(span.name == "answer: retrieving" for span in spans) == 2
    told = b"".join(collector.bodies)
    for secret in (QUESTION, "LoRA", "in-query", "in-path", "127.0.0.1", "the-caller"):
        assert secret.encode() not in told


@pytest.mark.slow
def test_without_an_address_nothing_is_sent(example_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as elsewhere:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", elsewhere.url)
        monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
        with serve_library(example_library) as address:
            assert httpx2.get(f"{address}/v1/jobs").status_code == 200
    assert elsewhere.paths == []


def test_without_the_extra_the_setting_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http", None)
    with pytest.raises(SettingsError, match=r"http://collector:4318.*pip install 'paperscope\[tracing\]'"):
        open_tracing("http://collector:4318")
