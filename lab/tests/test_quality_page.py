"""The page `docs/quality.md` has all suites, and a row that takes a second to measure agrees with the code."""

import re
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench.quality import suite_rows
from paperscope_lab.evaluation.run import RunCallbacks, RunOptions, run_suite
from paperscope_lab.evaluation.suite import SUITES, load_suite

from paperscope_core.settings import Settings


def written(root: Path) -> dict[tuple[str, str, str], list[str]]:
    """The page's rows by suite, set and system."""
    rows = {}
    suite = ""
    for line in (root / "docs/quality.md").read_text().splitlines():
        if line.startswith("## "):
            suite = line.removeprefix("## ").lower()
        elif line.startswith("| ") and not line.startswith(("| set ", "| ---")):
            name, system, *cells = (cell.strip().rstrip("*") for cell in line.strip("|").split("|"))
            rows[suite, name, system] = cells
    return rows


def test_the_page_has_every_suite_with_its_provenance(root: Path) -> None:
    page = (root / "docs/quality.md").read_text()
    assert re.findall(r"^## (\w+)$", page, flags=re.MULTILINE) == [name.capitalize() for name in SUITES]
    assert len(re.findall(r"^Revision \w+, code \w+, seed 0, items \d+", page, flags=re.MULTILINE)) == len(SUITES)
    assert not re.search(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b", page), "the page has no dates"
    systems = {system for suite, _, system in written(root) if suite == "retrieval"}
    assert {"fused", "words", "vectors", "bm25", "minilm", "lightrag-naive", "lightrag-mix", "paperqa"} <= systems


@pytest.mark.slow
def test_a_row_agrees_with_the_code(root: Path, shared: Path, tmp_path: Path) -> None:
    suite, mode, name = "graph", "local", "acronym_identification"
    run = RunOptions(data=shared, settings=Settings(), mode=mode, names=(name,), work=tmp_path)
    report = run_suite(load_suite(suite), run, callbacks=RunCallbacks(started=lambda _: None, done=lambda _: None))
    found = {(suite, row[0], row[1]): row[2:] for row in suite_rows([report])}
    assert found
    rows = written(root)
    for key, cells in found.items():
        # A row of the page has a column for each metric of the whole suite.
        expected = [cell for cell in rows[key] if cell]
        assert [cell for cell in cells if cell] == expected, "figures changed: scripts/bench quality --write"
