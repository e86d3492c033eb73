"""Papers made by hand for the scorers' tests."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pymupdf
import pytest

from paperscope_core.types import Box, Cell, Element, Page, Paper, ParsedPaper, Passage, Place, Table
from service.cli import main

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))


class Evaluate(Protocol):
    """`paperscope eval` with these arguments; returns the exit code."""

    def __call__(self, *arguments: str | Path) -> int: ...


MakeTable = Callable[..., Table]
MakePaper = Callable[..., Paper]


@pytest.fixture(scope="session")
def short_paper(
    root: Path, tmp_path_factory: pytest.TempPathFactory, parse_once: Callable[[Path], ParsedPaper]
) -> Path:
    """The first two pages of the example paper, which libraries need not parse, as long as it is named `paper.pdf`."""
    file = tmp_path_factory.mktemp("short") / "paper.pdf"
    with pymupdf.open(root / "examples" / "paper" / "ner-report.pdf") as document:
        document.select([0, 1])
        document.save(file, no_new_id=True)  # The same bytes in each process.
    parse_once(file)
    return file


class Example(NamedTuple):
    """A data folder, and a folder for the runs of several suites, which share its libraries."""

    data: Path
    out: Path


@pytest.fixture(scope="session")
def example(short_paper: Path, tmp_path_factory: pytest.TempPathFactory) -> Example:
    """The short paper with questions and cells, and with lines that can't be used. Tests leave it as it is."""
    folder = tmp_path_factory.mktemp("example")
    paper = folder / "data" / "papers" / "example"
    paper.mkdir(parents=True)
    shutil.copy(short_paper, paper / "paper.pdf")
    questions: list[tuple[str, object, dict[str, object]]] = [
        ("What does SWA stand for?", "Stochastic Weight Averaging", {"evidence_pages": [1]}),
        ("What does KLUE stand for?", "Korean Language Understanding Evaluation", {"evidence_pages": [1]}),
        ("How many pages does the paper have?", 2, {}),
        ("In Table 2, what is the value of LoRA rank?", 256, {"evidence_pages": [2]}),
        ("In Table 2, what is the value of Patience?", 3, {"evidence_pages": [2]}),
        ("In Table 1, what is the headline figure of A: model card?", "F1 0.9373", {"evidence_pages": [2]}),
        ("Why do the authors distrust the figures?", "They look like a broken run.", {}),
        ("On which GPU was Qwen2.5-7B fine-tuned?", "The paper does not say.", {"type": "unanswerable"}),
        ("Which learning rate has the 1.5B model?", "The paper does not say.", {"type": "unanswerable"}),
        ("On which page?", "none", {"evidence_pages": [99]}),
    ]
    lines = [json.dumps({"question": asked, "answer": answer, **more}) for asked, answer, more in questions]
    (paper / "questions.jsonl").write_text("\n".join([*lines, '{"question": "Without an answer?"}']))
    cell = {"table": "Table 2", "row": "LoRA rank", "col": "Value", "answer": "256", "page": 2}
    cells = [json.dumps(cell | fields) for fields in ({}, {"page": 99}, {"row": None})]
    (paper / "cells.jsonl").write_text("\n".join([*cells, "{"]))
    return Example(folder / "data", folder / "out")


@pytest.fixture
def evaluate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Evaluate:
    """Runs the command as a person would, in an empty working directory, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")

    def call(*arguments: str | Path) -> int:
        monkeypatch.setattr(sys, "argv", ["paperscope", "eval", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code if isinstance(end.value.code, int) else 1

    return call


@pytest.fixture
def make_table() -> MakeTable:
    """A table from rows of texts; `spans` are (row, column): (rows, columns), covered cells are left out."""

    def make(
        rows: Sequence[Sequence[str]],
        *,
        label: str = "Table 1",
        caption: str = "",
        header_rows: int = 1,
        spans: dict[tuple[int, int], tuple[int, int]] | None = None,
    ) -> Table:
        covered = {
            (row + down, column + right)
            for (row, column), (height, width) in (spans or {}).items()
            for down in range(height)
            for right in range(width)
            if down or right
        }
        cells = tuple(
            Cell(
                row=row,
                column=column,
                text=text,
                place=PLACE,
                row_span=(spans or {}).get((row, column), (1, 1))[0],
                column_span=(spans or {}).get((row, column), (1, 1))[1],
                role="column_header" if row < header_rows else "value",
            )
            for row, texts in enumerate(rows)
            for column, text in enumerate(texts)
            if (row, column) not in covered
        )
        return Table(
            id=f"p/{label}", place=PLACE, order=0, cells=cells, label=label, caption=caption, header_rows=header_rows
        )

    return make


@pytest.fixture
def make_paper() -> MakePaper:
    """A paper of these elements; texts become paragraphs."""

    def make(*elements: Element | str, **fields: Any) -> Paper:
        made = tuple(
            Passage(id=f"p/passage-{number}", place=PLACE, order=number, text=element)
            if isinstance(element, str)
            else element
            for number, element in enumerate(elements)
        )
        paper = Paper(
            id="p",
            title="",
            authors=(),
            sha256="",
            file="p.pdf",
            pages=(Page(number=1, width=1, height=1),),
            sections=(),
            elements=made,
        )
        return replace(paper, **fields)

    return make
