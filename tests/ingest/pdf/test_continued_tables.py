"""A table continued over columns and pages is one table, with each cell where it is printed."""

from pathlib import Path

import pytest
import typst

from ingest.pdf import PdfParser
from paperscope_core.types import Figure, PaperFile, ParsedPaper, Passage, Table

HEAD = """
#set page(paper: "a5", margin: 2cm, numbering: "1", {page})
#set figure.caption(position: top)
#set text(size: 10pt)
#show figure: set block(breakable: true)
"""
PROSE = " ".join(f"Sentence number {number} of the running text tells what was done." for number in range(12))
ROWS = [[f"System A{number}", f"{number + 0.25:.2f}", f"{90 - number / 4:.2f}"] for number in range(60)]
NAMES = ["System", "Cost", "Score"]


def table(rows: list[list[str]], *, repeat: bool = True, lines: bool = False, footer: str = "") -> str:
    names = "".join(f"[{name}]," for name in NAMES)
    cells = ", ".join(f"[{text}]" for row in rows for text in row)
    rule = "" if lines else "table.hline(),"
    return (
        f"#figure(kind: table, supplement: [Table], caption: [Costs and scores of sixty systems.],"
        f"table(columns: 3, stroke: {'0.5pt' if lines else 'none'},"
        f"table.header(repeat: {str(repeat).lower()}, {rule} {names} {rule}), {cells}, {footer} {rule}))"
    )


def parsed(source: str, folder: Path, *, page: str = "") -> ParsedPaper:
    file = folder / "paper.pdf"
    file.write_bytes(typst.compile((HEAD.format(page=page) + source).encode(), ignore_system_fonts=True))
    return PdfParser(dpi=72).parse(PaperFile(file))


def only_table(result: ParsedPaper) -> Table:
    [found] = [element for element in result.paper.elements if isinstance(element, Table)]
    return found


@pytest.mark.parametrize(("repeat", "lines"), [(True, False), (False, True)])
def test_a_table_over_three_pages_is_one(repeat: bool, lines: bool, tmp_path: Path) -> None:
    result = parsed(PROSE + table(ROWS, repeat=repeat, lines=lines) + PROSE, tmp_path)
    found = only_table(result)
    assert found.grid() == [NAMES, *ROWS]
    assert found.header_rows == 1
    assert (found.place.page, [place.page for place in found.more_places]) == (1, [2, 3])
    pages = {cell.text: cell.place.page for cell in found.cells if cell.column == 0}
    assert (pages["System A0"], pages["System A30"], pages["System A59"]) == (1, 2, 3)
    parts = {place.page: place.box for place in (found.place, *found.more_places)}
    for cell in found.cells:
        box, part = cell.place.box, parts[cell.place.page]
        assert part.y0 - 2 <= box.y0
        assert box.y1 <= part.y1 + 2
    assert len({found.crop, *found.more_crops}) == 3
    assert {found.crop, *found.more_crops} <= set(result.crops)
    said = " ".join(element.text for element in result.paper.elements if isinstance(element, Passage))
    assert "System A4" not in said
    assert said.count("Sentence number 11 of the running text") == 2


def test_table_continued_in_the_next_column(tmp_path: Path) -> None:
    result = parsed(PROSE + table(ROWS[:40], lines=True) + PROSE, tmp_path, page="columns: 2")
    assert only_table(result).grid() == [NAMES, *ROWS[:40]]


def test_numbered_rows_keep_their_numbers(tmp_path: Path) -> None:
    rows = [[str(number), *row[1:]] for number, row in enumerate(ROWS, start=1)]
    assert only_table(parsed(table(rows), tmp_path)).grid() == [NAMES, *rows]


def test_continuation_notes_are_not_rows(tmp_path: Path) -> None:
    note = "table.footer(repeat: true, table.cell(colspan: 3)[_Continued on next page_]),"
    result = parsed(PROSE + table(ROWS, lines=True, footer=note) + PROSE, tmp_path)
    assert only_table(result).grid()[:60] == [NAMES, *ROWS[:59]]
    assert not any("Continued on" in cell.text for cell in only_table(result).cells)


def test_caption_that_says_continued(tmp_path: Path) -> None:
    more = table(ROWS[3:]).replace("Costs and scores of sixty systems.", "(continued)")
    source = PROSE + table(ROWS[:3]) + PROSE + "#pagebreak() #counter(figure.where(kind: table)).update(0)" + more
    found = only_table(parsed(source, tmp_path))
    assert found.grid() == [NAMES, *ROWS]
    assert (found.label, found.caption) == ("Table 1", "Costs and scores of sixty systems.")


def test_other_table_at_the_top_of_the_next_page(tmp_path: Path) -> None:
    result = parsed(PROSE + table(ROWS[:8]) + "#pagebreak()" + table(ROWS[8:12]), tmp_path)
    found = [element for element in result.paper.elements if isinstance(element, Table)]
    assert [item.label for item in found] == ["Table 1", "Table 2"]
    assert [item.shape for item in found] == [(9, 3), (5, 3)]


def test_text_below_a_table_ends_it(tmp_path: Path) -> None:
    bare = "#table(columns: 3, " + ", ".join(f"[{text}]" for row in ROWS[8:12] for text in row) + ")"
    result = parsed(table(ROWS[:8], lines=True) + PROSE + "#pagebreak()" + bare, tmp_path)
    [found] = [element for element in result.paper.elements if isinstance(element, Table) and element.label]
    assert found.shape == (9, 3)
    assert not any(isinstance(element, Figure) for element in result.paper.elements)
