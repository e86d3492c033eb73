"""Batch runs: order, errors, and a report that parses back."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from paperscope_core.errors import OutputError
from paperscope_core.models import FakeModel
from query import render_context
from service.batch import BadQuestion, BatchRow, BatchRunner, Question
from tests.context_parsing import parse_context
from tests.service.batch.fakes import MakeLibrary, questions, reply

HEADINGS = (
    "## Query:",
    "### Context",
    "### Initial LLM Response",
    "### Multimodal Processing (",
    "### Merged Multimodal Response",
    "### Final Response",
)


def rows_of(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]


def test_rows_stand_in_the_order_asked_and_a_failed_one_stops_nothing(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    bad: Question | BadQuestion = BadQuestion(index=1, text="{", reason="q.jsonl:2: not JSON: '{'")
    asked: list[Question | BadQuestion] = [
        Question(index=0, text="F1 of the tagger?"),
        bad,
        Question(index=2, text="forbidden?"),
    ]
    heard: list[BatchRow] = []
    result = BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(asked, on_row=heard.append)
    assert [row.status for row in result.rows] == ["answered", "error", "error"]
    assert sorted(row.index for row in heard) == [0, 1, 2]
    first, second, third = rows_of(tmp_path / "out")
    assert first["index"] == 0
    assert first["answer"] == "0.83\n## Query: forged"
    assert second["error"] == "q.jsonl:2: not JSON: '{'"
    assert "refuses" in str(third["error"])
    assert third["answer"] == ""


def test_a_row_names_the_place_of_each_claim_and_what_it_took(make_library: MakeLibrary, tmp_path: Path) -> None:
    BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(questions("F1 of the tagger?"))
    row = rows_of(tmp_path / "out")[0]
    assert " ".join(row) == (
        "index question status answer confidence claims checks images usage model seconds stages look_ups "
        "findings error gold right"
    )
    claims, images, usage = row["claims"], row["images"], row["usage"]
    assert isinstance(claims, list)
    assert isinstance(images, list)
    assert isinstance(usage, dict)
    stages = row["stages"]
    assert isinstance(stages, list)
    evidence = claims[0]["evidence"][0]
    assert evidence["paper"] == "aaaa00000001"
    assert evidence["page"] == 1
    assert len(evidence["box"]) == 4
    assert {stage["stage"] for stage in stages} >= {"retrieving"}
    assert usage["calls"] == 3, "an initial answer, one image, one merge"
    assert (tmp_path / "out" / images[0]["file"]).read_bytes().startswith(b"\x89PNG")


def test_the_report_has_the_headings_and_its_contexts_parse_back(make_library: MakeLibrary, tmp_path: Path) -> None:
    asked = questions("F1 of the tagger?", "What does the\ntagger reach?")
    rows = BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(asked).rows
    report = (tmp_path / "out" / "report.md").read_text()
    for heading in HEADINGS:
        found = [line for line in report.splitlines() if line.startswith(heading)]
        assert len(found) == len(asked), f"{heading!r} stands {len(found)} times"
    assert report.count("## Summary\n") == 1
    blocks = re.split(r"^## Query:.*$", report, flags=re.MULTILINE)[1:]
    for row, block in zip(rows, blocks, strict=True):
        context = block.partition("### Context\n\n")[2].partition("### Initial LLM Response")[0]
        assert row.answer is not None
        assert parse_context(context) == row.answer.context


def test_the_report_names_papers_by_their_files(make_library: MakeLibrary, tmp_path: Path) -> None:
    BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(questions("F1 of the tagger?"))
    report = (tmp_path / "out" / "report.md").read_text()
    assert "\n  - A Tagger, Table 1, page 1 (`aaaa00000001/table-1` [50.0 110.0 300.0 130.0]): “0.83”" in report


def test_every_csv_row_of_a_context_has_its_headers_columns(make_library: MakeLibrary) -> None:
    context = render_context(make_library(None).retrieve("F1 of the tagger?"))
    blocks = re.findall(r"```csv\n(.*?)\n\s*```", context, flags=re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        rows = list(csv.reader(io.StringIO(block)))
        assert {len(row) for row in rows} == {len(rows[0])}


def test_without_a_model_the_report_says_so(make_library: MakeLibrary, tmp_path: Path) -> None:
    BatchRunner(make_library(None), out=tmp_path / "out").run(questions("What F1 does the tagger reach?"))
    report = (tmp_path / "out" / "report.md").read_text()
    assert "No language model is configured" in report
    assert "No language model is set, so nothing is concluded" in report
    assert "**Status**: evidence only" in report
    assert "_Skipped: no image was read._" in report
    assert "_no language model; 0 model calls; " in report


def test_an_out_folder_that_is_a_file_is_one_clear_error(make_library: MakeLibrary, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="choose another folder"):
        BatchRunner(make_library(None), out=tmp_path / "out").run(questions("F1?"))
