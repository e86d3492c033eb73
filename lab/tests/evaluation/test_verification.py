"""Wrong numbers planted in right answers: they are wrong, always the same for a seed, and most are flagged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from numpy.random import default_rng
from paperscope_lab.evaluation.verification import (
    PlantedError,
    RightAnswer,
    answer_as_given,
    answer_citing_elements,
    composed_answers,
    plant_errors,
    score_planting,
)

from paperscope_core.protocols import Corpus
from paperscope_core.types import Chunk, Claim, Element, Evidence, Table
from query.element_views import element_text

if TYPE_CHECKING:
    from tests.evaluation.conftest import MakeTable


ROWS = (("Model", "WSJ", "CTB5"), ("Plain", "94.90", "94.10"), ("Focal", "95.17", "96.02"), ("Dice", "95.43", "96.30"))


class Shelf:
    """The part of a library that is read: one table, and the chunk that it is."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def element(self, element: str) -> Element:
        assert element == self._table.id
        return self._table

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        return {element: self.element(element) for element in ids}

    def chunks_of(self, elements: object) -> list[Chunk]:
        text = element_text(self._table)
        ids = (self._table.id,)
        return [Chunk(id="c", paper="p", text=text, elements=ids, section="", place=self._table.place)]


@pytest.fixture
def table(make_table: "MakeTable") -> Table:
    made = make_table(ROWS)
    cells = (replace(cell, role="row_header") if cell.row and not cell.column else cell for cell in made.cells)
    return replace(made, cells=tuple(cells))


@pytest.fixture
def corpus(table: Table) -> Corpus:
    return cast("Corpus", Shelf(table))


def test_each_kind_of_plant_is_made_once_and_is_wrong(table: Table) -> None:
    text = "Dice has 95.43 under WSJ in Table 5."
    made = list(plant_errors(text, question="Of Dice in Table 5?", tables=[table], random=default_rng(1)))
    assert made == list(plant_errors(text, question="Of Dice in Table 5?", tables=[table], random=default_rng(1)))
    by_kind = {plant.kind: plant.wrong for plant in made}
    assert list(by_kind) == ["digit", "sign", "tenfold", "rounding", "row", "column"]
    assert {plant.right for plant in made} == {"95.43"}
    assert by_kind["sign"] == "\u221295.43"
    assert by_kind["tenfold"] in ("954.30", "9.543")
    assert by_kind["rounding"] == "95.5"
    assert (by_kind["row"], by_kind["column"]) == ("95.17", "96.30")
    assert len(by_kind["digit"]) == len("95.43")


def test_a_number_of_the_question_or_of_none_gets_no_plant(table: Table) -> None:
    assert not list(plant_errors("It is 95.43.", question="Is it 95.43?", tables=[table], random=default_rng(1)))
    assert not list(plant_errors("It is seven.", question="", tables=[table], random=default_rng(1)))


def test_a_plant_takes_the_place_of_the_whole_number_only() -> None:
    plant = PlantedError(kind="digit", right="5.4", wrong="5.9")
    assert plant.into("95.43, 5.41, 5.4 and 5.4") == "95.43, 5.41, 5.9 and 5.4"


def test_what_is_composed_of_a_table_passes_and_its_plants_are_flagged(table: Table, corpus: Corpus) -> None:
    cell = next(cell for cell in table.cells if cell.text == "95.17")
    answers = list(composed_answers("What is the WSJ of Focal?", table, cell, row="Focal", column="WSJ", store=corpus))
    assert [answer.kind for answer in answers] == ["look-up", "difference", "bare difference", "mean", "chain"]
    assert answers[1].text == "The WSJ of Focal (95.17) is 0.26 lower than that of Dice (95.43)."
    for answer in answers:
        score = score_planting(answer, seed="0")
        assert score.tallies["passed"].share == 1.0
        assert score.tallies["flagged"].total >= 4
        assert score.tallies["flagged"].share >= 0.75


@pytest.mark.parametrize(("text", "passed"), [("Dice has 95.43 under WSJ.", 1.0), ("Dice has 95.44 under WSJ.", 0.0)])
def test_evidence_that_was_given_stays(table: Table, corpus: Corpus, text: str, passed: float) -> None:
    cell = next(cell for cell in table.cells if cell.text == "95.43")
    claims = [Claim(text=text, evidence=(Evidence(element=table.id, place=cell.place, quote=cell.text),))]
    answer = answer_as_given("What has Dice?", text, claims, store=corpus)
    score = score_planting(answer, seed="0")
    assert score.tallies["passed"].share == passed
    assert score.tallies["flagged.given"].share == 1.0
    assert answer.tables() == [table]


def test_evidence_of_a_model_is_looked_for_by_what_it_says(table: Table, corpus: Corpus) -> None:
    answer: RightAnswer = answer_citing_elements("", "Dice has 95.43 under WSJ.", [table.id], store=corpus)
    [claim] = answer.claims(lambda text: text.replace("95.43", "96.30").replace("WSJ", "CTB5"))
    assert [evidence.quote for evidence in claim.evidence] == ["96.30"]
