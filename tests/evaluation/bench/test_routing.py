"""`bench routing`: what a model that knows the gold adds where the recognizer is unsure."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.bench import main
from evaluation.bench.routing import Document, choose, documents, measure
from ner.examples import Example, Span

SENTENCES = {
    "sure": ("We train a parser with care.", "parser"),
    "unsure": ("It was the zorbing that nobody had found before.", "zorbing"),
}


class Recognizes:
    """Finds the first name with confidence, and the other without."""

    name = "recognizes"

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        return [
            replace(
                example,
                spans=tuple(
                    Span(start=start, end=start + len(name), label="Method", confidence=sure)
                    for name, sure in (("parser", 0.9), ("nobody", 0.1))
                    if (start := example.text.find(name)) >= 0
                ),
            )
            for example in examples
        ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two papers of SciER, each with a sentence that the recognizer is sure of and one that it is not."""
    (tmp_path / "eval").mkdir()
    lines = [
        {"doc_id": paper, "sentence": text, "ner": [[name, "Method"]], "rel": [], "rel_plus": []}
        for paper in ("one", "two")
        for text, name in SENTENCES.values()
    ]
    (tmp_path / "eval" / "kg_scier.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return tmp_path


@pytest.fixture
def papers(data: Path) -> list[Document]:
    return [*documents(data, "scier", Recognizes(), max_words=9)]


def test_the_model_adds_what_the_recognizer_is_unsure_of(papers: list[Document]) -> None:
    nothing, everything, unsure = (measure(papers, limit, wrong=0) for limit in (0.0, 1.0, 0.5))
    assert (nothing.calls, everything.calls, unsure.calls) == (0, 2, 2)
    assert (nothing.chunks, everything.chunks, unsure.chunks) == (0, 1, 0.5)
    assert nothing.f1 < unsure.f1 < everything.f1


def test_a_model_may_be_wrong(papers: list[Document]) -> None:
    right, wrong = (measure(papers, 1.0, wrong=share).f1 for share in (0, 1))
    assert wrong < right
    assert [choose(papers, wrong=share) for share in (0, 1)] == [1.0, 0.2], "all chunks, or the fewest"


def test_chunks_are_drawn_by_chance(papers: list[Document]) -> None:
    drawn = measure(papers, 0.5, wrong=0, by_chance=True)
    assert drawn.chunks == 0.5


@pytest.mark.slow
def test_figures_are_printed_and_written(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "routing.json"
    assert main(["routing", "--data", str(data), "--wrong", "0", "--out", str(out)]) == 0
    assert "2 papers of scier" in capsys.readouterr().out
    assert [one["limit"] for one in json.loads(out.read_text())["wrong"]["0"]][:2] == [0, 1]
    assert main(["routing", "--data", str(data), "--set", "scierc"]) != 0
    assert "no papers of 'scierc'" in capsys.readouterr().err
