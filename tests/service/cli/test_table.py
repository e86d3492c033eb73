"""`paperscope table`: files, resuming, an estimate, and what is refused."""

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graph_store import Store
from tests.model_server import Body, serve
from tests.paperscope.test_table_exports import PAPERS, put_paper

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run

COLUMNS = 'title = "Taggers"\n[[columns]]\nname = "F1"\ninstruction = "Which F1 does it reach?"\ntype = "number"\n'


@pytest.fixture
def library(tmp_path: Path) -> Path:
    store = Store.open(tmp_path / "library")
    for number in range(2):
        put_paper(store, number)
    store.close()
    (tmp_path / "c.toml").write_text(COLUMNS, encoding="utf-8")
    return tmp_path / "library"


def reply(_body: Body) -> str:
    cell = {"column": "F1", "value": "0.80", "status": "stated", "evidence": ["S1"], "words": ""}
    return json.dumps({"rows": [{"row": "", "cells": [cell]}]})


def settings(tmp_path: Path, address: str) -> None:
    text = f'[answer]\nmodel = "m"\nbase_url = "{address}"\nprice_prompt = 1.0\nprice_completion = 1.0\n'
    (tmp_path / "paperscope.toml").write_text(text)


def test_a_table_is_filled_resumed_and_estimated(run: "Run", library: Path, tmp_path: Path) -> None:
    with serve(reply) as server:
        settings(tmp_path, server.url)
        arguments = ("table", "c.toml", "--out", "deep/out", "--library", library)
        estimated = run(*arguments, "--estimate")
        assert (estimated.code, (tmp_path / "deep").exists()) == (0, False)
        assert "Estimated model usage of what 'Taggers' lacks" in estimated.out
        stopped = run(*arguments, "--max-calls", "1", "--at-once", "1")
        assert stopped.code == 5
        with (tmp_path / "deep/out/table.csv").open(newline="") as file:
            assert [row["F1 (status)"] for row in csv.DictReader(file)] == ["stated", "not filled"]
        done = run(*arguments)
        assert done.code == 0, done.err
        assert "Taggers: 2 papers, 2 rows, 2 cells: 1 stated, 1 unclear" in done.out
        assert "1 model call" in done.out
        # A paper that prints another number is flagged.
        assert "1 cells to look at" in done.out
        assert sorted(file.suffix for file in (tmp_path / "deep/out").iterdir()) == [
            ".bib", ".csv", ".json", ".md", ".tex", ".xlsx",
        ]  # fmt: skip
        assert "0 model calls" in run(*arguments, "--papers", PAPERS[0], "--papers", PAPERS[1]).out


def test_without_a_model_the_best_places_are_shown(run: "Run", library: Path) -> None:
    done = run("table", "c.toml", "--out", "out", "--library", library)
    assert done.code == 0
    assert "2 cells: 2 unclear" in done.out
    assert "No model was used" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.toml",), "none.toml: the columns can't be read"),
        (("c.toml", "--papers", "nothing"), "no paper 'nothing' in the library"),
        (("c.toml", "--max-cost", "1"), ""),
    ],
)
def test_bad_input(run: "Run", library: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("table", *arguments, "--out", "out", "--library", library)
    assert message in done.err
    assert done.code == (2 if message else 0)
