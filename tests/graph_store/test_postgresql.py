"""What a library in PostgreSQL does when the server, its rights or the connection stand in its way."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from graph_store import NativeGraphIndex, Store
from graph_store.opening import PRERELEASE, is_library
from graph_store.postgresql import PostgresDatabase
from graph_store.schema import jobs
from graph_store.service_state import ServiceState
from paperscope.library import Library, open_store
from paperscope_core.errors import (
    PaperFileError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreRefusedError,
    StoreUnavailableError,
)
from paperscope_core.locations import PostgresAddress, parse_location
from paperscope_core.types import ModelReply, Usage
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed, view
from tests.postgresql_server import PostgresServer

ONE, TWO, *_ = PAPER_IDS

pytestmark = pytest.mark.slow


@pytest.fixture
def schema(postgresql: PostgresServer) -> str:
    return postgresql.new_schema()


@pytest.fixture
def address(postgresql: PostgresServer, schema: str, tmp_path: Path) -> PostgresAddress:
    return postgresql.address(tmp_path, schema=schema)


@pytest.fixture
def sql(postgresql: PostgresServer, schema: str) -> Iterator[Callable[[str], None]]:
    with postgresql.connect(schema=schema) as connection:

        def run(statements: str) -> None:
            for statement in statements.split(";"):
                connection.execute(statement)

        yield run


@pytest.fixture
def reader(
    postgresql: PostgresServer, schema: str, guest: str, sql: Callable[[str], None], tmp_path: Path
) -> PostgresAddress:
    """The address for the guest, who may see the schema."""
    sql(f"GRANT USAGE ON SCHEMA {schema} TO {guest}")
    return postgresql.address(tmp_path, schema=schema, user=f"{guest}:right")


@pytest.fixture
def guest(postgresql: PostgresServer, sql: Callable[[str], None]) -> Iterator[str]:
    """A user with the password `right`, who may do nothing."""
    sql("CREATE ROLE guest LOGIN PASSWORD 'right'")
    yield "guest"
    sql("DROP OWNED BY guest; DROP ROLE guest")


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    missing = parse_location(f"postgresql://ann:s3cret@/papers?host={tmp_path}&files={tmp_path}")
    with pytest.raises(StoreUnavailableError, match=r"ann@/papers\?host=.*No such file.*can't be reached") as raised:
        Store.open(missing)
    assert "s3cret" not in str(raised.value)


def test_a_wrong_password(postgresql: PostgresServer, schema: str, guest: str, tmp_path: Path) -> None:
    address = postgresql.address(tmp_path, schema=schema, user=f"{guest}:s3cret")
    with pytest.raises(StoreError, match="password authentication failed for user") as raised:
        Store.open(address)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("/postgres?", "/nope?"), 'database "nope" does not exist'),
        (("postgres@", "nobody@"), 'role "nobody" does not exist'),
        (("?host", "?hots=x&host"), 'invalid URI query parameter: "hots"'),
    ],
)
def test_an_address_that_the_server_refuses(address: PostgresAddress, change: tuple[str, str], reason: str) -> None:
    wrong = replace(address, address=address.address.replace(*change))
    with pytest.raises(StoreError, match=rf"{re.escape(reason)}.*check .* the address, the user and the password"):
        Store.open(wrong)


def test_a_server_that_takes_no_more_connections(reader: PostgresAddress, sql: Callable[[str], None]) -> None:
    sql("ALTER ROLE guest CONNECTION LIMIT 0")
    with pytest.raises(StoreError, match=r"too many connections for role.*check that it runs and takes more"):
        Store.open(reader)


def test_a_schema_that_does_not_exist(address: PostgresAddress, schema: str) -> None:
    wrong = replace(address, address=address.address.replace(schema, "nowhere"))
    with pytest.raises(StoreError, match="no schema there; create it, or check the address"):
        Store.open(wrong)


def test_a_user_who_may_not_create_the_tables(reader: PostgresAddress) -> None:
    with pytest.raises(StoreError, match=r"permission denied for schema.*GRANT CREATE"):
        Store.open(reader)


def test_a_service_whose_user_may_not_create_tables(
    address: PostgresAddress,
    reader: PostgresAddress,
    schema: str,
    sql: Callable[[str], None],
    postgresql: PostgresServer,
) -> None:
    rights = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO guest"
    Store.open(address).close()
    sql(rights)
    with closing(ServiceState(reader)) as state, closing(ServiceState(address)) as of_owner:
        for _ in range(3):
            with pytest.raises(StoreError, match=r"permission denied for schema.*GRANT CREATE"):
                state.take("caller", per_minute=1)
        with postgresql.connect() as connection:
            row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'guest'").fetchone()
        assert row == (0,)
        assert of_owner.take("caller", per_minute=1) == 0
        sql(rights)
        assert state.take("caller", per_minute=1) > 0


def test_a_user_who_may_only_read(
    address: PostgresAddress, reader: PostgresAddress, schema: str, sql: Callable[[str], None]
) -> None:
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE))
        before = view(store)
    sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest")
    with pytest.raises(StoreReadOnlyError, match="ask the owner of the database for rights"):
        Store.open(reader)
    with closing(open_store(reader)) as store:
        assert store.read_only
        assert view(store) == before
        with pytest.raises(StoreReadOnlyError, match="no rights to write its tables; ask the owner"):
            add(store, make_indexed(TWO))
    sql(f"REVOKE SELECT ON papers FROM guest; UPDATE library SET version = {PRERELEASE}")  # noqa: S608 # ours
    with (
        closing(open_store(reader)) as store,
        pytest.raises(StoreError, match=r"permission denied for table papers.*GRANT SELECT"),
    ):
        store.entries()


def test_a_library_whose_folder_of_files_is_not_there(address: PostgresAddress, tmp_path: Path) -> None:
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE))
    unmounted = replace(address, files=tmp_path / "unmounted")
    with pytest.raises(StoreError, match=r"unmounted: the library has papers, but .* has none of its files; mount it"):
        Store.open(unmounted)
    assert not unmounted.files.exists()
    (unmounted.files / "crops").mkdir(parents=True)
    Store.open(unmounted).close()


def test_a_server_that_takes_no_changes(address: PostgresAddress, sql: Callable[[str], None]) -> None:
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE))
        with store.database.write() as connection:
            connection.exec_driver_sql("SET default_transaction_read_only = on")
        with pytest.raises(StoreReadOnlyError):
            store.check_room()


def test_files_without_their_database(address: PostgresAddress, sql: Callable[[str], None], schema: str) -> None:
    assert not is_library(address)
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE))
    assert is_library(address)
    sql(f"DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}")
    with pytest.raises(StoreError, match="'crops' has files of a library: restore it from a backup"):
        Store.open(address)


def test_a_connection_that_is_cut_within_a_transaction(address: PostgresAddress, sql: Callable[[str], None]) -> None:
    end_others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'paperscope'"
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE))
        before = view(store)
        with pytest.raises(StoreUnavailableError, match=r"connection was lost.*run the same command again"):
            cut_add(store, lambda: sql(end_others))
        assert (view(store), store.revision) == (before, 1)
        sql(end_others)
        # The connections of the pool are gone, too.
        assert add(store, make_indexed(TWO)) == 2


def test_a_connection_in_use_is_closed_after_the_library(address: PostgresAddress) -> None:
    database = PostgresDatabase(address)
    with database.read() as connection:
        used = connection.connection.driver_connection
        database.close()
    assert isinstance(used, psycopg.Connection)
    assert used.closed


def cut_add(store: Store, cut: Callable[[], None]) -> None:
    with store.database.write() as connection:
        from graph_store.writing import put_paper

        put_paper(connection, make_indexed(TWO), source="/two.pdf", embedder="fake")
        cut()


def test_a_full_server_and_others(address: PostgresAddress) -> None:
    with closing(PostgresDatabase(address)) as database:
        for state, kind, message in (
            ("53100", StoreFullError, "the server's disk is full"),
            ("25006", StoreReadOnlyError, "not writable"),
            ("55P03", StoreError, "locked it for too long"),
            ("XX001", StoreError, "damaged"),
            ("57P01", StoreUnavailableError, "connection was lost"),
            ("57014", StoreError, "statement_timeout"),
            ("54000", StoreRefusedError, "refuses a value or its size"),
        ):
            failure = psycopg.errors.lookup(state)("the server says why")
            with pytest.raises(kind, match=message), database._translated():
                raise DBAPIError("SELECT 1", None, failure)


def test_a_paper_that_the_server_refuses_fails_alone(
    address: PostgresAddress, sql: Callable[[str], None], tmp_path: Path
) -> None:
    files = [tmp_path / f"{title}.md" for title in ("First", "Refused", "Last")]
    with Library.open(address) as library:
        sql("CREATE INDEX refusing ON papers ((1 / (length(title) - length('Refused'))))")
        for file in files:
            file.write_text(f"# {file.stem}\n\nTaggers are compared.")
        library.add(files[0])
        with pytest.raises(PaperFileError, match=r"'Refused.md': what was read of it can't be stored"):
            library.add(files[1])
        library.add(files[2])
        assert sorted(paper.title for paper in library.papers()) == ["First", "Last"]


def test_a_text_with_nul_is_stored_and_looked_up(address: PostgresAddress) -> None:
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE, title="A\0B", texts=["nul\0 and more"]))
        assert store.paper(ONE).title == "A\0B"
        assert store.entries()[0].title == "A\ufffdB"
        assert store.entities(["\0", "\ud800"]) == {}
        with closing(NativeGraphIndex.open(store)) as index:
            assert index.revision == 1


def test_what_models_used_is_added_up(address: PostgresAddress) -> None:
    usage = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cost=0.5)
    with closing(Store.open(address)) as store:
        for key in ("a", "b", "a"):
            store.put_call(key, "model", ModelReply(text="yes", usage=usage))
        total = store.usage()["model"]
        assert total == Usage(calls=2, prompt_tokens=20, completion_tokens=4, cost=1.0)
        assert isinstance(total.prompt_tokens, int)
        assert store.page_counts([]) == {}


def test_a_job_that_another_worker_is_claiming_is_passed_over(address: PostgresAddress) -> None:
    with closing(Store.open(address)) as store:
        first, second = (store.jobs.create("add", str(number)) for number in range(2))
        with store.database.write(lock=None) as connection:
            connection.execute(select(jobs).where(jobs.c.id == first.id).with_for_update())
            claimed = store.jobs.claim("other")
            assert claimed is not None
            assert claimed.id == second.id
            assert store.jobs.claim("other") is None
        claimed = store.jobs.claim("other")
        assert claimed is not None
        assert claimed.id == first.id


def test_the_time_is_that_of_the_server_and_is_asked_for_again(
    address: PostgresAddress, postgresql: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leases of jobs are compared by workers on machines whose clocks differ."""

    class LateClock:
        """A machine that was started just now, and is an hour late."""

        passed = 0.0

        def monotonic(self) -> float:
            return self.passed

        def time(self) -> float:
            return time.time() - 3600

    clock = LateClock()
    monkeypatch.setattr("graph_store.postgresql.time", clock)
    with closing(Store.open(address)) as store, postgresql.connect() as connection:

        def served() -> float:
            row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::text").fetchone()
            return float(str(row[0])) if row else 0.0

        first = store.database.now()
        assert first == pytest.approx(served(), abs=60)
        clock.passed = 30
        assert store.database.now() == first + 30
        # The machine slept: its clock stood still, or jumped.
        clock.passed = 5000
        assert store.database.now() == pytest.approx(served(), abs=60)
