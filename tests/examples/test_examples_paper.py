"""The example paper: in step with its source, read as it was typeset, with questions of every kind."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ingest import PdfParser
from paperscope.types import Equation, Figure, Paper, Passage, Table

FOLDER = Path("examples") / "paper"


@pytest.fixture(scope="module")
def paper(root: Path) -> Paper:
    return PdfParser().parse(root / FOLDER / "ner-report.pdf").paper


def test_the_pdf_is_in_step_with_its_source(root: Path) -> None:
    command = [sys.executable, str(root / FOLDER / "build.py"), "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_float_is_found_with_its_label_and_caption(paper: Paper) -> None:
    tables = [element for element in paper.elements if isinstance(element, Table)]
    figures = [element for element in paper.elements if isinstance(element, Figure)]
    equations = [element for element in paper.elements if isinstance(element, Equation)]
    assert sorted(table.label for table in tables) == [f"Table {number}" for number in range(1, 10)]
    assert sorted(figure.label for figure in figures) == [f"Figure {number}" for number in range(1, 4)]
    assert sorted(equation.label for equation in equations) == sorted(f"Equation {n}" for n in range(1, 11))
    assert all(element.caption and element.crop for element in (*tables, *figures))
    assert all(equation.crop for equation in equations)


def test_cells_are_read_under_their_two_level_header(paper: Paper) -> None:
    seeds = next(element for element in paper.elements if isinstance(element, Table) and element.label == "Table 5")
    names = seeds.column_names()
    row = next(row for row in seeds.grid(repeat_spans=True) if row[0] == "2")
    assert row[names.index("Ensemble Entity F1")] == "89.80"
    assert row[names.index("RoBERTa-base Char F1")] == "93.58"


def test_values_that_stand_only_in_a_figure_are_in_no_text(paper: Paper) -> None:
    elsewhere = " ".join(
        element.text for element in paper.elements if element.kind in ("passage", "equation", "reference")
    )
    assert "Fig. 1" in elsewhere
    assert "0.83" not in elsewhere


def test_text_at_the_top_of_a_page_is_no_furniture(paper: Paper) -> None:
    passages = [element for element in paper.elements if isinstance(element, Passage)]
    assert all(passage.text.isdigit() for passage in passages if passage.role == "furniture")


def test_the_questions_are_of_every_kind(root: Path) -> None:
    lines = (root / FOLDER / "questions.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert all(row.keys() == {"question", "answer", "type", "evidence"} for row in rows)
    kinds = Counter(row["type"] for row in rows)
    assert len(rows) >= 15
    assert kinds.keys() == {"text", "table", "figure", "equation", "unanswerable"}
    assert kinds["unanswerable"] >= 3
