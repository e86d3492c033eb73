"""The commands give the same on a library in PostgreSQL as on one in a folder."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.postgresql_server import PostgresServer

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run

pytestmark = pytest.mark.slow

QUESTIONS = Path("examples/paper/questions.jsonl").read_text().splitlines()[:10]


def test_a_library_that_was_copied_answers_the_same(
    run: "Run", example_library: Path, postgresql: PostgresServer, tmp_path: Path
) -> None:
    address = postgresql.address(tmp_path).text
    done = run("migrate", example_library, address, "--json")
    assert (done.code, json.loads(done.out)["rows"]["papers"]) == (0, 1)
    assert json.loads(done.out)["to"] in address
    both = [
        [run(*command, "--library", place) for command in (["papers", "--json"], ["graph", "F1", "--json"])]
        for place in (example_library, address)
    ]
    assert both[0] == both[1]
    (tmp_path / "questions.jsonl").write_text("\n".join(QUESTIONS))
    answers = []
    for name, place in (("folder", example_library), ("postgresql", address)):
        assert run("batch", tmp_path / "questions.jsonl", "--out", tmp_path / name, "--library", place).code == 0
        rows = map(json.loads, (tmp_path / name / "answers.jsonl").read_text().splitlines())
        answers.append([{key: value for key, value in row.items() if key not in ("seconds", "stages")} for row in rows])
    assert answers[0] == answers[1]
    assert run("migrate", example_library, address).err.count("choose an empty place") == 1
    removed = run("remove", "ner-report", "--library", address)
    assert removed.code == 0
    assert "No papers yet" in run("papers", "--library", address).out


def test_addresses_that_cannot_be_used(run: "Run", tmp_path: Path) -> None:
    for place, message in (
        ("postgresql://ann:s3cret@localhost/papers", "needs the folder of the library's files"),
        (f"postgresql://ann:s3cret@localhost:1/papers?files={tmp_path}", "the server can't be reached"),
        ("mysql://ann:s3cret@localhost/papers", "mysql:// is no place of a library"),
    ):
        for command in (("papers", "--library", place), ("migrate", place, tmp_path / "copy")):
            done = run(*command)
            assert done.code in (2, 3)
            assert message in done.err
            assert "s3cret" not in done.err
