"""Literature tables in the store: cells, corrections and excluded rows."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph_store import Store
from paperscope_core.errors import InputError, UnknownTableError
from paperscope_core.locations import Location
from paperscope_core.types import Box, Evidence, Place
from paperscope_core.types.literature import ColumnSet, LiteratureCell, LiteratureColumn
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed

ONE, TWO, *_ = PAPER_IDS
COLUMNS = ColumnSet(title="Trials", columns=(LiteratureColumn(name="Sample"), LiteratureColumn(name="Dose")))
PLACE = Place(paper=ONE, page=2, box=Box(1.5, 2.25, 30.0, 40.125))
SAMPLE = LiteratureCell(
    column="Sample",
    value="512",
    made="hash",
    status="stated",
    evidence=(Evidence(element=f"{ONE}/passage-1", place=PLACE),),
)


@pytest.fixture
def store(location: Location) -> Iterator[Store]:
    with closing(Store.open(location)) as store:
        add(store, make_indexed(ONE))
        add(store, make_indexed(TWO))
        yield store


def test_a_table_is_known_by_its_title_and_keeps_cells(store: Store) -> None:
    table = store.tables.define(COLUMNS, [ONE, TWO, ONE])
    store.tables.put(table, ONE, {"": [SAMPLE]})
    found = store.tables.get(table)
    assert (found.title, found.papers) == ("Trials", (ONE, TWO))
    assert [(row.title, row.cells) for row in found.rows] == [
        (f"On paper {ONE}", (SAMPLE,)),
        (f"On paper {TWO}", ()),
    ]
    wider = replace(COLUMNS, title=" trials", columns=(*COLUMNS.columns, LiteratureColumn(name="Arm")))
    assert store.tables.define(wider, [ONE]) == table
    (row,) = store.tables.get(table).rows
    assert row.cell("Sample") == SAMPLE
    assert [one.id for one in store.tables.all()] == [table]
    store.tables.delete(table)
    assert store.tables.all() == []


def test_a_correction_outlives_new_values_and_the_paper(store: Store) -> None:
    table = store.tables.define(COLUMNS, [ONE])
    store.tables.put(table, ONE, {"": [SAMPLE]})
    store.tables.correct(table, ONE, "Sample", "5\x000\x1b0")
    store.tables.correct(table, ONE, "Dose", "")
    store.tables.put(table, ONE, {"": [replace(SAMPLE, value="513"), LiteratureCell(column="Dose")]})
    (row,) = store.tables.get(table).rows
    assert [(cell.value, cell.correction, cell.shown) for cell in row.cells] == [("513", "500", "500"), ("", "", "")]
    store.tables.correct(table, ONE, "Dose", None)
    store.remove(ONE)
    assert store.tables.get(table).rows == ()
    add(store, make_indexed(ONE))
    assert [cell.correction for cell in store.tables.get(table).rows[0].cells] == ["500"]


def test_a_row_is_excluded_for_a_reason(store: Store) -> None:
    table = store.tables.define(COLUMNS, [ONE, TWO])
    store.tables.exclude(table, TWO, " No\x00  controls\x1b ")
    store.tables.define(COLUMNS, [ONE, TWO])
    found = store.tables.get(table)
    assert [row.excluded for row in found.rows] == ["", "No controls"]
    assert [row.paper for row in found.included] == [ONE]
    store.tables.exclude(table, TWO, "")
    assert len(store.tables.get(table).included) == 2


def test_rows_within_a_paper_keep_their_order(store: Store) -> None:
    arms = replace(COLUMNS, rows="arm")
    table = store.tables.define(arms, [ONE])
    store.tables.put(table, ONE, {"b": [SAMPLE], "a": [SAMPLE]})
    store.tables.put(table, ONE, {"a": [LiteratureCell(column="Dose")], "c": [SAMPLE]})
    assert [(row.name, len(row.cells)) for row in store.tables.get(table).rows] == [("b", 1), ("a", 2), ("c", 1)]
    store.tables.define(COLUMNS, [ONE])
    assert [(row.name, row.cells) for row in store.tables.get(table).rows] == [("", ())]


def test_what_there_is_not_is_refused(store: Store) -> None:
    with pytest.raises(UnknownTableError, match="table-0"):
        store.tables.put("table-0", ONE, {})
    table = store.tables.define(COLUMNS, [ONE])
    for paper, row, column in ((TWO, "", "Sample"), (ONE, "arm", "Sample"), (ONE, "", "None")):
        with pytest.raises(UnknownTableError, match=r"no (row|column)"):
            store.tables.correct(table, paper, column, "x", row=row)
    with pytest.raises(InputError, match="4001 characters"):
        store.tables.correct(table, ONE, "Sample", "x" * 4001)
    with pytest.raises(InputError, match="501 characters"):
        store.tables.exclude(table, ONE, "x" * 501)


def test_tables_are_copied(store: Store, tmp_path: Path, location: Location) -> None:
    from graph_store.copying import copy_library

    table = store.tables.define(COLUMNS, [ONE])
    store.tables.put(table, ONE, {"": [SAMPLE]})
    store.tables.correct(table, ONE, "Sample", "500")
    copy_library(location, tmp_path / "copy", on_progress=lambda *_progress: None)
    with closing(Store.open(tmp_path / "copy")) as copy:
        assert copy.tables.get(table) == store.tables.get(table)
