"""What the real peers make of a few texts, each in one process; skipped where they are not installed."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pymupdf
import pytest
from paperscope_lab.evaluation.peers.client import PEERS_PYTHON, PeerResults, run_peer
from paperscope_lab.evaluation.peers.protocol import (
    Found,
    PeerCorpus,
    PeerDocument,
    PeerJob,
    PeerQuestion,
    Unit,
)
from paperscope_lab.evaluation.peers.systems import SYSTEMS

from paperscope_core.models.weights import find_weights
from paperscope_core.types import Entity, Relation

# Read when the tests are collected: a fixture hides our settings from the tests.
PYTHON = Path(os.environ.get("PAPERSCOPE_PEERS_PYTHON", PEERS_PYTHON))

TEXTS = {
    "bees": "Honey bees dance to tell the other bees where flowers with nectar stand.",
    "rocks": "Granite forms when magma cools slowly far below the surface of the earth.",
    "stars": "A white dwarf is the hot remnant of a star that has burnt its hydrogen.",
    "bread": "Sourdough rises because wild yeast and bacteria ferment the flour overnight.",
}
OTHER_TEXTS = {"moon": "The moon has no bees and no flowers.", "again": TEXTS["bees"], "copy": TEXTS["bees"], "": " "}
QUESTIONS = {
    "bees": "How do bees tell others where flowers are?",
    "rocks": "How does granite form from magma?",
    "stars": "What remains of a star without hydrogen?",
}
LIMIT = 4

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PYTHON.is_file(), reason=f"no peers at {PYTHON}: run scripts/setup peers or set PAPERSCOPE_PEERS_PYTHON"
    ),
]
Answers = dict[str, tuple[Found, ...]]


def corpus(name: str, *documents: PeerDocument, ask: dict[str, str]) -> PeerCorpus:
    questions = tuple(PeerQuestion(id=question, text=text) for question, text in ask.items())
    return PeerCorpus(name=name, documents=documents, questions=questions)


def document(texts: dict[str, str], *, file: str = "", with_graph: bool = False) -> PeerDocument:
    """Each text a page; in the graph, "bread" mentions honey bees, too."""
    bee = Entity(id="bee", name="honey bee", type="animal", description="An insect.", sources=("bees", "bread"))
    nectar = Entity(id="nectar", name="nectar", type="food", description="What bees gather.", sources=("bees",))
    gathers = Relation(source="bee", target="nectar", kind="gathers", description="", sources=("bees", "bread"))
    return PeerDocument(
        id="nature",
        title="On nature",
        file=file,
        units=tuple(Unit(id=name, text=text, pages=(page,)) for page, (name, text) in enumerate(texts.items(), 1)),
        entities=(bee, nectar) if with_graph else (),
        relations=(gathers,) if with_graph else (),
    )


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], PeerResults]:
    """The results of a system over all corpora of these tests."""
    folder = tmp_path_factory.mktemp("papers")
    with pymupdf.open() as pages:
        for text in TEXTS.values():
            pages.new_page().insert_textbox((50, 50, 500, 700), f"{text} " * 20)
        pages.save(folder / "nature.pdf")
    (folder / "bad.pdf").write_bytes(b"no paper")
    bad = PeerDocument(id="bad", title="Bad", file=str(folder / "bad.pdf"), units=())
    corpora = (
        corpus("texts", document(TEXTS, with_graph=True), ask=QUESTIONS),
        corpus("other", document(OTHER_TEXTS), ask=QUESTIONS),
        corpus("graph", document(TEXTS, with_graph=True), ask={"bee": "honey bee"}),
        corpus("file", bad, document(TEXTS, file=str(folder / "nature.pdf")), ask=QUESTIONS),
        corpus("repeated", document(TEXTS, with_graph=True), ask=QUESTIONS),
    )

    @cache
    def run(system: str) -> PeerResults:
        job = PeerJob(system=system, weights=find_weights("").location, limit=LIMIT, corpora=corpora)
        results = run_peer(job, python=PYTHON, timeout=300)
        if results.note.startswith("not installed"):
            pytest.skip(results.note)
        assert results.note == ""
        return results

    return run


def answers(results: PeerResults, corpus: str) -> Answers:
    mine = [answer for answer in results.answers if answer.corpus == corpus]
    assert [answer.problem for answer in mine] == [""] * len(mine)
    return {answer.question: answer.found for answer in mine}


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_finds_the_units_that_answer(peers: Callable[[str], PeerResults], system: str) -> None:
    results = peers(system)
    assert results.package.startswith(SYSTEMS[system].package + " ")
    assert (results.indexed[0].units, results.indexed[0].problems) == (len(TEXTS), ())
    found = answers(results, "texts")
    assert list(found) == list(QUESTIONS)
    for name, ranked in found.items():
        page = 1 + list(TEXTS).index(name)
        assert ranked[0] == Found(unit=name, document="nature", pages=(page,), text=TEXTS[name])
        assert len({unit.unit for unit in ranked}) == len(ranked) <= LIMIT
    assert answers(results, "repeated") == found


@pytest.mark.parametrize("system", SYSTEMS)
def test_corpora_of_one_job_do_not_mix_and_equal_texts_come_back(
    peers: Callable[[str], PeerResults], system: str
) -> None:
    results = peers(system)
    assert results.indexed[1].units == 3, "a blank text is none"
    found = answers(results, "other")
    assert {unit.unit for ranked in found.values() for unit in ranked} <= set(OTHER_TEXTS)
    assert {unit.unit for unit in found["bees"][:2]} == {"again", "copy"}


def test_lightrag_mix_takes_units_from_the_graph_that_no_vector_is_near(peers: Callable[[str], PeerResults]) -> None:
    by_vectors, mix = (answers(peers(system), "graph")["bee"] for system in ("minilm", "lightrag-mix"))
    assert [unit.unit for unit in by_vectors][:2] != ["bees", "bread"]
    assert [unit.unit for unit in mix][:2] == ["bees", "bread"]


def test_paperqa_reads_the_file_itself_and_tells_the_pages(peers: Callable[[str], PeerResults]) -> None:
    results = peers("paperqa")
    (problem,) = results.indexed[3].problems
    assert problem.startswith("bad: ")
    for name, ranked in answers(results, "file").items():
        assert (ranked[0].unit, ranked[0].document) == ("", "nature")
        assert 1 + list(TEXTS).index(name) in ranked[0].pages
