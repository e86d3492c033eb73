"""The bench of two tenants: a real service with two keys, one of which floods it."""

import json
from pathlib import Path

import pytest

from evaluation.bench import main


@pytest.mark.slow
def test_a_tenant_is_timed_without_and_beside_a_hostile_one(root: Path, short_paper: Path, tmp_path: Path) -> None:
    out = tmp_path / "tenants.json"
    questions = str(root / "examples" / "paper" / "questions.jsonl")
    # The ratios of so few requests mean nothing.
    assert main(["tenants", "--minutes", "0.02", "--questions", questions, "--out", str(out), str(short_paper)]) in (
        0,
        1,
    )
    found = json.loads(out.read_text())
    assert [one["way"] for one in found] == ["query", "small upload until it is added"]
    for one in found:
        for times in (one["without"], one["beside"]):
            assert times["requests"] > times["failed"] == 0
            assert 0 < times["p50"] <= times["p95"]
