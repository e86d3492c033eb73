"""`paperscope check`: the numbers of a paper that do not fit together."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from tests.service.conftest import settings_of
from tests.service.servers import serve_app

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run

BUDGET = """# Budgets

| | 2021 | 2022 | 2023 |
|---|---|---|---|
| Cost | 178 | 141 | 138 |
| Research | 3,423 | 2,532 | 1,892 |
| Sales | 1,136 | 876 | 680 |
| Total | 4,737 | 3,549 | 2,510 |
"""


def test_a_wrong_total_is_shown_with_its_places(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "budgets.md").write_text(BUDGET)
    library = tmp_path / "library"
    run("add", tmp_path / "budgets.md", "--library", library)
    shown = run("check", "budgets", "--library", library)
    assert shown.code == 1
    assert shown.out.startswith("total: 138 + 1,892 + 680 = 2710, printed: 2,510\n    Budgets, table, line 8: 2,510\n")
    (found,) = json.loads(run("check", "budgets", "--json", "--library", library).out)["discrepancies"]
    assert [one["quote"] for one in found["evidence"]] == ["2,510", "138", "1,892", "680"]
    with serve_app(settings_of(library)) as address:
        paper = found["evidence"][0]["place"]["paper"]
        assert httpx2.get(f"{address}/v1/papers/{paper}/check").json() == {"discrepancies": [found]}


def test_a_paper_whose_numbers_fit_has_no_findings(run: "Run", example_library: Path) -> None:
    shown = run("check", "Four Reports", "--library", example_library)
    assert (shown.code, shown.out) == (0, "")


RESULTS = """# Taggers

Named entity recognition is measured by F1. BERT and ELMo are models. CoNLL2003 is a dataset.

Table 1: F1 of the models on CoNLL2003.

| Model | F1 |
|---|---|
| BERT | 92.8 |
| ELMo | 92.2 |
"""


def test_results_are_shown_best_first_with_their_places(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "taggers.md").write_text(RESULTS)
    library = tmp_path / "library"
    run("add", tmp_path / "taggers.md", "--library", library)
    shown = run("results", "--dataset", "CoNLL2003", "--library", library)
    assert [line.split("[")[0].split() for line in shown.out.splitlines()] == [
        ["CoNLL2003,", "F1"],
        ["92.8", "BERT"],
        ["92.2", "ELMo"],
    ]
    assert run("results", "--csv", "--library", library).out.splitlines()[1].startswith(",CoNLL2003,F1,,BERT,92.8,")
    (board,) = json.loads(run("results", "--json", "--library", library).out)["leaderboards"]
    paper = board["results"][0]["evidence"]["place"]["paper"]
    apart = run("results", "--separate", paper, "BERT", "--library", library).out
    assert "BERT in " in apart
    assert run("results", "--library", library).out == apart
    assert "BERT in " not in run("results", "--join", paper, "BERT", "--library", library).out
    assert run("results", "--dataset", "SQuAD", "--library", library).err.startswith("no table has a value")
    with serve_app(settings_of(library)) as address:
        found = httpx2.get(f"{address}/v1/results", params={"metric": "f1"}).json()
        assert found["leaderboards"][0]["results"] == board["results"]
        kept = {"paper": paper, "entity": "CoNLL2003"}
        assert httpx2.patch(f"{address}/v1/results", json=kept).status_code == 204
        found = httpx2.get(f"{address}/v1/results", params={"metric": "f1"}).json()
        assert found["leaderboards"][0]["results"][0]["apart"] == ["dataset"]
        assert httpx2.patch(f"{address}/v1/results", json={**kept, "apart": False}).status_code == 204
        assert found["total"] == 1
