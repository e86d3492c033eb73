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
