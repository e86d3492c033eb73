"""Tables without a caption, and what only looks like one."""

from pathlib import Path

import pytest
import typst

from ingest.document.pages import HorizontalRule, PageContent
from ingest.export.file_names import file_stems
from ingest.pdf import PdfParser
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import line_of
from ingest.pdf.tables.find import find_unlabelled_tables
from paperscope_core.types import Paper, PaperFile, Table
from tests.ingest.pdf.words import word

PROSE = " ".join(f"Sentence number {number} of the running text tells what was done." for number in range(20))
ROWS = [["Alpha", "91.2", "88.1"], ["Beta", "90.4", "87.3"], ["Gamma", "85.9", "86.0"], ["Delta", "79.8", "90.2"]]


def paper_of(source: str, folder: Path) -> Paper:
    head = '#set page(paper: "a4", margin: 2cm)\n#set text(size: 10pt)\n'
    file = folder / "paper.pdf"
    whole = f"{head}= Results\n{PROSE}\n\n{source}\n\n{PROSE}"
    file.write_bytes(typst.compile(whole.encode(), ignore_system_fonts=True))
    return PdfParser(dpi=36).parse(PaperFile(file)).paper


def tables_of(source: str, folder: Path) -> list[Table]:
    return [element for element in paper_of(source, folder).elements if isinstance(element, Table)]


def cells(rows: list[list[str]]) -> str:
    return ", ".join(f"[{text}]" for row in rows for text in row)


def test_a_grid_between_rules_is_a_table(tmp_path: Path) -> None:
    rows = [["Name", "Type", "Meaning"], ["weight", "real", "of each letter"], ["name", "text", "as it is printed"]]
    [table] = tables_of(f"#table(columns: 3, {cells(rows)})", tmp_path)
    assert table.grid() == rows
    assert (table.label, table.caption, table.caption_place, table.header_rows) == ("", "", None, 1)


def test_shaded_rows_under_a_group_title_are_a_table(tmp_path: Path) -> None:
    body = [["Cost of revenue", r"\$", "178", r"\$", "141"], ["Research", "", "3,423", "", "2,532"]]
    body += [["Sales", "", "1,136", "", "876"], ["Total", r"\$", "4,737", r"\$", "3,549"]]
    fill = 'fill: (x, y) => if y == 2 or y == 4 { rgb("#dddddd") }'
    head = (
        "[], table.cell(colspan: 4)[Year Ended], table.hline(start: 1),"
        "[], table.cell(colspan: 2)[Jan 26, 2025], table.cell(colspan: 2)[Jan 28, 2024], table.hline(start: 1)"
    )
    align = "align: (x, y) => if x == 0 { left } else if y < 2 { center } else { right }"
    table_source = (
        f"#table(columns: (200pt, 20pt, 50pt, 20pt, 50pt), stroke: none, {fill}, {align}, {head}, {cells(body)})"
    )
    [table] = tables_of(table_source, tmp_path)
    assert table.grid() == [
        ["", "Year Ended", ""],
        ["", "Jan 26, 2025", "Jan 28, 2024"],
        ["Cost of revenue", "$ 178", "$ 141"],
        ["Research", "3,423", "2,532"],
        ["Sales", "1,136", "876"],
        ["Total", "$ 4,737", "$ 3,549"],
    ]
    [title] = [cell for cell in table.cells if cell.text == "Year Ended"]
    assert (title.column_span, title.role) == (2, "column_header")


def test_aligned_values_under_titles_are_a_table_without_any_rule(tmp_path: Path) -> None:
    rows = [["System", "Precision", "Recall"], *ROWS]
    [table] = tables_of(f"#table(columns: 3, stroke: none, {cells(rows)})", tmp_path)
    assert table.grid() == rows


def test_two_unlabelled_tables_are_exported_under_different_names(tmp_path: Path) -> None:
    grid = f"#table(columns: 3, stroke: none, {cells([['System', 'Precision', 'Recall'], *ROWS])})"
    names = file_stems(paper_of(f"{grid}\n\n{PROSE}\n\n{grid}", tmp_path))
    assert sorted(name for name in map(str, names.values()) if "table" in name)[-2:] == [
        "tables/table-unlabelled-1",
        "tables/table-unlabelled-2",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "$ A = mat(1, 0, 0; 0, 1, 0; 0, 0, 1; 4, 5, 6) $",
        "+ 12\n+ 15\n+ 99\n+ 100",
        "/ Alpha: 12.5\n/ Beta: 13.5\n/ Gamma: 14.5\n/ Delta: 15.5",
        "#line(length: 100%)\nA note between rules.\n#line(length: 100%)\nAnother note.\n#line(length: 100%)",
        "#outline()\n== First part\n== Second part\n== Third part\n== Fourth part",
        "```py\ndef f(x):\n    return x, 1, 2\nf(1, 2)\n```",
    ],
)
def test_text_that_only_looks_like_a_table(source: str, tmp_path: Path) -> None:
    assert tables_of(source, tmp_path) == []


@pytest.mark.parametrize(("shift", "found"), [(4, 1), (-3, 0)])
def test_rules_through_the_letters_are_lines_of_a_plot(shift: float, found: int) -> None:
    names = ["Gorilla", "Homo", "Pan", "Pongo"]
    baselines = [100 + 30 * row for row in range(len(names))]
    words = [word(name, x, y) for name, y in zip(names, baselines, strict=True) for x in (60, 160)]
    lines = tuple(line_of([each]) for each in words)
    rules = [HorizontalRule(50, 250, 85), *(HorizontalRule(50, 250, y + shift) for y in baselines)]
    content = PageContent(number=1, width=600, height=800, horizontal=rules)
    layout = PageLayout(content=content, words=tuple(words), lines=lines)
    assert len(find_unlabelled_tables([layout], [lines], [])) == found


def test_two_tables_side_by_side_under_one_caption_are_both_read(tmp_path: Path) -> None:
    head = ["System", "Precision", "Recall"]
    rule = "table.hline()"
    grids = [
        f"table(columns: 3, stroke: none, {rule}, {cells([head])}, {rule}, {cells(rows)}, {rule})"
        for rows in (ROWS[:3], ROWS[1:])
    ]
    figure = (
        "#figure(kind: table, supplement: [Table], "
        "caption: figure.caption(position: top, [Both sets of reports that were read twice.]),"
        f" grid(columns: 2, column-gutter: 30pt, {grids[0]}, {grids[1]}))"
    )
    found = {table.label: table.grid() for table in tables_of(figure, tmp_path)}
    assert found == {"Table 1": [head, *ROWS[:3]], "": [head, *ROWS[1:]]}
