"""The bench of two tenants: a real service with two keys, one of which floods it."""

import json
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main, tenants


@pytest.mark.slow
def test_a_tenant_is_timed_without_and_beside_a_hostile_one(
    short_paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served_embedder: None
) -> None:
    # A small flood is one, too.
    for name, value in {"_WAITING": 2, "_ASKING": 2, "_SIZE": 9_000}.items():
        monkeypatch.setattr(tenants, name, value)
    out = tmp_path / "tenants.json"
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": "What is the LoRA rank?"}) + "\n")
    options = ["--minutes", "0.02", "--questions", str(questions), "--out", str(out), str(short_paper)]
    # The ratios of so few requests mean nothing.
    assert main(["tenants", *options]) in (0, 1)
    found = json.loads(out.read_text())
    assert [one["way"] for one in found] == ["query", "small upload until it is added"]
    for one in found:
        for times in (one["without"], one["beside"]):
            assert times["requests"] > times["failed"] == 0
            assert 0 < times["p50"] <= times["p95"]
