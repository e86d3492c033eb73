"""Which versions of a library are opened, and what becomes of them."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from graph_store import NativeGraphIndex, Store
from graph_store.copying import copy_library
from graph_store.opening import CURRENT, PRERELEASE
from graph_store.schema import ADDED
from paperscope_core.errors import StoreError, StoreVersionError, UnknownTableError
from paperscope_core.locations import Location, PostgresAddress, files_folder
from paperscope_core.types import RetrievalRequest
from paperscope_core.types.literature import ColumnSet, LiteratureColumn
from tests.graph_store.indexed_papers import EMBEDDER, PAPER_IDS, add, make_indexed, unit_vector, view
from tests.postgresql_server import PostgresServer

ONE, TWO, THREE, *_ = PAPER_IDS
LONG = "large language model"
DUMPS = Path(__file__).with_name("prerelease")

Sql = Callable[[str], None]


@pytest.fixture
def sql(request: pytest.FixtureRequest, location: Location) -> Sql:
    """Runs statements on the database of the place, which need not be a library."""

    def run(statements: str) -> None:
        if isinstance(location, PostgresAddress):
            server: PostgresServer = request.getfixturevalue("postgresql")
            with server.connect(schema=location.address.rpartition("%3D")[2]) as connection:
                connection.execute(statements.encode())
            return
        location.mkdir(exist_ok=True)
        with closing(sqlite3.connect(location / "library.sqlite")) as connection:
            connection.executescript(statements)

    return run


@pytest.fixture
def old(location: Location, sql: Sql) -> Location:
    """A library of the last version before the first release."""
    engine = "postgresql" if isinstance(location, PostgresAddress) else "sqlite"
    sql((DUMPS / f"{engine}.sql").read_text(encoding="utf-8"))
    (files_folder(location) / "crops").mkdir(parents=True)
    return location


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, location: Location, tmp_path: Path) -> Location:
    """Another place on the same engine."""
    if isinstance(location, PostgresAddress):
        server: PostgresServer = request.getfixturevalue("postgresql")
        return server.address(tmp_path / "other")
    return tmp_path / "other"


def version_of(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT version FROM library").scalar_one())


def schema_of(connection: Connection) -> dict[str, object]:
    """The columns, keys and indexes of each table."""
    found = inspect(connection)
    return {
        table: (
            sorted((column["name"], str(column["type"]), column["nullable"]) for column in found.get_columns(table)),
            found.get_pk_constraint(table)["constrained_columns"],
            sorted(str(key["referred_table"]) for key in found.get_foreign_keys(table)),
            sorted((str(index["name"]), index["column_names"]) for index in found.get_indexes(table)),
        )
        for table in found.get_table_names()
    }


def check(store: Store) -> None:
    """Whether everything in the library of the dumps is read."""
    assert [(entry.id, entry.authors) for entry in store.entries()] == [
        (paper, ("A. Writer", "B. Ødegård")) for paper in (ONE, TWO)
    ]
    assert (
        store.indexed(ONE).extraction
        == make_indexed(ONE, names=("BERT", LONG), defined=(LONG,), note="seen").extraction
    )
    assert store.images(ONE) == make_indexed(ONE, names=("BERT", LONG), note="seen").images
    assert len(store.entities([LONG])[LONG].sources) == 4
    assert store.library_ids(["llm"]) == {"llm": [LONG]}
    assert store.get_call("key") is not None
    assert list(store.get_vectors(EMBEDDER, ["text"])) == ["text"]
    assert [job.id for job in store.jobs.all()] == ["job-1"]
    (head,) = store.conversations.all()
    (turn,) = store.conversations.get(head.id).turns
    assert (turn.question, turn.text) == ("Which F1?", "The F1 is 0.83.")
    assert turn.claims[0].evidence[0].place.page == 1


def test_a_library_of_before_the_first_release_is_read_as_it_is(old: Location) -> None:
    with closing(Store.open(old, read_only=True)) as store, store.database.read() as connection:
        check(store)
        assert version_of(connection) == PRERELEASE


def test_a_library_of_before_the_first_release_is_upgraded(old: Location) -> None:
    with closing(Store.open(old)) as store:
        check(store)
        with store.database.read() as connection:
            assert version_of(connection) == CURRENT
        add(store, make_indexed(THREE))
        assert store.searchable(THREE).numbers.min() == 4
        claimed = store.jobs.claim("worker")
        assert claimed is not None
        assert claimed.id == "job-1"
        with closing(NativeGraphIndex.open(store)) as index:
            found = index.retrieve(RetrievalRequest(text="Who trains BERT?", vector=unit_vector(1)))
        assert found.named[0].id == "bert"
    with closing(Store.open(old, read_only=True)) as store:
        assert len(store.entries()) == 3


def test_the_tables_of_before_the_first_release_are_those_of_version_1(old: Location, elsewhere: Location) -> None:
    with closing(Store.open(old, read_only=True)) as store, store.database.read() as connection:
        before = schema_of(connection)
    with closing(Store.open(elsewhere)) as store, store.database.read() as connection:
        now = schema_of(connection)
    added = {table.name for table in ADDED}
    assert added <= now.keys()
    assert before == {name: columns for name, columns in now.items() if name not in added}


def test_a_library_of_before_later_tables_is_completed(location: Location, sql: Sql, elsewhere: Location) -> None:
    with closing(Store.open(location)) as store:
        add(store, make_indexed(ONE))
        with store.database.read() as connection:
            complete = schema_of(connection)
    sql(
        "; ".join(
            f"DROP TABLE {name}" for name in ("literature_cells", "literature_tables", "tags", "notes", "separations")
        )
    )
    with closing(Store.open(location, read_only=True)) as store:
        assert (store.tables.all(), store.tags.all(), store.notes.all()) == ([], {}, [])
        with pytest.raises(UnknownTableError, match="table-0"):
            store.tables.get("table-0")
        assert store.separations() == frozenset()
    copy_library(location, elsewhere, on_progress=lambda *_progress: None)
    for place in (location, elsewhere):
        with closing(Store.open(place)) as store, store.database.read() as connection:
            assert schema_of(connection) == complete
            assert [entry.id for entry in store.entries()] == [ONE]


def test_a_library_of_before_tags_has_its_literature_tables(location: Location, sql: Sql) -> None:
    with closing(Store.open(location)) as store:
        table = store.tables.define(ColumnSet(title="T", columns=(LiteratureColumn(name="A"),)), [])
    sql("DROP TABLE tags; DROP TABLE notes")
    with closing(Store.open(location, read_only=True)) as store:
        assert [one.id for one in store.tables.all()] == [table]
    with closing(Store.open(location)) as store:
        store.tags.change([ONE], add=["owls"])


def test_a_library_of_before_the_first_release_is_copied(old: Location, tmp_path: Path) -> None:
    copy_library(old, tmp_path / "copy", on_progress=lambda *_progress: None)
    with closing(Store.open(tmp_path / "copy")) as store, closing(Store.open(old, read_only=True)) as source:
        check(store)
        assert view(store) == view(source)


def test_a_new_library_can_not_be_mistaken_for_one_of_before(location: Location) -> None:
    with closing(Store.open(location)) as store, store.database.read() as connection:
        assert version_of(connection) > PRERELEASE


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("version", "message"),
    [
        (1, r"before the first release \(library version 1; .* the last Paperscope before 0.1.0, or add its papers"),
        (13, r"before the first release \(library version 13; "),
        (CURRENT + 1, r"written by a newer Paperscope \(library version 2; this one reads version 1\); update"),
        (15, r"written by a newer Paperscope \(library version 15; "),
        (-1, "a copy of a library to this place has not ended"),
    ],
)
def test_another_version_is_refused(location: Location, sql: Sql, version: int, message: str, read_only: bool) -> None:
    Store.open(location).close()
    sql(f"UPDATE library SET version = {version}")  # noqa: S608 # ours
    with pytest.raises(StoreError, match=message) as raised:
        Store.open(location, read_only=read_only)
    assert isinstance(raised.value, StoreVersionError) == (version > 0)


def test_a_database_of_another_program(location: Location, sql: Sql) -> None:
    sql("CREATE TABLE other (name TEXT)")
    with pytest.raises(StoreError, match="no Paperscope library"):
        Store.open(location)
