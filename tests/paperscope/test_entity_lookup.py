"""Finding an entity by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph_store import NativeGraphIndex, Store
from paperscope.entity_lookup import find_entity
from paperscope_core.errors import UnknownEntityError
from paperscope_core.types import WORK
from tests.graph_store.indexed_papers import add, make_indexed

PAPER = "aaaa00000001"


def test_a_method_is_preferred_to_the_paper_of_the_same_name(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    made = make_indexed(PAPER, names=("Neural filtering", "Trees by night"))
    method, other = made.extraction.entities
    works = (
        replace(method, id="paper li neuralfiltering", type=WORK, aliases=("Li et al., 2020",)),
        replace(other, id="paper li treesbynight", type=WORK, aliases=("Li et al., 2020",)),
    )
    entities = (method, other, *works)
    add(store, replace(made, extraction=replace(made.extraction, entities=entities)))
    index = NativeGraphIndex.open(store)
    assert find_entity(store, index, "neural filtering", papers=()) == method
    with pytest.raises(UnknownEntityError, match="may be any of"):
        find_entity(store, index, "Li et al., 2020", papers=())
    index.close()
    store.close()


def test_a_paper_is_found_by_its_title_or_its_id(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    title = "A Demonstration of a System for Answering Questions about the Tables and Figures of Many Papers at Once"
    made = make_indexed(PAPER, names=(title, "Trees"))
    work, other = made.extraction.entities
    work = replace(work, id="paper li ademonstration", type=WORK)
    add(store, replace(made, extraction=replace(made.extraction, entities=(work, other), relations=())))
    index = NativeGraphIndex.open(store)
    for name in (title, title.lower(), work.id):
        assert find_entity(store, index, name, papers=()).id == work.id
        assert find_entity(store, index, name, papers=[PAPER]).id == work.id
        with pytest.raises(UnknownEntityError):
            find_entity(store, index, name, papers=["bbbb00000002"])
    index.close()
    store.close()
