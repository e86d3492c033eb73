"""Records of runs: what they say of cost and replies, and from where they are read."""

import json
from pathlib import Path

import pytest
from paperscope_lab.errors import ExampleFileError
from paperscope_lab.ner.run_records import RunRecord, read_run, train_examples, training_recipe, write_run


def test_a_cost_that_is_not_known_is_said_and_outcomes_are_shown_if_they_are_zero() -> None:
    assert RunRecord().cost_text == RunRecord().replies_text == ""
    assert RunRecord(calls=1200).cost_text == "1,200 calls, price not known"
    assert RunRecord(calls=3, cost=0.5).cost_text == "0.5000"
    shown = RunRecord(failures=2, outcomes={"exact": 5, "broken": 1}).replies_text
    assert shown == "0 rejected, 0 unknown label, 1 broken, 5 exact, 2 texts failed"


def test_runs_of_one_recipe_differ_in_data_and_seed(tmp_path: Path) -> None:
    def recipe(name: str, **options: object) -> str:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "recognizer.json").write_text('{"kind": "encoder"}')
        (folder / "manifest.json").write_text(json.dumps({"options": options}))
        return training_recipe(folder)

    first = recipe("a", epochs=2, seed=1)
    assert first.startswith("encoder ")
    assert first == recipe("b", epochs=2, seed=2) != recipe("c", epochs=3, seed=1)
    assert training_recipe(tmp_path) == ""


def test_a_run_s_record_is_beside_its_predictions(tmp_path: Path) -> None:
    file = tmp_path / "found.jsonl"
    assert read_run(file) == RunRecord()
    write_run(file, RunRecord(seconds=1.5, train_examples=7))
    assert read_run(file) == RunRecord(seconds=1.5, train_examples=7)
    (tmp_path / "found.jsonl.run.json").write_text('{"seconds": "long"}')
    with pytest.raises(ExampleFileError, match=r"found\.jsonl\.run\.json: no record of a run"):
        read_run(file)


@pytest.mark.parametrize(
    ("manifest", "examples"),
    [('{"train": {"examples": 5}}', 5), ('{"train": [{"examples": 5}, {"examples": 2}]}', 7), ("{}", None), ("", None)],
)
def test_the_training_examples_are_the_manifest_s(tmp_path: Path, manifest: str, examples: int | None) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    assert train_examples(tmp_path) == examples
