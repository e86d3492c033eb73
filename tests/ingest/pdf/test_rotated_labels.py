"""Labels of a table that run up or down are read as titles of its rows or columns."""

from pathlib import Path

import pytest
import typst

from ingest.pdf import PdfParser
from paperscope_core.types import PaperFile, Table

PROSE = " ".join(f"Sentence number {number} of the running text tells what was done." for number in range(12))


def table_of(rows: str, folder: Path, *, columns: int) -> Table:
    source = (
        '#set page(paper: "a4", margin: 2cm)\n#set figure.caption(position: top)\n#set text(size: 10pt)\n'
        f"= Results\n{PROSE}\n#figure(kind: table, supplement: [Table], caption: [Results.],\n"
        f"table(columns: {columns}, stroke: none, align: horizon, table.hline(), {rows}, table.hline()))\n{PROSE}"
    )
    file = folder / "paper.pdf"
    file.write_bytes(typst.compile(source.encode(), ignore_system_fonts=True))
    [table] = [e for e in PdfParser(dpi=36).parse(PaperFile(file)).paper.elements if isinstance(e, Table)]
    return table


def turned(text: str, angle: int = -90) -> str:
    return f"rotate({angle}deg, reflow: true)[{text}]"


@pytest.mark.parametrize("rule", ["table.hline(),", ""])
@pytest.mark.parametrize("angle", [-90, 90])
def test_rotated_label_names_the_rows_beside_it(angle: int, rule: str, tmp_path: Path) -> None:
    groups = [("Open set", ["One", "Two", "Three", "Four"]), ("Closed", ["Five", "Six", "Seven"])]
    body = [
        f"table.cell(rowspan: {len(names)}, {turned(label, angle)}), "
        + ", ".join(f"[{name}], [1.{number}], [2.{number}]" for number, name in enumerate(names))
        for label, names in groups
    ]
    table = table_of(f"[], [Model], [F1], [EM], table.hline(), {body[0]}, {rule} {body[1]}", tmp_path, columns=4)
    labels = [(cell.row, cell.row_span, cell.text, cell.role) for cell in table.cells if cell.column == 0]
    assert labels == [(1, 4, "Open set", "row_header"), (5, 3, "Closed", "row_header")]
    assert [row[1:] for row in table.grid()][:3] == [
        ["Model", "F1", "EM"],
        ["One", "1.0", "2.0"],
        ["Two", "1.1", "2.1"],
    ]
    [label] = [cell for cell in table.cells if cell.text == "Open set"]
    assert label.place.box.y1 - label.place.box.y0 > 2 * (label.place.box.x1 - label.place.box.x0)


@pytest.mark.parametrize("stub", ["[Model]", "[]"])
def test_rotated_titles_name_their_columns(stub: str, tmp_path: Path) -> None:
    titles = ["Precision", "Recall", "F1 score"]
    head = ", ".join(turned(title) for title in titles)
    body = ", ".join(f"[System {row}], [{row}.1], [{row}.2], [{row}.3]" for row in range(3))
    table = table_of(f"{stub}, {head}, table.hline(), {body}", tmp_path, columns=4)
    assert table.grid()[0] == [stub.strip("[]"), *titles]
    assert table.grid()[1] == ["System 0", "0.1", "0.2", "0.3"]
    assert (table.header_rows, table.shape) == (1, (4, 4))
    assert {cell.role for cell in table.cells if cell.row == 0} == {"column_header"}
