"""`bench ner` times recognizers in turn on the same sentences, and scores those of their labels."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main
from paperscope_lab.evaluation.bench.ner import measure
from paperscope_lab.ner.examples import write_examples
from tests.ner.tiny_encoder import GOLD

from ingest.extraction.recognizer.examples import Example


class Fake:
    """Finds the gold, or nothing."""

    def __init__(self, name: str, turns: list[str], *, blind: bool = False) -> None:
        self.name = name
        self._turns = turns
        self._blind = blind

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        self._turns.append(self.name)
        return [replace(example, spans=()) if self._blind else example for example in examples]


def test_systems_take_turns_and_those_of_the_labels_are_scored() -> None:
    turns: list[str] = []
    systems = {"good": Fake("good", turns), "blind": Fake("blind", turns, blind=True)}
    good, blind = measure(dict(systems), GOLD, rounds=2)
    assert turns[2:] == ["good", "blind"] * 2
    assert (good.f1, blind.f1, good.sentences, len(good.seconds)) == (1.0, None, len(GOLD), 2)
    assert good.per_second([0.5, 2.0, 1.0]) == 4


@pytest.mark.slow
def test_the_bench_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("spacy")
    write_examples(tmp_path / "gold.jsonl", GOLD)
    arguments = ["ner", "--data", str(tmp_path / "gold.jsonl"), "--rounds", "1", "--out", str(tmp_path / "bench.json")]
    assert main([*arguments, "--system", "again=papers"]) == 0
    assert "4 sentences with 19 tokens, 1 rounds, threads: 1" in capsys.readouterr().out
    found = json.loads((tmp_path / "bench.json").read_text())["systems"]
    assert [one["name"] for one in found] == ["MiniLM tagger", "installed recognizer", "spaCy", "again"]
    assert main([*arguments, "--system", "papers"]) == 2
    assert "--system papers: write NAME=DIR" in capsys.readouterr().err
