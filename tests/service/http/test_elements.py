"""The routes for a paper's elements and for tables as JSON, CSV and HTML."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from markupsafe import escape

from graph_store import Store
from paperscope_core.codec import from_json
from paperscope_core.types import IndexedPaper, Passage, Table, content_hash
from tests.html_checker import check_html
from tests.service.conftest import PAPER, PNG, settings_of, small_paper
from tests.service.servers import serve_app

EXAMPLE = "b1810c2e3f4a"
SCRIPT = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
FORMULA = '=HYPERLINK("http://evil.example","more")'


def hostile_paper() -> IndexedPaper:
    """The small paper, with scripts in all its texts and formulas in its cells."""
    indexed = small_paper()
    passage, table = indexed.paper.elements
    assert isinstance(passage, Passage)
    assert isinstance(table, Table)
    texts = (SCRIPT, FORMULA, "-0.5", "@SUM(1)|cmd")
    cells = tuple(replace(cell, text=text) for cell, text in zip(table.cells, texts, strict=True))
    elements = (
        replace(passage, text=SCRIPT),
        replace(table, label=f"Table {SCRIPT}", caption=f"Caption {SCRIPT}\x00\x1b[31m", cells=cells),
    )
    paper = replace(
        indexed.paper, title=f"Title {SCRIPT}", file='a"\r\nSet-Cookie: a=b\u202efdp.exe;x=é.pdf', elements=elements
    )
    return replace(indexed, paper=paper)


def parts_of(page: str) -> tuple[str, str]:
    """A page's head and body."""
    head, _, rest = page.partition("<body>")
    return head, rest.partition("</body>")[0]


@pytest.fixture(scope="module")
def address(example_library: Path) -> Iterator[str]:
    with serve_app(settings_of(example_library)) as address:
        yield f"{address}/v1/papers/{EXAMPLE}"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hostile")
    source = folder / "paper.pdf"
    source.write_bytes(b"%PDF-1.7 nothing")
    indexed = hostile_paper()
    indexed = replace(indexed, paper=replace(indexed.paper, sha256=content_hash(source.read_bytes())))
    store = Store.open(folder / "library")
    store.add(indexed, crops={content_hash(PNG): PNG}, source=str(source), embedder="fake-64")
    store.close()
    with serve_app(settings_of(folder / "library")) as address:
        yield f"{address}/v1/papers/{PAPER}"


def test_elements_come_in_parts_and_by_kind_role_and_page(address: str) -> None:
    whole = httpx2.get(f"{address}/elements?limit=1000").json()
    assert (whole["total"], len(whole["elements"])) == (136, 136)
    assert httpx2.get(f"{address}/elements").json()["elements"] == whole["elements"][:100]
    part = httpx2.get(f"{address}/elements?offset=130&limit=4").json()
    assert part["elements"] == whole["elements"][130:134]
    tables = httpx2.get(f"{address}/elements?kind=table&page=3").json()
    assert [table["label"] for table in tables["elements"]] == ["Table 3", "Table 4"]
    assert tables["total"] == 2
    headings = httpx2.get(f"{address}/elements?role=heading&page=1").json()["elements"]
    assert [heading["text"] for heading in headings[:2]] == ["Abstract", "1 Introduction"]


def test_elements_that_begin_on_an_earlier_page_count_for_both(address: str) -> None:
    elements = httpx2.get(f"{address}/elements?limit=1000").json()["elements"]
    over = next(
        (one, more["page"])
        for one in elements
        for more in one.get("more_places", ())
        if more["page"] != one["place"]["page"]
    )
    for page in (over[0]["place"]["page"], over[1]):
        assert over[0] in httpx2.get(f"{address}/elements?page={page}&limit=1000").json()["elements"]


def test_an_element_is_read_back_equal(address: str, example_library: Path) -> None:
    store = Store.open(example_library, read_only=True)
    table = store.element(f"{EXAMPLE}/table-5")
    store.close()
    assert from_json(Table, httpx2.get(f"{address}/elements/table-5").content) == table


def test_a_table_is_sent_as_csv(address: str) -> None:
    response = httpx2.get(f"{address}/tables/table-1.csv")
    rows = list(csv.reader(io.StringIO(response.text)))
    assert rows[0] == ["Report", "Systems", "Test data", "What is scored", "Headline figure"]
    assert len(rows) == 5
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["content-disposition"].startswith(f'attachment; filename="{EXAMPLE}-table-1.csv"')


def test_a_table_is_a_page_that_runs_and_fetches_nothing(address: str) -> None:
    response = httpx2.get(f"{address}/tables/table-1.html")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    policy = response.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "img-src data:", "sandbox", "frame-ancestors 'none'"} <= set(policy)
    assert "script" not in response.headers["content-security-policy"]
    head, body = parts_of(response.text)
    assert "<title>Table 1, Four Reports" in head
    found = check_html(body)
    assert {"table", "th", "td", "img"} <= found.tags
    assert "Headline figure" in found.text


def test_scripts_in_a_paper_stay_text(hostile: str) -> None:
    head, body = parts_of(httpx2.get(f"{hostile}/tables/table-1.html").text)
    assert f"<title>Table {escape(SCRIPT)}, Title {escape(SCRIPT)}</title>" in head
    found = check_html(body)
    assert found.tags <= {"div", "style", "figure", "figcaption", "span", "table", "caption", "tr", "td", "th", "p"} | {
        "details",
        "summary",
        "img",
    }
    assert found.text.count(SCRIPT) >= 4
    for path in ("", "/elements", "/elements/table-1", "/elements/passage-1"):
        response = httpx2.get(hostile + path)
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.status_code == 200


def test_a_formula_in_a_cell_stays_text(hostile: str) -> None:
    rows = list(csv.reader(io.StringIO(httpx2.get(f"{hostile}/tables/table-1.csv").text)))
    assert rows == [[SCRIPT, f"'{FORMULA}"], ["-0.5", "'@SUM(1)|cmd"]]


def test_a_files_name_cannot_write_headers(hostile: str) -> None:
    response = httpx2.get(f"{hostile}/file")
    assert response.content == b"%PDF-1.7 nothing"
    assert "set-cookie" not in response.headers
    disposition = response.headers["content-disposition"]
    assert re.fullmatch(
        r"attachment; filename=\"[A-Za-z0-9._-]+\.pdf\"; filename\*=UTF-8''[A-Za-z0-9._%-]+", disposition
    )
    assert "%E2%80%AE" not in disposition
    assert disposition.endswith("%C3%A9.pdf")


@pytest.mark.parametrize(
    "name", ["elements/table-99", "elements/figure-7", "tables/table-99.csv", "tables/table-99.html"]
)
def test_an_unknown_element_is_quoted(address: str, name: str) -> None:
    response = httpx2.get(f"{address}/{name}")
    assert response.status_code == 404
    problem = response.json()
    assert problem["type"] == "urn:paperscope:problem:unknown-element"
    assert repr(name.split("/")[1].partition(".")[0]) in problem["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "elements/.hidden",
        "elements/table 1",
        "elements/table-" + 80 * "1",
        "tables/-1.csv",
        "elements?kind=formula",
        "elements?role=chorus",
        "elements?limit=0",
        "elements?limit=1001",
        "elements?offset=-1",
        "elements?page=0",
        "elements?offset=99999999999999999999999",
    ],
)
def test_invalid_parameters_are_refused(address: str, path: str) -> None:
    response = httpx2.get(f"{address}/{path}")
    assert response.status_code == 422
    assert response.json()["type"] == "urn:paperscope:problem:invalid-request"
    assert len(response.json()["errors"]) == 1
