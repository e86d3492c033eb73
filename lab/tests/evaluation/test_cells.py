"""Table cells put as questions: drawn from gold tables, asked, and scored by value and place."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf
import pytest
from paperscope_lab.evaluation.cells import question_of, sample_lookups, score_cell_answer, states_value, table_lookups
from paperscope_lab.evaluation.gold.papers import GoldLookup, GoldSpan, GoldTable, Grid

from paperscope_core.types import Answer, Box, Claim, Context, Evidence, Place

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate, Example, MakePaper, MakeTable


GROUPS: Grid = (
    ("", "CTB5", "", "CTB6", ""),
    ("Model", "Prec.", "F1", "Prec.", "F1"),
    ("One", "93.6", "94.0", "-", "90.81"),
    ("Two", "93.9", "94.3 (+0.3)", "91.2", ""),
    ("Two", "1.5", "2.5", "3.5", "4.5"),
)
BLOCKS: Grid = (
    ("English", "", ""),
    ("Model", "A", "B"),
    ("X", "1", "2"),
    ("Greek", "", ""),
    ("Model", "A", "B"),
    ("X", "3", "4"),
)


def gold_table(grid: Grid, **fields: object) -> GoldTable:
    values = {"number": "3", "page": 5, "header_rows": (0, 1), **fields}
    return GoldTable(grid=grid, logical=grid, logical_row=tuple(range(len(grid))), **values)  # type: ignore[arg-type]


def test_a_cell_that_row_and_column_name_alone_makes_a_question() -> None:
    spans = (GoldSpan(row=0, col=1, colspan=2), GoldSpan(row=0, col=3, colspan=2))
    found = {(it.row, it.column): it.answer for it in table_lookups(gold_table(GROUPS, spans=spans))}
    # "Two" names two rows; "-" and a value with a gain are no numbers.
    assert found == {("One", "CTB5 Prec."): "93.6", ("One", "CTB5 F1"): "94.0", ("One", "CTB6 F1"): "90.81"}
    assert table_lookups(gold_table(GROUPS, spans=spans))[0].label == "Table 3"
    # Without spans nothing says how far a group's title reaches.
    assert [it.column for it in table_lookups(gold_table(GROUPS))] == ["CTB5 Prec.", "CTB6 Prec."][:1]


def test_a_section_with_a_header_of_its_own_qualifies_its_columns() -> None:
    lookups = table_lookups(gold_table(BLOCKS, header_rows=(0, 1, 3, 4), section_rows=(0, 3)))
    assert [(it.row, it.column, it.answer) for it in lookups] == [
        ("X", "English A", "1"),
        ("X", "English B", "2"),
        ("X", "Greek A", "3"),
        ("X", "Greek B", "4"),
    ]
    # The same rows under sections of one header can't be told apart, nor can the rows of a spanning cell.
    assert not table_lookups(gold_table((*BLOCKS[1:4], BLOCKS[5]), header_rows=(0,), section_rows=(2,)))
    assert not table_lookups(gold_table((("M", "A"), ("X", "1"), ("", "2")), header_rows=(0,)))
    assert not table_lookups(gold_table(BLOCKS, header_rows=None))


def test_a_seed_always_draws_the_same() -> None:
    lookups = [GoldLookup(label="Table 1", row=str(number), column="c", answer="1") for number in range(50)]
    first = sample_lookups(lookups, most=10, seed=3, salt="p")
    assert first == sample_lookups(lookups, most=10, seed=3, salt="p")
    assert [number for number, _ in first] == sorted({number for number, _ in first})
    assert all(lookups[number - 1] == lookup for number, lookup in first)
    assert first != sample_lookups(lookups, most=10, seed=4, salt="p")
    assert len(sample_lookups(lookups, most=99, seed=3, salt="p")) == 50


def test_a_table_without_label_is_asked_for_by_its_caption() -> None:
    lookup = GoldLookup(label="Table 5", row="ELMo (Peters et al., 2018)", column="F1", answer="92.22")
    assert question_of(lookup) == "In Table 5, what is the F1 of ELMo (Peters et al., 2018)?"
    bare = GoldLookup(caption="Results", row="ELMo", column="F1", answer="92.22")
    assert question_of(bare) == 'In the table "Results", what is the F1 of ELMo?'


@pytest.mark.parametrize(
    ("gold", "text", "right"),
    [
        ("92.22", "ELMo has 92.22 in Table 5.", True),
        ("92.6", "It is 92.64.", True),
        ("92.22", "It is 92.3.", False),
        ("5", "Table 5 gives 7 of them.", False),
        ("0.1", "The dropout is 0.1.", True),
        ("88.43 (+0.43)", "88.43, a gain of 0.43", True),
        ("88.43 (+0.43)", "It is 88.43.", False),
        ("170K", "There are 170,000 of them.", True),
        ("Adam", "The optimiser is Adam.", True),
        ("Adam", "The optimiser is AdamW.", False),
        ("SST-2", "It was tuned on SST-2.", True),
    ],
)
def test_a_value_is_stated_or_not(gold: str, text: str, *, right: bool) -> None:
    assert states_value(gold, text, question="In Table 5, what is the F1 with dropout 0.1 of X?") is right


def test_the_cited_place_is_the_cell_not_its_table(
    make_table: "MakeTable", make_paper: "MakePaper", tmp_path: Path
) -> None:
    file = tmp_path / "paper.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_text((100, 100), "92.22 93.33")
        document.new_page()
        document.save(file)
    paper = make_paper(make_table([["Model", "F1"], ["ELMo", "92.22"]]))

    def marks(place: Place, *, column: str = "F1") -> dict[str, float]:
        lookup = GoldLookup(label="Table 1", row="ELMo", column=column, answer="92.22", page=1)
        claims = (Claim(text="It is 92.22.", evidence=(Evidence(element="e", place=place),)),)
        answer = Answer(question="q", status="answered", text="It is 92.22.", claims=claims, context=Context())
        score = score_cell_answer(answer, lookup, paper=paper, file=file)
        return {name: tally.right for name, tally in score.tallies.items()}

    # The parsed table's cells stand at (0, 0, 1, 1).
    assert marks(Place(paper="p", page=1, box=Box(0, 0, 1, 1))) == dict.fromkeys(
        ("right", "answered", "cited_cell", "cited_page"), 1
    )
    table, other = Place(paper="p", page=1, box=Box(0, 0, 9, 9)), Place(paper="p", page=2, box=Box(0, 0, 1, 1))
    assert (marks(table)["cited_page"], marks(table)["cited_cell"]) == (1, 0)
    assert (marks(other)["cited_page"], marks(other)["cited_cell"]) == (0, 0)
    # The parse knows no such column: what the page prints decides.
    value, both = Box(95, 88, 128, 104), Box(95, 88, 200, 104)
    assert marks(Place(paper="p", page=1, box=value), column="lost")["cited_cell"] == 1
    assert marks(Place(paper="p", page=1, box=both), column="lost")["cited_cell"] == 0


def test_an_answer_that_is_none_is_right_nowhere(make_paper: "MakePaper", tmp_path: Path) -> None:
    lookup = GoldLookup(label="Table 1", row="ELMo", column="F1", answer="92.22", page=1)
    answer = Answer(question="q", status="unanswerable", text="Not 92.22.", claims=(), context=Context())
    score = score_cell_answer(answer, lookup, paper=make_paper(), file=tmp_path / "none.pdf")
    assert {name: tally.right for name, tally in score.tallies.items()} == dict.fromkeys(
        ("right", "answered", "cited_cell", "cited_page"), 0
    )
    assert score.misses[0].gold == "92.22"


@pytest.mark.slow
def test_cells_of_a_paper_are_asked_and_bad_ones_said(
    example: "Example", evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("cells", "--data", example.data, "--out", example.out) == 1
    printed = capsys.readouterr().out
    for said in (
        "cells.jsonl:2: page 99 is out of range",
        "cells.jsonl:3: Input should be a valid string at 'row'",
        "cells.jsonl:4: Invalid JSON",
    ):
        assert said in printed, said
    (line,) = (json.loads(line) for line in (example.out / "cells.jsonl").read_text().splitlines())
    assert line["name"] == "papers/example/1"
    assert {name: tally["right"] for name, tally in line["score"]["tallies"].items()} == dict.fromkeys(
        ("right", "answered", "cited_cell", "cited_page"), 1
    )
    assert line["score"]["details"]["question"] == "In Table 2, what is the Value of LoRA rank?"


def test_the_mode_with_a_model_needs_one(
    example: "Example", evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("cells", "--data", example.data, "--mode", "model") == 2
    assert "needs a model that answers" in capsys.readouterr().err


def test_a_folder_without_cells_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("cells", "--data", tmp_path) == 2
    assert "no cells here" in capsys.readouterr().err
