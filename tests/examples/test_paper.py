"""The example paper matches its source, is parsed as typeset, and has questions of every type."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from paperscope_core.types import Equation, Figure, Paper, ParsedPaper, Passage, Table

FOLDER = Path("examples") / "paper"


@pytest.fixture(scope="module")
def paper(root: Path, parse_once: Callable[[Path], ParsedPaper]) -> Paper:
    return parse_once(root / FOLDER / "ner-report.pdf").paper


@pytest.mark.slow
def test_the_pdfs_match_their_sources(root: Path) -> None:
    command = [sys.executable, str(root / FOLDER / "build.py"), "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_every_table_figure_and_equation_has_its_label(paper: Paper) -> None:
    tables = [element for element in paper.elements if isinstance(element, Table)]
    figures = [element for element in paper.elements if isinstance(element, Figure)]
    equations = [element for element in paper.elements if isinstance(element, Equation)]
    assert sorted(table.label for table in tables) == [f"Table {number}" for number in range(1, 10)]
    assert sorted(figure.label for figure in figures) == [f"Figure {number}" for number in range(1, 4)]
    assert sorted(equation.label for equation in equations) == sorted(f"Equation {n}" for n in range(1, 11))
    assert all(table.caption and table.crop for table in tables)
    assert all(figure.caption and figure.crop for figure in figures)
    assert all(equation.crop for equation in equations)


def test_cells_of_a_two_level_header(paper: Paper) -> None:
    seeds = next(element for element in paper.elements if isinstance(element, Table) and element.label == "Table 5")
    names = seeds.column_names()
    row = next(row for row in seeds.grid(repeat_spans=True) if row[0] == "2")
    assert row[names.index("Ensemble Entity F1")] == "89.80"
    assert row[names.index("RoBERTa-base Char F1")] == "93.58"


def test_tables_have_all_their_rows(paper: Paper) -> None:
    tables = {element.label: element for element in paper.elements if isinstance(element, Table)}
    shapes = {label: (len(table.grid()), len(table.grid()[0])) for label, table in tables.items()}
    assert shapes == {
        "Table 1": (5, 5),
        "Table 2": (23, 2),
        "Table 3": (6, 7),
        "Table 4": (14, 3),
        "Table 5": (11, 7),
        "Table 6": (9, 4),
        "Table 7": (13, 13),
        "Table 8": (8, 8),
        "Table 9": (5, 4),
    }
    assert all(table.confidence > 0.9 for table in tables.values())


def test_tables_at_the_bottom_of_a_page_are_complete(paper: Paper) -> None:
    tables = {element.label: element for element in paper.elements if isinstance(element, Table)}
    assert tables["Table 2"].grid()[-1] == ["Patience", "3"]
    assert tables["Table 3"].grid()[-1] == ["Type", "0.9744", "0.9788", "0.9766", "0.9436", "0.9483", "0.9460"]
    assert tables["Table 8"].grid()[0] == ["", "", "Model 1", "", "", "Model 2", "", ""]
    assert tables["Table 8"].grid()[1][:3] == ["Class", "Tokens", "𝑃"]
    assert tables["Table 8"].grid()[-1][:3] == ["O", "24,568", "0.7663"]


def test_wrapped_cells_are_one_row(paper: Paper) -> None:
    reports = next(element for element in paper.elements if isinstance(element, Table) and element.label == "Table 1")
    assert [row[0] for row in reports.grid()[1:]] == [
        "A: model card",
        "B: repository",
        "C: experiment log",
        "D: script output",
    ]
    assert reports.grid()[2][-1] == "Entity F1 89.51 ± 0.19"


def test_values_of_a_figure_are_in_no_other_element(paper: Paper) -> None:
    elsewhere = " ".join(
        element.text for element in paper.elements if element.kind in ("passage", "equation", "reference")
    )
    assert "Fig. 1" in elsewhere
    assert "0.83" not in elsewhere


def test_text_at_the_top_of_a_page_is_not_furniture(paper: Paper) -> None:
    passages = [element for element in paper.elements if isinstance(element, Passage)]
    assert all(passage.text.isdigit() for passage in passages if passage.role == "furniture")


def test_there_are_questions_of_every_type(root: Path) -> None:
    lines = (root / FOLDER / "questions.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert all(row.keys() == {"question", "answer", "type", "evidence"} for row in rows)
    kinds = Counter(row["type"] for row in rows)
    assert len(rows) >= 15
    assert kinds.keys() == {"text", "table", "figure", "equation", "unanswerable"}
    assert kinds["unanswerable"] >= 3
