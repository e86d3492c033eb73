"""A paper is removed between the reads of one request: the response is the paper's or 404, never 500."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import httpx2
import pytest
from sqlalchemy import Connection

from graph_store import Store
from graph_store.database import Database
from paperscope_core.types import Entity, Extraction, Relation, content_hash
from tests.service.conftest import PAPER, PNG, settings_in, small_paper
from tests.service.servers import serve_app

PATHS = [
    "papers",
    f"papers/{PAPER}",
    f"papers/{PAPER}/elements",
    f"papers/{PAPER}/elements/passage-1",
    f"papers/{PAPER}/tables/table-1.csv",
    f"papers/{PAPER}/tables/table-1.html",
    f"papers/{PAPER}/pages/1.png",
    f"papers/{PAPER}/file",
    f"crops/{content_hash(PNG)}",
    "graph?entity=tagger&format=graphml",
    f"graph?entity=tagger&paper={PAPER}",
    f"graph/entities?paper={PAPER}",
    f"models/paperscope/{PAPER}",
]
Read = Callable[[Database], AbstractContextManager[Connection]]


class Remover:
    """Removes the paper before a read of the store."""

    def __init__(self, store: Store, read: Read) -> None:
        self.store, self._read = store, read
        self.reads_left = -1

    @contextmanager
    def read(self, database: Database) -> Iterator[Connection]:
        if database is not self.store.database:
            self.reads_left -= 1
            if self.reads_left == -1:
                self.store.remove(PAPER)
                self.store.sweep()
        with self._read(database) as connection:
            yield connection

    def arm(self, reads: int) -> None:
        """Store the paper, and remove it after so many reads of others."""
        self.reads_left = -1
        passage, table = small_paper().paper.elements
        entities = (
            Entity(id="tagger", name="tagger", type="method", description="", sources=(passage.id,)),
            Entity(id="f1", name="F1", type="metric", description="", sources=(table.id,)),
        )
        relation = Relation(source="tagger", target="f1", kind="measured by", description="", sources=(table.id,))
        extraction = Extraction(entities=entities, relations=(relation,))
        indexed = replace(small_paper(), extraction=extraction)
        self.store.add(indexed, crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
        self.reads_left = reads


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Remover]]:
    settings = settings_in(tmp_path_factory.mktemp("removals"))
    store = Store.open(settings.library)
    engine = type(store.database)
    remover = Remover(store, engine.read)
    with pytest.MonkeyPatch.context() as patch, serve_app(settings) as address:
        patch.setattr(engine, "read", lambda database: remover.read(database))  # noqa: PLW0108 # a method
        yield address, remover
    store.close()


@pytest.mark.parametrize("path", PATHS)
def test_a_read_that_races_a_removal_is_found_or_not(service: tuple[str, Remover], path: str) -> None:
    address, remover = service
    found = []
    for reads in range(30):
        remover.arm(reads)
        response = httpx2.get(f"{address}/v1/{path}")
        found.append(response.status_code)
        assert response.status_code in {200, 404}, (reads, response.text)
        if response.status_code == 404:
            assert re.search("unknown.(paper|element|entity|crop)|no-(file|picture)|model", response.text), (
                response.text
            )
        if remover.reads_left >= 0:
            return
    pytest.fail(f"more than 30 reads: {found}")


def test_a_damaged_paper_is_named_and_can_be_removed(service: tuple[str, Remover]) -> None:
    address, remover = service
    remover.arm(-1)
    with remover.store.database.write() as connection:
        connection.exec_driver_sql("UPDATE papers SET value = '{'")
    shown = httpx2.get(f"{address}/v1/papers/{PAPER}")
    assert (shown.status_code, shown.json()["type"]) == (503, "urn:paperscope:problem:store-damaged")
    assert f"paper {PAPER!r} is damaged; remove the paper and add it again" in shown.json()["detail"]
    assert [one["id"] for one in httpx2.get(f"{address}/v1/papers").json()["papers"]] == [PAPER]
    assert httpx2.delete(f"{address}/v1/papers/{PAPER}").status_code == 204
    assert httpx2.get(f"{address}/v1/papers/{PAPER}").status_code == 404
