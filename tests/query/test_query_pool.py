"""What naming an entity does to chunks."""

from paperscope.protocols import Corpus
from paperscope.types import Candidates
from query.pool import Pool

PAPER = "aaaa00000001"


def test_what_names_the_best_entity_is_lifted_most(corpus: Corpus) -> None:
    pool = Pool(corpus, Candidates())
    pool.lift_entities([[f"{PAPER}/table-2"], [f"{PAPER}/passage-4"]])
    assert [chunk.elements for chunk in pool.chunks()] == [(f"{PAPER}/table-2",), (f"{PAPER}/passage-4",)]


def test_an_entity_that_stands_everywhere_brings_nothing_in(corpus: Corpus) -> None:
    pool = Pool(corpus, Candidates())
    pool.lift_entities([[f"{PAPER}/passage-{number % 4 + 1}" for number in range(51)]])
    assert pool.chunks() == []
