"""Other people's systems: what goes across, whatever becomes of their process, and what each of them makes of a text."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from evaluation.peers.documents import peer_document
from evaluation.peers.graph import merged_entities, merged_relations
from evaluation.peers.job import (
    Found,
    PeerAnswer,
    PeerCorpus,
    PeerDocument,
    PeerEntity,
    PeerIndexed,
    PeerJob,
    PeerLine,
    PeerQuestion,
    PeerRelation,
    Unit,
    read_job,
    write_value,
)
from evaluation.peers.paperqa import pages_of
from evaluation.peers.running import PEERS_PYTHON, PeerResults, run_peer
from evaluation.peers.systems import SYSTEMS
from paperscope.codec import from_json
from paperscope.models.weights import find_weights
from paperscope.settings import Settings

# Read when the tests are collected: a fixture hides our settings from the tests.
PYTHON = Path(os.environ.get("PAPERSCOPE_PEERS_PYTHON", PEERS_PYTHON))

TEXTS = {
    "bees": "Honey bees dance to tell the other bees where flowers with nectar stand.",
    "rocks": "Granite forms when magma cools slowly far below the surface of the earth.",
    "stars": "A white dwarf is the hot remnant of a star that has burnt its hydrogen.",
    "bread": "Sourdough rises because wild yeast and bacteria ferment the flour overnight.",
}
QUESTIONS = {
    "bees": "How do bees tell others where flowers are?",
    "rocks": "How does granite form from magma?",
    "stars": "What remains of a star without hydrogen?",
}


def corpus(*, file: str = "", texts: dict[str, str] = TEXTS) -> PeerCorpus:
    units = tuple(Unit(id=name, text=text, pages=(page,)) for page, (name, text) in enumerate(texts.items(), start=1))
    document = PeerDocument(
        id="nature",
        title="On nature",
        file=file,
        units=units,
        entities=(
            PeerEntity(name="honey bee", type="animal", description="An insect.", units=("bees", "bread")),
            PeerEntity(name="nectar", type="food", description="What bees gather.", units=("bees",)),
        ),
        relations=(
            PeerRelation(
                source="honey bee",
                target="nectar",
                description="Bees gather nectar.",
                keywords="gathers",
                weight=1.0,
                units=("bees", "bread"),
            ),
        ),
    )
    questions = tuple(PeerQuestion(id=name, text=text) for name, text in QUESTIONS.items())
    return PeerCorpus(name="small", documents=(document,), questions=questions)


def job(system: str = "bm25", *corpora: PeerCorpus, limit: int = 3) -> PeerJob:
    return PeerJob(system=system, weights=find_weights("").location, limit=limit, corpora=corpora or (corpus(),))


# ---- what goes across


def test_a_job_and_what_comes_back_survive_the_way() -> None:
    asked = job("bm25", corpus(file="/papers/ä b.pdf"))
    assert read_job(write_value(asked)) == asked
    for line in (
        PeerLine(package="bm25s 1"),
        PeerLine(indexed=PeerIndexed(corpus="c", units=2, seconds=0.5, memory_mb=9.0, problems=("a",))),
        PeerLine(
            answer=PeerAnswer(
                corpus="c", question="q", found=(Found(unit="", document="d", pages=(3, 4), text="…\n"),), seconds=1.0
            )
        ),
    ):
        text = write_value(line)
        assert "\n" not in text
        assert from_json(PeerLine, text) == line


def test_a_paper_becomes_a_document_of_chunks_with_the_graph_in_their_terms(root: Path, tmp_path: Path) -> None:
    from paperscope.library.facade import Library

    file = root / "examples/paper/ner-report.pdf"
    with Library.open(tmp_path / "library", settings=Settings()) as library:
        paper = library.add(file).paper
        indexed = library._store.indexed(paper.id)
    document = peer_document(indexed, file=file)
    assert document.file == str(file)
    assert [unit.id for unit in document.units] == [chunk.id for chunk in indexed.chunks]
    assert all(1 <= page <= len(paper.pages) for unit in document.units for page in unit.pages)
    names = {entity.name for entity in document.entities}
    held = {chunk.id: set(chunk.elements) for chunk in indexed.chunks}
    assert document.relations
    for relation in document.relations:
        assert {relation.source, relation.target} <= names
    for entity, source in zip(document.entities, indexed.extraction.entities, strict=True):
        assert entity.units
        assert all(held[unit] & set(source.sources) for unit in entity.units)


# ---- our side


def fake_python(folder: Path, *modules: tuple[str, str]) -> Path:
    """A Python that has these modules (and a distribution bm25s) besides those of ours."""
    for name, source in modules:
        (folder / f"{name}.py").write_text(source)
    (folder / "bm25s-9.dist-info").mkdir()
    (folder / "bm25s-9.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: bm25s\nVersion: 9\n")
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return script


FAKE_BM25S = """
import os, sys
import numpy as np

