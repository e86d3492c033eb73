"""Workbooks: regions of cells as tables, values as displayed, merged cells as spans."""

import datetime
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from ingest.parsers import parser_for
from ingest.readers.number_formats import displayed_value
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Paper, PaperFile, Passage, Table

MOMENT = datetime.datetime(2024, 3, 4, 15, 6, 7)  # noqa: DTZ001 # as openpyxl reads it


def workbook() -> Workbook:
    """Two visible sheets: a title, a header of two rows, a note and a second region; a hidden one."""
    book = Workbook()
    yields = book.active
    assert yields is not None
    yields.title = "Yields"
    rows = [
        ("Table S1. Yields of two plots.",),
        ("Plot", "Yield", None, None, "Site", "Visits"),
        (None, "2023", "2024", None, "North", 1234),
        ("North", 5.25, 0.125, None, "South", 20),
        ("South", 6, -0.5),
        (),
        ("Sown in autumn.",),
    ]
    for row in rows:
        yields.append(row)
    yields.merge_cells("A2:A3")
    yields.merge_cells("B2:C2")
    yields["B4"].number_format = "0.0"
    yields["C4"].number_format = yields["C5"].number_format = "0.0%"
    yields["F3"].number_format = "#,##0"
    yields["B2"].font = Font(bold=True)
    dates = book.create_sheet("Visits")
    for values in (("Day", "Rain"), (MOMENT, True)):
        dates.append(values)
    dates["A2"].number_format = "d mmm yyyy"
    hidden = book.create_sheet("Scratch")
    hidden.append(("a", "b"))
    hidden.sheet_state = "hidden"
    book.properties.title = "Supplement to Soils"
    return book


def parse(folder: Path, book: Workbook) -> Paper:
    out = BytesIO()
    book.save(out)
    return parse_bytes(folder, out.getvalue())


def parse_bytes(folder: Path, data: bytes) -> Paper:
    # The format is found by the content.
    file = folder / "supplement.dat"
    file.write_bytes(data)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


def test_each_region_of_a_sheet_is_a_table(tmp_path: Path) -> None:
    paper = parse(tmp_path, workbook())
    assert (paper.format, paper.title) == ("xlsx", "Supplement to Soils")
    first, sites, visits = (element for element in paper.elements if isinstance(element, Table))
    assert (first.label, first.caption, first.header_rows) == ("Table S1", "Yields of two plots.", 2)
    assert first.grid()[1:] == [["", "2023", "2024"], ["North", "5.3", "12.5%"], ["South", "6", "-50.0%"]]
    spans = {cell.text: (cell.row_span, cell.column_span) for cell in first.cells if cell.row == 0}
    assert spans == {"Plot": (2, 1), "Yield": (1, 2)}
    assert [cell.place.where for cell in first.cells if cell.text == "12.5%"] == ["line 4"]
    assert sites.grid() == [["Site", "Visits"], ["North", "1,234"], ["South", "20"]]
    assert (visits.caption, visits.grid()) == ("Visits", [["Day", "Rain"], ["4 Mar 2024", "TRUE"]])
    assert [section.title for section in paper.sections] == ["Yields", "Visits"]
    assert "Sown in autumn." in {element.text for element in paper.elements if isinstance(element, Passage)}
    assert [problem.reason for problem in paper.problems] == ["hidden sheets are left out: Scratch"]


def test_a_formula_without_a_stored_value_is_named(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (("Plot", "Yield"), ("North", "=1+1"), ("South", 2)):
        sheet.append(row)
    (problem,) = parse(tmp_path, book).problems
    assert problem.reason.startswith("1 formulas have no stored value; open the file in a spreadsheet program")


def test_a_cell_in_the_last_row_and_column_takes_no_time(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"], sheet["B1"], sheet["A2"], sheet["B2"], sheet["XFD1048576"] = "Plot", "Yield", "North", 5, "end"
    paper = parse(tmp_path, book)
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert table.grid() == [["Plot", "Yield"], ["North", "5"]]


def test_a_huge_grid_of_few_cells_is_refused(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for at in range(1, 1500):
        sheet.cell(1, at, "a")
        sheet.cell(at, 1, "a")
    with pytest.raises(PaperFileError, match=r"'Sheet' holds a table of 1499 rows and 1499 columns, over the limit"):
        parse(tmp_path, book)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("xl/workbook.xml", "<workbook>"),
        (
            "xl/worksheets/sheet1.xml",
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><worksheet>&x;</worksheet>',
        ),
        ("xl/styles.xml", "<styleSheet><fonts>"),
    ],
)
def test_a_damaged_workbook_is_refused(tmp_path: Path, part: str, text: str) -> None:
    out = BytesIO()
    workbook().save(out)
    damaged = BytesIO()
    with zipfile.ZipFile(out) as before, zipfile.ZipFile(damaged, "w") as after:
        for name in before.namelist():
            after.writestr(name, text if name == part else before.read(name))
    with pytest.raises(PaperFileError, match="holds no"):
        parse_bytes(tmp_path, damaged.getvalue())


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (12345678901234567, "0", "1.2345678901E+16"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (2.675, "0.00", "2.68"),
        (0.00123, "0.00E+00", "1.23E-03"),
        (7, "000", "007"),
        (3.0, "0.##", "3"),
        (0.5, ".00", ".50"),
        (-0.001, "0.0", "0.0"),
        (1500000, '0.0,,"M"', "1.5M"),
        (-3.5, "0.0_);[Red](0.0)", "(3.5)"),
        (0, '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)', "-"),
        (12.5, '"$"#,##0.00', "$12.50"),
        (12.5, "[$€-407] 0.00", "€ 12.50"),
        (MOMENT, "h:mm AM/PM", "3:06 PM"),
        (MOMENT, "mm:ss", "06:07"),
        (MOMENT, "mm-dd-yy", "2024-03-04"),
        (MOMENT, "[$-409]mmm\\-yy;@", "Mar-24"),
        (MOMENT, "dddd, mmmm d, yyyy hh:mm", "Monday, March 4, 2024 15:06"),
        (datetime.timedelta(hours=30), "[h]:mm:ss", "30:00:00"),
        (True, "General", "TRUE"),
        ("a  b", "@", "a b"),
    ],
)
def test_a_value_is_displayed_by_its_format(value: object, number_format: str, shown: str) -> None:
    assert displayed_value(value, number_format) == shown
