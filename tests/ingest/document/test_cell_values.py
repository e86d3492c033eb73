"""The value and the annotation of a table cell, which together are its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.cell_values import split_annotation, with_annotations
from paperscope_core.types import Box, Cell, Place, Table

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))


@pytest.mark.parametrize(
    ("text", "value", "annotation"),
    [
        ("92.11 (+0.81)", "92.11", "(+0.81)"),
        ("88.7±0.3", "88.7", "±0.3"),
        ("4.98 ± 0.02", "4.98", "± 0.02"),
        ("12.3†", "12.3", "†"),
        ("0.53**", "0.53", "**"),
        ("0.53** (0.8)", "0.53", "** (0.8)"),
        ("45.1 ↑2.3", "45.1", "↑2.3"),
        ("45.1↑", "45.1", "↑"),
        ("92.1 (0.8)", "92.1", "(0.8)"),
        ("−1.5 (−2.0, −0.9)", "−1.5", "(−2.0, −0.9)"),
        ("12 (34%)", "12", "(34%)"),
        ("3.4 (1.5x)", "3.4", "(1.5x)"),
        ("0.12 [0.10, 0.15]", "0.12", "[0.10, 0.15]"),
        ("1.234(5)", "1.234", "(5)"),
        ("68.4₀.₃", "68.4", "₀.₃"),
        ("92.1 +0.4", "92.1", "+0.4"),
        ("1,234,567*", "1,234,567", "*"),
        ("59.1/60.9 (+0.2)", "59.1/60.9", "(+0.2)"),
        ("12.5%†", "12.5%", "†"),
        ("71.3^a", "71.3", "^a"),
        ("Yes†", "Yes", "†"),
        ("- (0.2)", "-", "(0.2)"),
    ],
)
def test_values_and_their_annotations(text: str, value: str, annotation: str) -> None:
    assert split_annotation(text) == (value, annotation)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "92.11",
        "(0.8)",
        "±0.3",
        "10-20",
        "1980–1990",
        "10²",
        "3e-4",
        "3.0 × 10",
        "BERT (2018)",
        "F1*",
        "A*",
        "GPT-4 (0-shot)",
        "12 (n = 5)",
        "†",
        "1 2 3",
        "59.49/60.92",
    ],
)
def test_texts_without_annotation(text: str) -> None:
    assert split_annotation(text) == (text, "")


@given(st.text(alphabet="0123456789.,()[]±+−-–%*†‡↑↓ ₀₁ax^", max_size=30) | st.text(max_size=90))
def test_value_and_annotation_are_the_text(text: str) -> None:
    value, annotation = split_annotation(text)
    assert text.startswith(value)
    assert text.endswith(annotation)
    assert text.removesuffix(annotation).rstrip() == value if annotation else text == value
    assert value or not text


@given(st.decimals(min_value=0, max_value=1000, places=2), st.decimals(min_value=0, max_value=9, places=2))
def test_any_number_is_split_from_any_difference(number: object, other: object) -> None:
    for text in (f"{number} (+{other})", f"{number} ± {other}", f"{number}±{other}", f"{number} (−{other}%)"):
        assert split_annotation(text)[0] == f"{number}"


def test_a_table_shows_its_cells_as_printed() -> None:
    texts = ["Model", "F1", "Ours (2020)", "92.11 (+0.81)"]
    cells = [
        Cell(row=index // 2, column=index % 2, text=text, place=PLACE, role="value" if index == 3 else "row_header")
        for index, text in enumerate(texts)
    ]
    table = Table(id="t", place=PLACE, order=0, cells=with_annotations(cells), header_rows=1)
    assert [cell.annotation for cell in table.cells] == ["", "", "", "(+0.81)"]
    assert table.cells[3].value == "92.11"
    assert table.to_csv() == "Model,F1\r\nOurs (2020),92.11 (+0.81)\r\n"