def tokenize(texts, **options):
    if "boom" in texts[0]:
        raise LookupError("no such\\nword")
    if "kill" in texts[0]:
        os._exit(3)
    return [text.lower().split() for text in texts]

class BM25:
    def index(self, tokens, **options):
        self.tokens = tokens

    def get_scores(self, asked):
        return np.array([float(sum(token in unit for token in asked)) for unit in self.tokens])
"""
FAKE_STEMMER = "def Stemmer(language):\n    assert language == 'english'\n"


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    return fake_python(tmp_path, ("bm25s", FAKE_BM25S), ("Stemmer", FAKE_STEMMER))


def test_what_a_peer_finds_comes_back_in_order(fake: Path) -> None:
    results = run_peer(job(limit=2), python=fake)
    assert (results.package, results.note) == ("bm25s 9", "")
    (indexed,) = results.indexed
    assert (indexed.corpus, indexed.units, indexed.problems) == ("small", 4, ())
    assert 10 < indexed.memory_mb < 2000
    assert [answer.question for answer in results.answers] == list(QUESTIONS)
    first = results.answers[0]
    assert first.found[0] == Found(unit="bees", document="nature", pages=(1,), text=TEXTS["bees"])
    assert all(len(answer.found) <= 2 for answer in results.answers)


def test_one_question_that_fails_leaves_the_rest(fake: Path) -> None:
    small = corpus()
    asked = replace(small, questions=(PeerQuestion(id="bad", text="boom"), *small.questions))
    results = run_peer(job("bm25", asked), python=fake)
    assert results.note == ""
    assert results.answers[0].problem == "LookupError: no such word"
    assert all(answer.found and not answer.problem for answer in results.answers[1:])


def test_one_corpus_that_fails_leaves_the_rest(fake: Path) -> None:
    empty = PeerCorpus(name="empty", documents=(), questions=corpus().questions)
    results = run_peer(job("bm25", empty, corpus()), python=fake)
    assert results.indexed[0].problems == ("ValueError: no text in the corpus 'empty'",)
    assert {answer.corpus for answer in results.answers} == {"small"}


def test_a_process_that_dies_leaves_what_it_had_found(fake: Path) -> None:
    small = corpus()
    asked = replace(small, questions=(*small.questions, PeerQuestion(id="bad", text="kill")))
    results = run_peer(job("bm25", asked), python=fake)
    assert results.note == "failed: ended with 3, no reason given"
    assert [answer.question for answer in results.answers] == list(QUESTIONS)


def test_a_process_that_hangs_is_stopped(tmp_path: Path) -> None:
    python = fake_python(tmp_path, ("bm25s", "import time\ntime.sleep(60)\n"), ("Stemmer", FAKE_STEMMER))
    assert run_peer(job(), python=python, timeout=1).note == "stopped after 1 s"


@pytest.mark.parametrize("reach", ["socket.create_connection(('192.0.2.1', 80), 1)", "socket.getaddrinfo('x.org', 80)"])
def test_a_peer_has_no_network_and_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reach: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    source = f"import os, socket\nassert 'OPENAI_API_KEY' not in os.environ\n{reach}\n"
    python = fake_python(tmp_path, ("bm25s", source), ("Stemmer", FAKE_STEMMER))
    assert "it runs without a network" in run_peer(job(), python=python).note


def test_a_peer_that_is_not_installed_is_named_with_its_remedy(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    assert run_peer(job(), python=absent) == PeerResults(
        system="bm25", note=f"not installed: no {str(absent)!r}; run scripts/setup peers"
    )
    python = fake_python(tmp_path, ("bm25s", FAKE_BM25S), ("Stemmer", "import no_such_module\n"))
    assert run_peer(job(), python=python).note == (
        "not installed: no module 'no_such_module'; run scripts/setup peers"
    )
    absent.write_text("no program")
    assert "can't be run" in run_peer(job(), python=absent).note


# ---- the graph that LightRAG gets


def test_entities_and_relations_of_several_documents_meet() -> None:
    first = corpus().documents[0]
    again = PeerDocument(
        id="more",
        title="",
        file="",
        units=(Unit(id="more", text="Bees like nectar."),),
        entities=(
            PeerEntity(name="Honey Bee", type="insect", description="An insect.", units=("more",)),
            PeerEntity(name="  ", type="", description="", units=()),
        ),
        relations=(
            replace(first.relations[0], source="Nectar", target="Honey bee", weight=2.0, units=("more",)),
            replace(first.relations[0], source="nectar", target="Nectar"),
        ),
    )

    def named(name: str) -> str:
        return name.strip().lower()

    bee, nectar = merged_entities((first, again), named=named)
    assert (bee.name, bee.type, bee.description) == ("honey bee", "animal", "An insect.")
    assert list(bee.units) == ["bees", "bread", "more"]
    assert nectar.name == "nectar"
    (relation,) = merged_relations((first, again), named=named)
    assert (relation.source, relation.target, relation.weight) == ("honey bee", "nectar", 3.0)
    assert list(relation.units) == ["bees", "bread", "more"]


@pytest.mark.parametrize(
    ("name", "pages"), [("Doc2020 pages 3-4", (3, 4)), ("a pages 1-2 pages 7-7", (7,)), ("unit-1", ()), ("pages", ())]
)
def test_the_pages_of_a_chunk_are_in_its_name(name: str, pages: tuple[int, ...]) -> None:
    assert pages_of(name) == pages


# ---- the real ones


@pytest.fixture(scope="session")
def peers_python() -> Path:
    if not PYTHON.is_file():
        pytest.skip(f"the peers are not installed: no {PYTHON}; run scripts/setup peers or set PAPERSCOPE_PEERS_PYTHON")
    return PYTHON


def found_by(system: str, python: Path, *corpora: PeerCorpus, limit: int = 3) -> PeerResults:
    results = run_peer(job(system, *corpora, limit=limit), python=python, timeout=300)
    if results.note.startswith("not installed"):
        pytest.skip(results.note)
    assert results.note == ""
    assert results.package.startswith(SYSTEMS[system].package + " ")
    return results


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_each_finds_the_units_that_answer(peers_python: Path, system: str) -> None:
    results = found_by(system, peers_python, corpus(), limit=4)
    assert [indexed.problems for indexed in results.indexed] == [()]
    assert results.indexed[0].units == 4
    for answer in results.answers:
        assert answer.problem == ""
        assert answer.found[0].unit == answer.question
        assert answer.found[0].text == TEXTS[answer.question]
        assert answer.found[0].pages == (1 + list(TEXTS).index(answer.question),)
        assert len({found.unit for found in answer.found}) == len(answer.found) <= 4
    again = found_by(system, peers_python, corpus(), limit=4)
    assert [answer.found for answer in again.answers] == [answer.found for answer in results.answers]


@pytest.mark.slow
def test_corpora_of_one_job_do_not_mix(peers_python: Path) -> None:
    other = {"moon": "The moon has no bees and no flowers.", "sea": "Salt water freezes below zero degrees."}
    corpora = (corpus(), replace(corpus(texts=other), name="other"))
    for system in ("lightrag-naive", "lightrag-mix"):
        results = found_by(system, peers_python, *corpora)
        for answer in results.answers:
            held = TEXTS if answer.corpus == "small" else other
            assert {found.unit for found in answer.found} <= set(held)


@pytest.mark.slow
def test_lightrag_mix_takes_units_from_the_graph_that_no_vector_is_near(peers_python: Path) -> None:
    asked = replace(corpus(), questions=(PeerQuestion(id="q", text="honey bee"),))
    naive = found_by("lightrag-naive", peers_python, asked, limit=4).answers[0].found
    mix = found_by("lightrag-mix", peers_python, asked, limit=4).answers[0].found
    assert "bread" not in {found.unit for found in naive}
    assert [found.unit for found in mix][:2] == ["bees", "bread"]


@pytest.mark.slow
def test_equal_texts_all_come_back(peers_python: Path) -> None:
    twice = {"one": TEXTS["bees"], "two": TEXTS["bees"], "rocks": TEXTS["rocks"], "blank": " "}
    for system in ("bm25", "minilm", "lightrag-naive"):
        results = found_by(system, peers_python, corpus(texts=twice))
        assert results.indexed[0].units == 3
        assert [found.unit for found in results.answers[0].found[:2]] == ["one", "two"]


@pytest.mark.slow
def test_paperqa_reads_the_paper_itself_and_tells_the_pages(peers_python: Path, tmp_path: Path) -> None:
    with pymupdf.open() as pages:
        for text in TEXTS.values():
            pages.new_page().insert_textbox((50, 50, 500, 700), f"{text} " * 20)
        pages.save(tmp_path / "nature.pdf")
    (tmp_path / "bad.pdf").write_bytes(b"no paper")
    good = corpus(file=str(tmp_path / "nature.pdf"))
    bad = PeerDocument(id="bad", title="Bad", file=str(tmp_path / "bad.pdf"), units=())
    results = found_by("paperqa-short", peers_python, replace(good, documents=(bad, *good.documents)))
    assert len(results.indexed[0].problems) == 1
    assert results.indexed[0].problems[0].startswith("bad: ")
    for answer in results.answers:
        best = answer.found[0]
        assert (best.unit, best.document) == ("", "nature")
        assert 1 + list(TEXTS).index(answer.question) in best.pages
        assert len(best.text) <= 1000
