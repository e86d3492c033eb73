"""Separated values as tables, and files that are refused by name."""

from pathlib import Path

import pytest

from ingest.parsers import parser_for
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Paper, PaperFile, Table


def parse(folder: Path, name: str, content: str | bytes) -> Paper:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'Plot,Yield\nNorth,"5,2"\nSouth,6.3\n'),
        ("a.csv", 'Plot;Yield\nNorth;"5,2"\nSouth;6.3\n'),
        ("a.tsv", "Plot\tYield\nNorth\t5,2\nSouth\t6.3\n"),
        ("a.csv", 'Harvest,\n\nPlot,Yield\nNorth,"5,2"\nSouth,6.3\n'),
    ],
)
def test_a_file_of_separated_values_is_a_table(tmp_path: Path, name: str, content: str) -> None:
    (table,) = (element for element in parse(tmp_path, name, content).elements if isinstance(element, Table))
    assert table.grid() == [["Plot", "Yield"], ["North", "5,2"], ["South", "6.3"]]
    assert (table.header_rows, table.caption) == (1, "Harvest" if content.startswith("Harvest") else "")
    assert [cell.place.where for cell in table.cells][-1] == f"line {len(content.splitlines())}"


def test_a_file_of_one_column_is_text(tmp_path: Path) -> None:
    paper = parse(tmp_path, "a.csv", "Soils hold water.\nThey do.\n")
    assert not any(isinstance(element, Table) for element in paper.elements)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.rtf", "{\\rtf1\\ansi Soils}", "is RTF. Save it as DOCX or PDF."),
        ("a.ods", b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "save it as XLSX, PPTX or PDF"),
        ("a.xlsx", b"PK\x03\x04 xl/workbook.xml", "is a damaged XLSX file"),
        ("a.zip", b"PK\x03\x04", "is an archive; unpack it."),
    ],
)
def test_a_file_of_another_format_is_refused_with_a_remedy(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    with pytest.raises(PaperFileError) as refused:
        parse(tmp_path, name, content)
    assert said in str(refused.value)
