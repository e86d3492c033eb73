"""A part of the internet on this machine: documents by host and path, and which were asked for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

# As https://www.crossref.org/documentation/retrieve-metadata/rest-api/ describes works.
CROSSREF = {
    "DOI": "10.1371/journal.pbio.1000053",
    "type": "journal-article",
    "title": ["Darwin&#8217;s <i>Legacy</i> in Owls"],
    "author": [
        {"given": "Ludwig", "family": "van der Berg", "sequence": "first", "affiliation": []},
        {"given": "Jörg", "family": "Müller", "sequence": "additional", "affiliation": []},
    ],
    "container-title": ["PLoS Biology"],
    "issued": {"date-parts": [[2009, 3, 31]]},
    "volume": "7",
    "issue": "3",
    "page": "e1000053",
    "publisher": "Public Library of Science (PLoS)",
}
# As Crossref's tutorial on Retraction Watch shows it.
RETRACTION = [
    {"type": "correction", "DOI": "10.5555/correction", "updated": {"date-parts": [[2010, 1, 2]]}},
    {"type": "retraction", "DOI": "10.5555/notice", "updated": {"date-parts": [[2011, 2, 6]]}},
]
# As https://info.arxiv.org/help/api/user-manual.html shows an entry.
ARXIV = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="html">ArXiv Query</title>
  <entry>
    <id>http://arxiv.org/abs/2401.18059v1</id>
    <published>2024-01-31T18:30:21Z</published>
    <title>Owls: Recursive Abstractive
  Processing</title>
    <author><name>Parth Sarthi</name></author>
    <author><name>Anna Goldie</name></author>
    <arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom">Journal of Owls 7 (2024)</arxiv:journal_ref>
  </entry>
</feed>
"""
ARXIV_NONE = ARXIV[: ARXIV.index("  <entry>")] + "</feed>"


def unpaywall(*pdfs: str | None) -> dict[str, object]:
    """What https://unpaywall.org/data-format describes."""
    places = [{"url": pdf or "https://publisher.example/page", "url_for_pdf": pdf} for pdf in pdfs]
    return {"is_oa": bool(places), "best_oa_location": next(iter(places), None), "oa_locations": places}


@dataclass(kw_only=True)
class Web:
    """Documents by address without the scheme and the query: JSON, text, bytes, a status, or ("to", address)."""

    origin: str = ""
    documents: dict[str, object] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def put_crossref(self, doi: str = "10.1371/journal.pbio.1000053", **changed: object) -> None:
        work = {**CROSSREF, "DOI": doi, **{name.replace("_", "-"): value for name, value in changed.items()}}
        self.documents[f"api.crossref.org/works/{doi.replace('/', '%2F')}"] = {"status": "ok", "message": work}


@contextmanager
def serve_web() -> Iterator[Web]:
    """Serve documents of any host; connect to `origin`."""
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append(f"{self.headers['Host']}{self.path}")
            document = web.documents.get(f"{self.headers['Host']}{urlsplit(self.path).path}", 404)
            content = document if isinstance(document, bytes) else b""
            if isinstance(document, str):
                content = document.encode()
            elif isinstance(document, dict | list):
                content = json.dumps(document).encode()
            if isinstance(document, tuple):
                self.send_response(302)
                self.send_header("Location", document[1])
            else:
                self.send_response(document if isinstance(document, int) else 200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.origin = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
