"""`paperscope ner train|predict|ensemble`: recognizers are trained, combined and used."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.ner.tiny_encoder import write_encoder

from tests.model_server import serve

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.service.cli.conftest import Outcome, Run

GOLD = "Ada B-PER\nByron I-PER\nmet O\nBob B-PER\nin O\nRome B-LOC\n\nBob B-PER\nleft O\nOslo B-LOC\n"


@pytest.mark.slow
def test_recognizers_are_trained_combined_and_used(run: "Run", tmp_path: Path) -> None:
    gold = tmp_path / "gold.txt"
    gold.write_text(GOLD)
    common = ("--encoder", write_encoder(tmp_path / "encoder"), "--dev", gold, "--epochs", "12", "--rate", "0.01")
    trained = run("ner", "train", gold, "--out", tmp_path / "a", "--seeds", "1..2", "--batch", "1", *common)
    assert trained.code == 0, trained.err
    assert f"{tmp_path / 'a' / 'seed-2'}: entity F1 (offsets and label) on dev" in trained.out
    assert "entity F1 (offsets and label) on dev: " in trained.out
    assert "(sample standard deviation over 2 runs)" in trained.out
    assert f"! --dev {gold}: the data were used for training: 2 of 2 texts are in them" in trained.err
    again = run("ner", "train", gold, "--out", tmp_path / "a", "--seeds", "1..2", "--batch", "1", *common)
    assert again.out == trained.out
    systems = [tmp_path / "a" / f"seed-{seed}" for seed in (1, 2)]
    for extra in ((), ("--vote",)):
        found = run("ner", "ensemble", *systems, "--data", gold, "--out", tmp_path / "both.jsonl", *extra)
        assert found.code == 0, found.err
        assert "entity F1 (offsets and label):\n" in found.out
        assert "ensemble: " in found.out
    (tmp_path / "text.txt").write_text("Ada Byron met Bob")
    found = run("ner", "predict", tmp_path / "text.txt", "--text", "-s", systems[0], "-o", tmp_path / "found.jsonl")
    assert found.out.startswith(f"{tmp_path / 'found.jsonl'}: 1 texts, ")
    assert found.out.endswith("0 failures (seed-1)\n")
    record = json.loads((tmp_path / "found.jsonl.run.json").read_text())
    assert (record["train_examples"], record["cost"]) == (2, None)
    assert record["curve"].startswith("encoder ")


@pytest.mark.slow
def test_seeds_are_trained_at_once_and_used_by_one_command_each(run: "Run", tmp_path: Path) -> None:
    gold = tmp_path / "gold.txt"
    gold.write_text(GOLD)
    common = ("--encoder", write_encoder(tmp_path / "encoder"), "--dev", gold, "--rate", "0.01", "--batch", "1")
    options = ("--seeds", "1,2", "--epochs", "6", "--outweight", "0.5", "--keep-epochs", "2", *common)
    trained = run("ner", "train", gold, "--out", tmp_path / "a", "--jobs", "2", *options)
    assert trained.code == 0, trained.err
    assert f"{tmp_path / 'a/seed-2/epoch-2'}: on dev precision " in trained.out
    run("ner", "train", gold, "--out", tmp_path / "b", *options)
    weights = [(tmp_path / name / "seed-2/model.safetensors").read_bytes() for name in "ab"]
    assert weights[0] == weights[1]
    found = run("ner", "predict", gold, "--system", tmp_path / "a", "--out", tmp_path / "small")
    assert found.code == 0, found.err
    both = run("ner", "ensemble", tmp_path / "a", tmp_path / "b", "--data", gold, "--out", tmp_path / "both")
    assert "ensembles: " in both.out
    report = run("ner", "report", "seeds", gold, f"small={tmp_path / 'small'}", f"ensemble={tmp_path / 'both'}")
    assert all(f"| {seed} | {name} | " in report.out for seed in (1, 2) for name in ("small", "ensemble"))
    assert run("ner", "predict", gold, "-s", tmp_path / "a/seed-1/epoch-2", "-o", tmp_path / "x.jsonl").code == 0


@pytest.mark.slow
def test_a_new_encoder_is_written_and_a_table_over_it_gets_its_rate(run: "Run", tmp_path: Path) -> None:
    gold = tmp_path / "gold.txt"
    gold.write_text(GOLD)
    made = run("ner", "init", "characters", gold, "--out", tmp_path / "encoder", "--hidden", "32", "--layers", "1")
    assert made.out == f"{tmp_path / 'encoder'}: 12 pieces, 1 layers\n"
    refused = run("ner", "init", "characters", gold, "--out", tmp_path / "other", "--hidden", "40")
    assert "40 hidden values are not a multiple of 32" in refused.err
    assert "an encoder needs texts" in run("ner", "init", "pieces", "--out", tmp_path / "other").err
    assert run("ner", "init", "language-model", "--out", tmp_path / "tiny", "--layers", "1").out.endswith(" 1 layers\n")
    common = ("--encoder", tmp_path / "encoder", "--kind", "soft-labels", "--epochs", "1", "--rate", "0.05")
    assert run("ner", "train", gold, "--dev", gold, "--out", tmp_path / "table", *common).code == 0
    assert json.loads((tmp_path / "table/manifest.json").read_text())["options"]["new_rate"] == 0.05


def test_data_for_a_language_model_are_written(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text(GOLD)
    (tmp_path / "labels.json").write_text('{"PER": "a person", "LOC": "a place"}')
    out = tmp_path / "alpaca.json"
    arguments = ("--kind", "alpaca", "--labels", tmp_path / "labels.json", "--form", "xml")
    assert run("ner", "train", tmp_path / "gold.txt", "--out", out, *arguments).out == f"{out}: 2 records\n"
    first = json.loads(out.read_text())[0]
    assert first["output"] == "<PER>Ada Byron</PER> met <PER>Bob</PER> in <LOC>Rome</LOC>"
    assert "LOC: a place" in first["instruction"]


def labels_of(folder: Path) -> Path:
    file = folder / "labels.json"
    file.write_text('{"PER": "a person"}')
    return file


def ask_model(run: "Run", folder: Path, texts: int, monkeypatch: pytest.MonkeyPatch, url: str) -> "Outcome":
    """`ner predict` by a language model for texts of one sentence each."""
    given = {"EXTRACT__MODEL": "m", "EXTRACT__BASE_URL": url, "CALLS__RETRIES": "0", "CALLS__CONCURRENCY": "1"}
    for name, value in given.items():
        monkeypatch.setenv(f"PAPERSCOPE_{name}", value)
    files = [folder / f"{number}.txt" for number in range(texts)]
    for file in files:
        file.write_text(f"Ada met number {file.stem}.")
    return run("ner", "predict", *files, "--text", "--labels", labels_of(folder), "-o", folder / "out" / "found.jsonl")


@pytest.mark.slow
def test_replies_that_were_paid_for_stay_when_the_model_fails(
    run: "Run", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with serve(lambda _body: "Ada met.") as model:
        model.fault = lambda _body: "500" if len(model.bodies) > 3 else ""
        stopped = ask_model(run, tmp_path, 9, monkeypatch, model.url)
        assert stopped.code == 4
        # The other texts are not asked about any more.
        assert (asked := len(model.bodies)) < 9
        assert not (out / "found.jsonl").exists()
        model.fault = lambda _body: ""
        ended = ask_model(run, tmp_path, 9, monkeypatch, model.url)
        assert ended.code == 0, ended.err
        assert len(model.bodies) == asked + 9 - 3
    assert sorted(file.name for file in out.iterdir()) == ["found.jsonl", "found.jsonl.run.json"]
    # Those of the first command are not known.
    record = json.loads((out / "found.jsonl.run.json").read_text())
    assert (record["seconds"], record["cost"]) == (None, None)


@pytest.mark.slow
def test_a_text_that_the_server_refuses_is_a_failure_of_the_record(
    run: "Run", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    with serve(lambda _body: "[Ada | PER] met number 1. [Eve | PER]") as model:
        model.fault = lambda body: "500" if "number 1" in json.dumps(body) else ""
        ended = ask_model(run, tmp_path, 3, monkeypatch, model.url)
        assert ended.code == 0, ended.err
        assert "! 1 requests failed; the same command asks again" in ended.err
        record = json.loads((tmp_path / "out/found.jsonl.run.json").read_text())
        assert (record["failures"], record["calls"], record["cost"]) == (1, 2, None)
        assert record["outcomes"] == {"diff": 2, "rejected": 2, "failed replies": 1}
        assert "price not known" in ended.out
        model.fault = lambda _body: ""
        assert ask_model(run, tmp_path, 3, monkeypatch, model.url).code == 0
        assert not (tmp_path / "out/.found.jsonl.calls").exists()


@pytest.mark.slow
def test_no_model_is_asked_for_what_cannot_be_written(
    run: "Run",
    guarded_folder: Path,
    unprivileged: "Callable[[], AbstractContextManager[None]]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(guarded_folder)
    (guarded_folder / "out").mkdir(0o555)
    guarded_folder.chmod(0o777)
    with serve(lambda _body: "Ada met.") as model:
        with unprivileged():
            refused = ask_model(run, guarded_folder, 2, monkeypatch, model.url)
        assert refused.code == 3
        assert (
            "found.jsonl.calls: can't be written (Permission denied); choose a folder that you may write" in refused.err
        )
        assert model.bodies == []


def test_votes_join_predictions_to_the_texts_by_their_ids(run: "Run", tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.txt", tmp_path / "found.jsonl"
    gold.write_text(GOLD)
    run("ner", "data", "import", gold, "--out", found)
    lines = found.read_text().splitlines(keepends=True)
    found.write_text("".join(reversed(lines)))
    voted = run("ner", "ensemble", found, gold, "--vote", "--data", gold, "--out", tmp_path / "voted.jsonl")
    assert f"{found}: 1.0000\n{gold}: 1.0000\n" in voted.out
    assert "ensemble: 1.0000" in voted.out
    found.write_text(lines[0])
    refused = run("ner", "ensemble", found, "--vote", "--data", gold, "--out", tmp_path / "voted.jsonl")
    assert (refused.code, refused.out) == (2, "")
    assert "unscored, because there is no prediction: 1 of 2 examples" in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "gold.txt", "-o", "a"), "--kind encoder needs --dev"),
        (("train", "gold.txt", "-o", "a", "--dev", "gold.txt", "--seeds", "1-3"), "--seeds 1-3: no seeds"),
        (
            ("train", "gold.txt", "-o", "a", "--kind", "spacy", "--swa", "--no-case", "--rank", "0"),
            "--kind spacy does not use --no-case, --rank, --swa",
        ),
        (
            ("train", "gold.txt", "-o", "a", "--preset", "papers", "--encoder", "b"),
            "--preset papers does not use --enc",
        ),
        (("train", "gold.txt", "-o", "a", "--kind", "generative"), "--kind generative needs --encoder"),
        (
            ("train", "gold.txt", "-o", "a", "--kind", "alpaca", "--labels", "labels.json"),
            "--labels labels.json: it lacks LOC",
        ),
        (("train", "gold.txt", "-o", "a", "--dev", "gold.txt", "--encoder", "weights"), "tokenizer.json: No such file"),
        (("predict", "gold.txt", "-o", "none/a"), "none/a: no file can be written here"),
        (("predict", "gold.txt", "-o", "weights"), "weights: no file can be written here"),
        (("predict", "gold.txt", "-o", "a"), "no --system, and no model of the role extract"),
        (("predict", "gold.txt", "-o", "a", "-s", "."), "no recognizer"),
        (("predict", "gold.txt", "-o", "a", "-s", "papers", "--shots", "gold.txt"), "papers does not use --shots"),
        (("predict", "gold.txt", "-o", "a", "-s", "papers", "--device", "tpu"), "'tpu' is not one of"),
        (("predict", "gold.txt", "gold.txt", "-o", "a", "-s", "papers"), "two texts have the id 'gold.txt-1'"),
        (("ensemble", "gold.txt", "--data", "gold.txt", "-o", "a"), "gold.txt: it has no scores to average"),
        (
            ("ensemble", "one.txt", "--vote", "--data", "gold.txt", "-o", "a"),
            "one.txt: 1 sentences, but the gold has 2",
        ),
    ],
)
def test_wrong_options_are_named(run: "Run", tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "gold.txt").write_text(GOLD)
    (tmp_path / "one.txt").write_text("Ada B-PER\n")
    (tmp_path / "labels.json").write_text('{"PER": "a person"}')
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "a.safetensors").touch()
    found = run("ner", *arguments)
    assert found.code != 0
    assert message in found.err
