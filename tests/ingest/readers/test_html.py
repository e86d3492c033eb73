"""HTML pages: which tables are data, and what their cells hold."""

from pathlib import Path

import pytest

from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Paper, PaperFile, Passage, Table


def parse(folder: Path, body: str) -> Paper:
    file = folder / "a.html"
    file.write_text(f"<html><body><h1>Soils</h1>{body}</body></html>")
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<pre>k = 2\nm = 3</pre>", "k = 2 m = 3"),
        ("<h4>Sand</h4><p>coarse</p>", "Sand coarse"),
        ("<figure><figcaption>Clay</figcaption></figure>", "Clay"),
        ("<section><p>Silt</p></section>", "Silt"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>", "1 2 3 4"),
        ("<blockquote><ol><li>x</li></ol></blockquote>", "x"),
    ],
)
@pytest.mark.parametrize("header", ["<tr><th>Kind</th><th>Value</th></tr>", "<tr><td>Kind</td><td>Value</td></tr>"])
def test_a_cell_that_holds_a_block_stays_a_cell(tmp_path: Path, header: str, content: str, text: str) -> None:
    paper = parse(
        tmp_path, f"<table>{header}<tr><td>A</td><td>{content}</td></tr><tr><td>B</td><td>7</td></tr></table>"
    )
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert table.grid() == [["Kind", "Value"], ["A", text], ["B", "7"]]


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td><h2>Methods</h2><p>We dug.</p></td><td><p>Menu</p></td></tr></table>",
        "<table role='presentation'><tr><td>We dug.</td></tr><tr><td>Menu</td></tr></table>",
        "<table><tr><td>Menu</td></tr><tr><td><section><p>We dug.</p></section></td></tr></table>",
        f"<table><tr><td>Menu</td><td>x</td></tr><tr><td><section><p>We dug.</p><p>{'Deep. ' * 120}</p></section></td>"
        "<td>y</td></tr></table>",
    ],
)
def test_a_table_that_lays_out_the_page_is_text(tmp_path: Path, page: str) -> None:
    paper = parse(tmp_path, page)
    assert not any(isinstance(element, Table) for element in paper.elements)
    assert "We dug." in {element.text for element in paper.elements if isinstance(element, Passage)}
