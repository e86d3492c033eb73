"""Rows of literature tables: one context and one call a paper, and cells with checked evidence."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from paperscope_core.errors import ContextTooLongError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.settings import AnswerSettings, RetrievalSettings
from paperscope_core.types import ModelRequest
from paperscope_core.types.literature import CellStatus, ColumnSet, LiteratureCell, LiteratureColumn
from query import QueryEngine
from query.literature import RowFiller
from tests.query.conftest import PAPER, TREE, MemoryLibrary, listed

RATIO = LiteratureColumn(name="Ratio", instruction="What is the ratio for QUOREF?", type="number")
TIME = LiteratureColumn(name="Time", instruction="How long did training take?")
LOSS = LiteratureColumn(name="Loss", type="category", values=("dice", "focal"))
ENTRY = listed(TREE)


def cell(column: str, value: str, *evidence: str, status: str = "stated", words: str = "") -> dict[str, object]:
    return {"column": column, "value": value, "status": status, "evidence": list(evidence), "words": words}


def rows(*cells: dict[str, object], row: str = "", look_up: tuple[dict[str, str], ...] = ()) -> str:
    return json.dumps({"rows": [{"row": row, "cells": list(cells)}], "look_up": list(look_up)})


def source(request: ModelRequest, text: str) -> str:
    """The number of the source that has a text, as a row to cite."""
    shown = request.messages[-1].text
    before = shown[: shown.index(text)].splitlines()
    return "S" + next(line for line in reversed(before) if line[:1].isdigit()).partition(",")[0]


@pytest.fixture
def filler(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> Callable[..., RowFiller]:
    def build(
        model: FakeModel | None, *, vision: FakeModel | None = None, tokens: int = 12_000, rounds: int = 1
    ) -> RowFiller:
        retrieval, answering = RetrievalSettings(tokens=tokens), AnswerSettings(rounds=rounds)
        engine = QueryEngine(corpus, index, embedder, model, vision, settings=retrieval, answering=answering)
        return RowFiller(corpus, engine, model, vision, retrieval=retrieval, answering=answering)

    return build


async def filled(
    filler: RowFiller, *columns: LiteratureColumn, rows: str = "paper", known: tuple[str, ...] = ()
) -> tuple[LiteratureCell, ...]:
    asked = ColumnSet(title="t", columns=columns, rows=rows)
    found = await filler.fill(ENTRY, asked, [one.name for one in columns], known=known)
    return tuple(one for cells in found.rows.values() for one in cells)


async def test_one_call_fills_all_columns_from_the_whole_paper(filler: Callable[..., RowFiller]) -> None:
    def reply(request: ModelRequest) -> str:
        table, passage = source(request, "QUOREF"), source(request, "Training took five hours")
        return rows(
            cell("ratio", "169", table, words="QUOREF | ratio: 169"),
            cell("Time", "five hours", passage, words="Training took five hours on one machine."),
        )

    model = FakeModel(reply)
    ratio, time = await filled(filler(model), RATIO, TIME)
    assert len(model.requests) == 1
    assert (ratio.value, ratio.status, ratio.findings) == ("169", "stated", ())
    assert [(one.element, one.quote) for one in ratio.evidence] == [(f"{PAPER}/table-1", "169")]
    assert ratio.evidence[0].name == "Dice Losses for Imbalanced Tagging, Table 1, page 1"
    assert (time.value, time.evidence[0].place.page) == ("five hours", 2)
    assert not time.doubtful
    assert "Rare tags. 2019." not in model.requests[0].messages[-1].text


@pytest.mark.parametrize(
    ("column", "said", "status", "kind"),
    [
        # Nothing is cited, the number is not printed there, the value is not allowed, or is no number.
        (RATIO, cell("Ratio", "169"), "unclear", "claim"),
        (RATIO, cell("Ratio", "170.5", "S1"), "unclear", "number"),
        (RATIO, cell("Ratio", "170.5", "S99"), "unclear", "claim"),
        (RATIO, cell("Ratio", "high", "S1"), "unclear", "note"),
        (LOSS, cell("Loss", "hinge", "S1"), "unclear", "note"),
        (
            replace(TIME, type="quotation"),
            cell("Time", "It took ten long hours of work.", "S1"),
            "unclear",
            "quotation",
        ),
    ],
)
async def test_a_value_that_is_not_supported_is_unclear_and_flagged(
    filler: Callable[..., RowFiller], column: LiteratureColumn, said: dict[str, object], status: CellStatus, kind: str
) -> None:
    (found,) = await filled(filler(FakeModel([rows(said)])), column)
    assert (found.value, found.status) == (said["value"], status)
    assert kind in [one.kind for one in found.findings]
    assert found.doubtful


@pytest.mark.parametrize("said", ["", "Not reported", "N/A", "–", None, "The paper does not mention the time."])
async def test_what_the_paper_does_not_state_is_empty(filler: Callable[..., RowFiller], said: str | None) -> None:
    reply = rows({"column": "Time", "value": said, "status": "not stated", "evidence": []})
    (found,) = await filled(filler(FakeModel([reply])), TIME)
    assert (found.value, found.status, found.doubtful) == ("", "not stated", False)


async def test_an_allowed_value_is_written_as_the_column_has_it(filler: Callable[..., RowFiller]) -> None:
    is_open = LiteratureColumn(name="Open", type="yes/no")
    model = FakeModel([rows(cell("Loss", "Dice.", "S1"), cell("Open", "Yes, it is on one machine", "S1"))])
    loss, opened = await filled(filler(model), LOSS, is_open)
    assert (loss.value, opened.value) == ("dice", "yes")


async def test_a_computed_value_shows_its_arithmetic(filler: Callable[..., RowFiller]) -> None:
    gain = LiteratureColumn(name="Gain", instruction="By how much is Dice better than Plain on CTB5?", type="number")

    def reply(request: ModelRequest) -> str:
        words = "Plain | CTB5: 94.10; Dice | CTB5: 96.30"
        return rows(cell("Gain", "2.20", source(request, "Plain"), status="computed", words=words))

    (found,) = await filled(filler(FakeModel(reply)), gain)
    assert (found.status, [one.formula for one in found.checks]) == ("computed", ["96.30 − 94.10 = 2.20"])


async def test_evidence_under_a_wrong_number_is_found_by_its_words(filler: Callable[..., RowFiller]) -> None:
    reply = rows(cell("Time", "five hours", "S0", words="Training took five hours on one machine."))
    (found,) = await filled(filler(FakeModel([reply])), TIME)
    assert found.evidence[0].element == f"{PAPER}/passage-4"


async def test_a_column_that_the_reply_lacks_is_asked_for_once_more(filler: Callable[..., RowFiller]) -> None:
    model = FakeModel([rows(cell("Ratio", "169", "S2")), rows()])
    _, time = await filled(filler(model), RATIO, TIME)
    assert len(model.requests) == 2
    assert "Ratio" not in model.requests[1].messages[-1].text
    assert (time.status, [one.kind for one in time.findings]) == ("unclear", ["reply"])


async def test_pictures_are_looked_up_with_one_further_call(filler: Callable[..., RowFiller]) -> None:
    first = rows(cell("Time", "", status="not stated"), look_up=({"tool": "element", "argument": "Equation 1"},))
    model = FakeModel(
        [first, rows(cell("Time", "about 40 epochs", "I0"), look_up=({"tool": "page", "argument": "1"},))]
    )
    picture = {"picture": 1, "relevant": True, "finding": "the curves end at about 40 epochs", "agrees": False}
    vision = FakeModel([json.dumps({"pictures": [picture]})])
    (found,) = await filled(filler(model, vision=vision), TIME)
    assert (len(model.requests), len(vision.requests)) == (2, 1)
    assert (found.value, found.evidence[0].element) == ("about 40 epochs", f"{PAPER}/equation-1")


async def test_without_a_vision_model_a_whole_paper_has_no_look_ups(filler: Callable[..., RowFiller]) -> None:
    model = FakeModel([rows(cell("Time", "", status="not stated"))])
    await filled(filler(model), TIME)
    assert "look_up" not in str(model.requests[0].schema)


async def test_a_long_paper_is_retrieved_for_each_column(filler: Callable[..., RowFiller]) -> None:
    model = FakeModel([rows(cell("Time", "", status="not stated"), cell("Ratio", "", status="not stated"))])
    small = filler(model, tokens=500)
    small._count = len
    await filled(small, TIME, RATIO)
    shown = model.requests[0].messages[-1].text
    assert "Training took five hours" in shown
    assert "look_up" in str(model.requests[0].schema)
    assert len(shown) < 3000


async def test_a_short_window_gets_less(filler: Callable[..., RowFiller]) -> None:
    model = FakeModel([ContextTooLongError("too long"), rows(cell("Time", "", status="not stated"))])
    (found,) = await filled(filler(model), TIME)
    assert found.status == "not stated"


async def test_rows_are_things_within_a_paper(filler: Callable[..., RowFiller]) -> None:
    f1 = LiteratureColumn(name="F1", instruction="What is its F1 on WSJ?", type="number")

    def reply(request: ModelRequest) -> str:
        at = source(request, "Plain")
        plain = {"row": "Plain", "cells": [cell("F1", "94.90", at)]}
        dice = {"row": "Dice", "cells": [cell("F1", "95.43", at)]}
        return json.dumps({"rows": [plain, dice, {"row": "", "cells": []}]})

    asked = ColumnSet(title="t", columns=(f1,), rows="method")
    found = await filler(FakeModel(reply)).fill(ENTRY, asked, ["F1"])
    assert [(name, cells[0].value) for name, cells in found.rows.items()] == [("Plain", "94.90"), ("Dice", "95.43")]
    # Later columns get the same rows.
    again = FakeModel(reply)
    found = await filler(again).fill(ENTRY, asked, ["F1"], known=("dice",))
    assert list(found.rows) == ["dice"]
    assert "no other" in again.requests[0].messages[-1].text


async def test_without_a_model_a_table_cell_is_certain_and_the_rest_shows_its_place(
    filler: Callable[..., RowFiller],
) -> None:
    score = LiteratureColumn(name="F1", instruction="What is the F1 of Dice on WSJ in Table 2?", type="number")
    f1, time = await filled(filler(None), score, TIME)
    assert (f1.status, f1.model) == ("stated", "")
    assert "95.43" in f1.value
    assert (time.value, time.status, [one.kind for one in time.findings]) == ("", "unclear", ["model"])
    assert time.evidence


async def test_a_paper_without_text_is_not_asked(embedder: Embedder) -> None:
    empty = replace(TREE, elements=(), links=())
    library = MemoryLibrary(empty)
    model = FakeModel([])
    row_filler = RowFiller(library, QueryEngine(library, library, embedder, model), model)
    (found,) = await filled(row_filler, TIME)
    assert (found.status, str(found.findings[0])) == ("unclear", "it has no text")


async def test_many_columns_are_asked_in_groups(filler: Callable[..., RowFiller]) -> None:
    columns = tuple(LiteratureColumn(name=f"Column {number}") for number in range(25))

    def reply(request: ModelRequest) -> str:
        asked = [one.name for one in columns if f"- {one.name} (" in request.messages[-1].text]
        return rows(*(cell(name, "", status="not stated") for name in asked))

    model = FakeModel(reply)
    found = await filled(filler(model), *columns)
    assert (len(model.requests), len(found)) == (3, 25)
