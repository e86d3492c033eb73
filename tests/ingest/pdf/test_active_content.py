"""Active content of a PDF is never followed: nothing is fetched, run, opened or written."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from ingest.pdf import PdfParser
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope_core.types import PaperFile

LEAK = b"BT /helv 12 Tf 72 200 Td (LEAKED) Tj ET"


class Listener:
    """A server on this machine that keeps what it was asked for, and answers with a page's content."""

    def __init__(self) -> None:
        seen: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                seen.append(f"{self.command} {self.path}")
                self.send_response(200)
                self.end_headers()
                self.wfile.write(LEAK)

            do_GET = do_POST = do_HEAD = _answer  # noqa: N815

        self.seen = seen
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    thread = threading.Thread(target=listener.server.serve_forever, daemon=True)
    thread.start()
    yield listener
    listener.server.shutdown()
    listener.server.server_close()


class Active:
    """A page with every kind of action, on opening, on showing, in links and in a form, and content kept elsewhere."""

    def __init__(self, folder: Path, *, address: str) -> None:
        self.made, self.secret, self.address = folder / "made", folder / "secret.pdf", address
        self.document: Any = pymupdf.open()
        self.page = self.document.new_page()
        self.page.insert_text((72, 100), "A page with active content")
        self._links()
        self._actions()
        self._content_elsewhere()

    def _links(self) -> None:
        at = pymupdf.Rect(70, 90, 200, 110)
        self.page.insert_link({"kind": pymupdf.LINK_URI, "from": at, "uri": f"{self.address}/link"})
        self.page.insert_link({"kind": pymupdf.LINK_LAUNCH, "from": at, "file": str(self.made)})
        self.page.insert_link({"kind": pymupdf.LINK_GOTOR, "from": at, "file": str(self.secret), "page": 0})

    def _actions(self) -> None:
        self.document.embfile_add("payload.sh", f"touch {self.made}".encode())
        script = f"app.launchURL('{self.address}/script', true); this.exportDataObject({{cName: 'payload.sh'}});"
        actions = [
            self._add(f"<</S/JavaScript/JS({script})>>"),
            self._add(f"<</S/URI/URI({self.address}/open)>>"),
            self._add(f"<</S/SubmitForm/F<</FS/URL/F({self.address}/form)>>>>"),
            self._add(f"<</S/ImportData/F({self.secret})>>"),
            self._add(f"<</S/Launch/F({self.made})/Unix<</F(/usr/bin/touch)/P({self.made})>>>>"),
        ]
        first = self._add(f"<</S/JavaScript/JS(1)/Next[{' '.join(actions)}]>>")
        catalog = self.document.pdf_catalog()
        self.document.xref_set_key(catalog, "OpenAction", first)
        self.document.xref_set_key(catalog, "AA", f"<</WC {first}/DS {first}>>")
        self.document.xref_set_key(catalog, "Names/JavaScript", f"<</Names[(run) {first}]>>")
        self.document.xref_set_key(self.page.xref, "AA", f"<</O {first}/C {first}>>")

    def _content_elsewhere(self) -> None:
        own = self.document.xref_get_key(self.page.xref, "Contents")[1].strip("[]")
        far = [
            self._add(f"<</F({self.secret.with_suffix('.txt')})>>", stream=b" "),
            self._add(f"<</F<</FS/URL/F({self.address}/stream)>>>>", stream=b" "),
        ]
        form = f"<</Type/XObject/Subtype/Form/BBox[0 0 612 792]/Ref<</F({self.secret})/Page 0>>>>"
        resources = int(self.document.xref_get_key(self.page.xref, "Resources")[1].split()[0])
        self.document.xref_set_key(resources, "XObject", f"<</Far {self._add(form, stream=b' ')}>>")
        shown = self._add("<<>>", stream=b"/Far Do")
        self.document.xref_set_key(self.page.xref, "Contents", f"[{own} {shown} {' '.join(far)}]")

    def _add(self, text: str, *, stream: bytes | None = None) -> str:
        xref = self.document.get_new_xref()
        self.document.update_object(xref, text)
        if stream is not None:
            self.document.update_stream(xref, stream, new=True, compress=False)
        return f"{xref} 0 R"


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [False, True])
def test_active_content_is_not_followed(isolated: bool, tmp_path: Path, listener: Listener) -> None:
    secret = pymupdf.open()
    secret.new_page().insert_text((72, 200), "LEAKED")
    (tmp_path / "secret.pdf").write_bytes(secret.tobytes())
    (tmp_path / "secret.txt").write_bytes(LEAK)
    file = tmp_path / "active.pdf"
    file.write_bytes(Active(tmp_path, address=listener.address).document.tobytes())
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    plain = PdfParser(dpi=72)
    parser = IsolatedParser(plain, seconds=60, memory_mb=2000) if isolated else plain
    paper = parser.parse(PaperFile(file)).paper
    assert [element.text for element in paper.elements if element.kind == "passage"] == ["A page with active content"]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert listener.seen == []
