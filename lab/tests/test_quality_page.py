"""The page `docs/quality.md` has all suites, and a figure that takes a second to measure agrees with the code."""

import re
from pathlib import Path

import pytest
from paperscope_lab.evaluation.run import RunCallbacks, RunOptions, run_suite
from paperscope_lab.evaluation.suite import SUITES, load_suite

from paperscope_core.settings import Settings


def test_the_page_has_every_suite(root: Path) -> None:
    page = (root / "docs/quality.md").read_text()
    assert sorted(re.findall(r"^## (\w+)$", page, flags=re.MULTILINE)) == sorted(name.capitalize() for name in SUITES)


@pytest.mark.slow
def test_a_figure_agrees_with_the_code(root: Path, shared: Path, tmp_path: Path) -> None:
    name = "acronym_identification"
    run = RunOptions(data=shared, settings=Settings(), mode="local", names=(name,), work=tmp_path)
    report = run_suite(load_suite("graph"), run, callbacks=RunCallbacks(started=lambda _: None, done=lambda _: None))
    (row,) = re.findall(rf"^\| {name} \|.*$", (root / "docs/quality.md").read_text(), flags=re.MULTILINE)
    assert f"F1 {report.figures[name]['acronyms.long.f1'].value:.4f} |" in row
