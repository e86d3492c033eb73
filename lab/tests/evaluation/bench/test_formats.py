"""`bench formats`: the gold comes back from every format, and each fault costs what it must and no more."""

import json
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main
from paperscope_lab.evaluation.bench.formats import FAULTS, read_replies
from paperscope_lab.ner.examples import read_examples, write_examples
from paperscope_lab.ner.formats import FORMATS, FormatName
from tests.ner.tiny_encoder import GOLD


@pytest.mark.parametrize("form", FORMATS)
def test_replies_without_a_fault_give_the_gold(form: FormatName) -> None:
    predictions, (reading,) = read_replies(GOLD, form, share=0.0, seed=1)
    assert predictions == GOLD
    assert (reading.f1, reading.failures, reading.outcomes) == (1.0, 0, {"exact": 7})


@pytest.mark.parametrize("form", FORMATS)
def test_what_follows_the_reply_costs_nothing_and_a_cut_costs_something(form: FormatName) -> None:
    _, readings = read_replies(GOLD * 60, form, share=1.0, seed=1)
    found = {one.fault: one for one in readings}
    assert found.keys() == FAULTS.keys()
    assert sum(one.replies for one in readings) == 240
    assert found["goes on after the line"].f1 == 1.0
    assert found["cut off"].f1 < 1.0


def test_figures_and_predictions_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_examples(tmp_path / "gold.jsonl", GOLD)
    arguments = ["formats", "--data", str(tmp_path / "gold.jsonl"), "--predictions", str(tmp_path / "spoilt")]
    assert main([*arguments, "--out", str(tmp_path / "formats.json")]) == 0
    assert "7 exact" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "formats.json").read_text())["gold.jsonl"]) == len(FORMATS)
    assert read_examples(tmp_path / "spoilt" / "xml.jsonl") == GOLD
