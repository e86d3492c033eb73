"""Literature tables as files: nothing of a paper is read as a formula or as markup."""

import csv
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from graph_store import Store
from paperscope.table_exports import EXPORTS, export_table
from paperscope_core.codec import from_json
from paperscope_core.models import FakeEmbedder
from paperscope_core.types import (
    Box,
    Chunk,
    Evidence,
    Extraction,
    Finding,
    IndexedPaper,
    Page,
    Paper,
    PaperEntry,
    Passage,
    Place,
)
from paperscope_core.types.literature import (
    ColumnSet,
    LiteratureCell,
    LiteratureColumn,
    LiteratureRow,
    LiteratureTable,
)

PAPERS = [f"aaaa0000000{number}" for number in range(3)]
EVIL = '=HYPERLINK("http://evil.example") | <b>_x_</b> & 5%'


def place_of(paper: str) -> Place:
    return Place(paper=paper, page=2, box=Box(50.0, 10.0, 300.0, 30.0))


def put_paper(store: Store, number: int) -> None:
    """Add a paper with one passage."""
    paper = PAPERS[number]
    passage = Passage(
        id=f"{paper}/passage-1",
        place=place_of(paper),
        order=1,
        text=f"Paper {number} reaches an F1 of 0.8{number} in tagging.",
    )
    read = Paper(
        id=paper,
        title=f"Paper {number}",
        authors=("A. Author",),
        sha256=str(number) * 64,
        file=f"{number}.pdf",
        pages=tuple(Page(number=page, width=600.0, height=800.0) for page in (1, 2)),
        sections=(),
        elements=(passage,),
    )
    chunk = Chunk(
        id=f"{paper}/chunk-1", paper=paper, text=passage.text, elements=(passage.id,), section="", place=passage.place
    )
    vectors = np.full((1, 64), 1 / 8, dtype=np.float32)
    indexed = IndexedPaper(
        paper=read, chunks=(chunk,), extraction=Extraction(entities=(), relations=()), vectors=vectors
    )
    store.add(indexed, crops={}, source=f"/{number}.pdf", embedder=FakeEmbedder().name)


def entry(number: int) -> PaperEntry:
    return PaperEntry(
        id=PAPERS[number],
        title=f"Paper {number} & Co",
        file=f"{number}.pdf",
        source="",
        sha256="",
        embedder="",
        revision=1,
        authors=("Ann Author",),
        year=2020,
    )


def cell(value: str, **fields: object) -> LiteratureCell:
    evidence = Evidence(element=f"{PAPERS[0]}/passage-1", place=place_of(PAPERS[0]), quote=EVIL, name="Paper 0, page 2")
    return replace(
        LiteratureCell(column="Value", value=value, status="stated", evidence=(evidence,)),
        **fields,  # type: ignore[arg-type] # of any type
    )


ROWS = (
    LiteratureRow(paper=PAPERS[0], title="Paper 0 (2020)", cells=(cell(EVIL),)),
    LiteratureRow(paper=PAPERS[1], title="Paper 1 (2020)", cells=(cell("1", correction="2"),)),
    LiteratureRow(paper=PAPERS[2], title="Paper 2 (2020)", cells=(cell("3"),), excluded="no | controls"),
)
TABLE = LiteratureTable(
    id="table-1",
    columns=ColumnSet(title="A_Table", columns=(LiteratureColumn(name="Value"),)),
    papers=tuple(PAPERS),
    rows=ROWS,
)
ENTRIES = [entry(number) for number in range(3)]


def written(form: str, table: LiteratureTable = TABLE) -> str:
    return export_table(table, ENTRIES, form).decode()


def test_csv_has_values_statuses_and_places() -> None:
    first, second = csv.DictReader(io.StringIO(written("csv")))
    assert first["Value"] == f"'{EVIL}"
    assert first["Value (status)"] == "stated"
    assert "p.2 [50.0 10.0 300.0 30.0]" in first["Value (evidence)"]
    assert (second["paper"], second["year"], second["Value"]) == ("Paper 1 & Co", "2020", "2")
    assert second["Value (status)"] == "corrected"


def test_xlsx_has_no_formula_and_a_sheet_of_evidence() -> None:
    with zipfile.ZipFile(io.BytesIO(export_table(TABLE, ENTRIES, "xlsx"))) as book:
        texts = {name: book.read(name).decode() for name in book.namelist() if name.endswith(".xml")}
    sheets = [text for name, text in texts.items() if name.startswith("xl/worksheets/")]
    assert len(sheets) == 3
    assert not any("<f>" in text or "hyperlink" in text.lower() for text in sheets)
    assert "no | controls" in texts["xl/sharedStrings.xml"]


def test_markdown_shows_marks_pages_and_excluded_rows() -> None:
    text = written("md")
    head, _rule, first, second = text.splitlines()[2:6]
    assert head == "| paper | Value |"
    assert r"\| &lt;b>\_x\_&lt;/b>" in first
    assert "(page 2)" in first
    assert second == r"| Paper 1 (2020) | 2\* |"
    assert r"- Paper 2 (2020): no \| controls" in text


def test_latex_cites_the_entries_of_the_bibliography() -> None:
    text = written("tex")
    assert r"Paper 0 (2020) \cite{author2020paper}" in text
    assert r"\& 5\%" in text
    assert r"\caption{A\_Table}" in text
    assert "@misc{author2020paper," in written("bib")
    assert written("bib").count("@misc") == 2
    odd = [replace(row, title=title) for row, title in zip(ROWS, ("[1em] Owls", "* Owls", ""), strict=True)]
    rows = written("tex", replace(TABLE, rows=tuple(odd)))
    assert "\n{}[1em] Owls" in rows
    assert "\n{}* Owls" in rows


def test_json_is_the_whole_table() -> None:
    assert from_json(LiteratureTable, written("json")) == TABLE


def test_doubtful_and_missing_cells_are_marked() -> None:
    doubtful = cell("7", status="unclear", findings=(Finding(kind="number", message="not printed"),))
    rows = (replace(ROWS[0], cells=(doubtful,)), replace(ROWS[1], cells=()), replace(ROWS[2], excluded=""))
    table = replace(TABLE, rows=rows, columns=replace(TABLE.columns, rows="arm"))
    lines = written("md", table).splitlines()
    assert lines[2] == "| paper | arm | Value |"
    assert "7 (page 2)?" in lines[4]
    with zipfile.ZipFile(io.BytesIO(export_table(table, ENTRIES, "xlsx"))) as book:
        notes = book.read("xl/comments1.xml").decode()
    assert ('ref="E2"' in notes, notes.count("<comment "), "not printed" in notes) == (True, 1, True)
    assert lines[5].endswith("| – |")


@pytest.mark.parametrize("form", EXPORTS)
def test_an_empty_table_is_written(form: str) -> None:
    assert export_table(replace(TABLE, rows=()), [], form) or form == "bib"
