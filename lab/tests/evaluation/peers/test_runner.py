"""Other people's systems: what goes across and comes back, whatever becomes of their process."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paperscope_lab.evaluation.peers.client import PeerResults, _complete_lines, peer_document, run_peer
from paperscope_lab.evaluation.peers.protocol import (
    Found,
    PeerAnswer,
    PeerCorpus,
    PeerDocument,
    PeerIndexed,
    PeerJob,
    PeerLine,
    PeerQuestion,
    Unit,
)

from paperscope_core.codec import from_json, to_json
from paperscope_core.types import Box, Chunk, Entity, Extraction, IndexedPaper, Paper, Passage, Place, Relation

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
            Entity(id="bee", name="honey bee", type="animal", description="An insect.", sources=("bees", "bread")),
        ),
        relations=(Relation(source="bee", target="wax", kind="makes", description="", sources=("bees",), weight=0.5),),
    )
    questions = tuple(PeerQuestion(id=name, text=text) for name, text in QUESTIONS.items())
    return PeerCorpus(name="small", documents=(document,), questions=questions)


def job(system: str = "bm25", *corpora: PeerCorpus, limit: int = 3) -> PeerJob:
    return PeerJob(system=system, weights="/weights", limit=limit, corpora=corpora or (corpus(),))


# ---- what goes across


def test_a_job_and_what_comes_back_survive_the_way() -> None:
    asked = job("bm25", corpus(file="/papers/ä b.pdf"))
    assert from_json(PeerJob, to_json(asked)) == asked
    for line in (
        PeerLine(package="bm25s 1"),
        PeerLine(indexed=PeerIndexed(corpus="c", units=2, seconds=0.5, memory_mb=9.0, problems=("a",))),
        PeerLine(
            answer=PeerAnswer(
                corpus="c", question="q", found=(Found(unit="", document="d", pages=(3, 4), text="…\n"),), seconds=1.0
            )
        ),
    ):
        text = to_json(line)
        assert "\n" not in text
        assert from_json(PeerLine, text) == line


def test_results_may_quote_any_line_separator(tmp_path: Path) -> None:
    answers = [PeerLine(answer=PeerAnswer(corpus="c", question="a\u2028b\x85", problem=text)) for text in ("1", "2")]
    file = tmp_path / "result.jsonl"
    file.write_text("".join(to_json(line) + "\n" for line in answers) + '{"answer": {"cor', encoding="utf-8")
    assert list(_complete_lines(file)) == answers


def test_a_paper_becomes_a_document_of_chunks_with_the_graph_in_their_terms(make_paper: Callable[..., Paper]) -> None:
    places = [Place(paper="p", page=page, box=Box(0, 0, 1, 1)) for page in (1, 2, 3)]
    passages = [
        Passage(id=f"p/passage-{place.page}", place=place, order=place.page, text=f"text {place.page}")
        for place in places
    ]
    parts = [passages[:2], passages[1:2], passages[2:]]
    chunks = tuple(
        Chunk(
            id=f"p/chunk-{number}",
            paper="p",
            text=" ".join(passage.text for passage in part),
            elements=tuple(passage.id for passage in part),
            section="",
            place=part[0].place,
        )
        for number, part in enumerate(parts, start=1)
    )
    entities = (
        Entity(id="bee", name="Bee", type="animal", description="", sources=("p/passage-2", "p/passage-1")),
        Entity(id="wax", name="Wax", type="thing", description="", sources=("p/passage-3",)),
    )
    relation = Relation(source="bee", target="wax", kind="makes", description="", sources=("p/passage-3",), weight=2.0)
    indexed = IndexedPaper(
        paper=make_paper(*passages, title="On bees"),
        chunks=chunks,
        extraction=Extraction(entities=entities, relations=(relation,)),
        vectors=np.zeros((3, 2), dtype=np.float32),
    )
    document = peer_document(indexed, file=None)
    assert (document.id, document.title, document.file) == ("p", "On bees", "")
    assert [(unit.id, unit.pages) for unit in document.units] == [
        ("p/chunk-1", (1, 2)),
        ("p/chunk-2", (2,)),
        ("p/chunk-3", (3,)),
    ]
    assert [entity.sources for entity in document.entities] == [("p/chunk-1", "p/chunk-2"), ("p/chunk-3",)]
    assert document.relations == (
        Relation(source="bee", target="wax", kind="makes", description="", sources=("p/chunk-3",), weight=2.0),
    )
    assert peer_document(indexed, file=Path("/papers/p.pdf")).file == "/papers/p.pdf"


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


def test_what_fails_leaves_the_rest(fake: Path) -> None:
    """A corpus without texts, a question that raises, and one that kills the process after all others."""
    empty, small = PeerCorpus(name="empty", documents=(), questions=corpus().questions), corpus()
    bad, deadly = PeerQuestion(id="bad", text="boom"), PeerQuestion(id="deadly", text="kill")
    results = run_peer(job("bm25", empty, replace(small, questions=(bad, *small.questions, deadly))), python=fake)
    assert results.indexed[0].problems == ("ValueError: no text in the corpus 'empty'",)
    assert {answer.corpus for answer in results.answers} == {"small"}
    assert results.answers[0].problem == "LookupError: no such word"
    assert all(answer.found and not answer.problem for answer in results.answers[1:])
    assert [answer.question for answer in results.answers[1:]] == list(QUESTIONS)
    assert results.note == "failed: ended with 3, no reason given"


def test_a_process_that_hangs_is_stopped(tmp_path: Path) -> None:
    python = fake_python(tmp_path, ("bm25s", "import time\ntime.sleep(60)\n"), ("Stemmer", FAKE_STEMMER))
    assert run_peer(job(), python=python, timeout=0.2).note == "stopped after 0 s"


def test_a_peer_has_no_network_and_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    source = """
import os, socket
assert "OPENAI_API_KEY" not in os.environ
try:
    socket.getaddrinfo("x.org", 80)
except ConnectionRefusedError:
    socket.socket().connect(("192.0.2.1", 80))
"""
    python = fake_python(tmp_path, ("bm25s", source), ("Stemmer", FAKE_STEMMER))
    assert "tried to reach ('192.0.2.1', 80); it runs without a network" in run_peer(job(), python=python).note


def test_a_peer_that_is_not_installed_is_named_with_its_remedy(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    assert run_peer(job(), python=absent) == PeerResults(
        system="bm25", note=f"not installed: no {str(absent)!r}; run scripts/setup peers"
    )
    python = fake_python(tmp_path, ("bm25s", FAKE_BM25S), ("Stemmer", "import no_such_module\n"))
    assert run_peer(job(), python=python).note == ("not installed: no module 'no_such_module'; run scripts/setup peers")
    absent.write_text("no program")
    assert "can't be run" in run_peer(job(), python=absent).note
