"""`Library.table`: what is asked of which paper, and what is kept."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.column_sets import column_set
from paperscope_core.errors import BudgetError, ModelRefusedError, ModelUnavailableError, UnknownPaperError
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.models.fakes import FakeModel
from paperscope_core.settings import Settings
from paperscope_core.types import ModelRequest
from paperscope_core.types.literature import LiteratureColumn
from tests.paperscope.test_table_exports import PAPERS, put_paper

F1 = LiteratureColumn(name="F1", instruction="Which F1 does it reach?", type="number")
TASK = LiteratureColumn(name="Task", instruction="On which task?")
COLUMNS = column_set("t", [F1])
Open = Callable[[FakeModel | None], Library]


def reply(request: ModelRequest) -> str:
    """Cite the only passage for each column that is asked."""
    shown = request.messages[-1].text
    values = {"F1": "0.8" + shown.partition("F1 of 0.8")[2][:1], "Task": "tagging"}
    asked = [name for name in values if f"- {name} (" in shown]
    cells = [{"column": name, "value": values[name], "status": "stated", "evidence": ["S1"]} for name in asked]
    return json.dumps({"rows": [{"row": "", "cells": cells}]})


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    libraries = []
    with closing(Store.open(tmp_path / "library")) as store:
        for number in range(3):
            put_paper(store, number)

    def build(model: FakeModel | None) -> Library:
        models = Models(embedder=FakeEmbedder(), answer=model)
        libraries.append(Library(store=Store.open(tmp_path / "library"), settings=Settings(), models=models))
        return libraries[-1]

    yield build
    for library in libraries:
        library.close()


def test_each_paper_is_one_call_and_only_what_is_new_is_asked(opened: Open) -> None:
    model = FakeModel(reply)
    library = opened(model)
    done: list[str] = []
    table = library.table([F1], papers=PAPERS[:2], title="t", on_paper=lambda entry, _reason: done.append(entry.id))
    assert (len(model.requests), sorted(done), table.usage.calls) == (2, sorted(PAPERS[:2]), 2)
    assert [row.cells[0].value for row in table.rows] == ["0.80", "0.81"]
    assert table.rows[1].cells[0].evidence[0].place.paper == PAPERS[1]
    # Another paper, then another column, then nothing new.
    library.table([F1], title="t")
    assert len(model.requests) == 3
    assert library.table([F1, TASK], title="t").rows[0].cells[1].value == "tagging"
    assert len(model.requests) == 6
    assert "F1 (" not in model.requests[-1].messages[-1].text
    assert library.table([F1, TASK], title="t").usage.calls == 0
    # Another instruction asks again.
    library.table([replace(F1, instruction="Which F1 score?")], papers=PAPERS[:1], title="t")
    assert len(model.requests) == 7


def test_corrected_cells_are_not_asked_again(opened: Open) -> None:
    library = opened(FakeModel(reply))
    table = library.table([F1], title="t")
    library.tables.correct(table.id, PAPERS[0], "F1", "0.9")
    other = FakeModel(reply, name="another")
    again = opened(other).table([F1], title="t")
    assert len(other.requests) == 2
    assert [row.cells[0].shown for row in again.rows] == ["0.9", "0.81", "0.82"]
    # Without a model, what a model has filled stays.
    assert [row.cells[0].shown for row in opened(None).table([F1], title="t").rows] == ["0.9", "0.81", "0.82"]


def test_a_run_that_was_stopped_goes_on_where_it_ended(opened: Open) -> None:
    asked: list[ModelRequest] = []

    def stopping(request: ModelRequest) -> str:
        asked.append(request)
        if len(asked) == 2:
            raise BudgetError("the budget is spent")
        return reply(request)

    library = opened(FakeModel(stopping))
    table = library.define_table(COLUMNS)
    with pytest.raises(BudgetError):
        library.wait(library.fill_table_async(table, at_once=1))
    assert [len(row.cells) for row in library.tables.get(table).rows] == [1, 0, 0]
    model = FakeModel(reply)
    assert all(row.cells for row in opened(model).table([F1], title="t").rows)
    assert len(model.requests) == 2


def test_a_paper_that_fails_does_not_stop_the_others(opened: Open) -> None:
    def failing(request: ModelRequest) -> str:
        if "Paper 1" in request.messages[-1].text:
            raise ModelRefusedError("the content is refused")
        return reply(request)

    table = opened(FakeModel(failing)).table([F1], title="t")
    assert table.failures == ((PAPERS[1], "the content is refused"),)
    assert [len(row.cells) for row in table.rows] == [1, 0, 1]


def test_a_model_that_is_down_is_an_error(opened: Open) -> None:
    def down(_request: ModelRequest) -> str:
        raise ModelUnavailableError("no connection")

    library = opened(FakeModel(down))
    filler = library._asker.tables
    tables = replace(filler, retries=replace(filler.retries, max_rounds=0))
    with pytest.raises(ModelUnavailableError):
        library.wait(tables.fill(tables.define(COLUMNS)))


def test_a_paper_that_is_removed_while_it_is_filled_leaves_no_row(opened: Open, tmp_path: Path) -> None:
    def removing(request: ModelRequest) -> str:
        if "Paper 1" in request.messages[-1].text:
            with closing(Store.open(tmp_path / "library")) as store:
                store.remove(PAPERS[1])
        return reply(request)

    table = opened(FakeModel(removing)).table([F1], title="t")
    assert [row.paper for row in table.rows] == [PAPERS[0], PAPERS[2]]
    assert [paper for paper, _ in table.failures] == [PAPERS[1]]


def test_an_estimate_asks_and_stores_nothing(opened: Open) -> None:
    model = FakeModel(reply)
    library = opened(model)
    found = library.wait(library.question_estimator().estimate_table(COLUMNS, PAPERS[:2]))
    assert (model.requests, library.tables.all()) == ([], [])
    assert (found.least["answer"].calls, found.most["answer"].calls) == (2, 4)
    with pytest.raises(UnknownPaperError):
        library.wait(library.question_estimator().estimate_table(COLUMNS, ["none"]))
    assert library.wait(opened(None).question_estimator().estimate_table(COLUMNS)).least == {}
