"""Answers as Markdown, CSV, HTML and context, stored and posted."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.context_parsing import parse_context
from tests.html_checker import HOSTILE_TEXT, check_html
from tests.service.http.requests import QUESTION, copy_library, post, serve_library

PATH = "/v1/export"
FORMATS = ("markdown", "csv", "html", "context")


@pytest.fixture(scope="module")
def address(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_library(copy_library(example_library, tmp_path_factory.mktemp("exports"))) as address:
        yield address


@pytest.fixture(scope="module")
def example(root: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((root / "service/http/examples.json").read_text())["answer"]
    return found


def note(message: str) -> Mapping[str, Any]:
    return {"kind": "note", "subject": "", "place": None, "message": message}


def exported(address: str, answer: Mapping[str, Any], format_: str) -> httpx2.Response:
    response = post(address, PATH, {"answers": [answer], "format": format_, "title": answer["question"]})
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"].startswith("attachment")
    return response


def test_markdown_has_numbered_citations(address: str, example: Mapping[str, Any]) -> None:
    response = exported(address, example, "markdown")
    assert response.headers["content-type"].startswith("text/markdown")
    question, text, heading, claims, references, listed = response.text.split("\n\n")
    assert question == f"**{example['question']}**"
    assert text.endswith("(Equation 7, page 3)[2]")
    assert heading == "Evidence:"
    assert claims.startswith("1. Four Reports, Four Rulers, Equation 8, page 3; Four Reports, Four Rulers, Section 3.4")
    assert (references, listed[:47]) == ("References:", "- authors, T.P. (no date) “Four Reports, Four R")


def test_arithmetic_and_notes_follow(address: str, example: Mapping[str, Any]) -> None:
    check = {"number": "3", "finding": "computed", "formula": "1 + 2 = 3", "support": []}
    claim = {"text": "Not in the text.", "evidence": []}
    answer = {
        **example,
        "text": "3",
        "claims": [claim],
        "checks": [check, check],
        "findings": [note("no evidence is cited")],
    }
    *_, text, evidence, claims, arithmetic, formulas, notes, findings = exported(
        address, answer, "markdown"
    ).text.split("\n\n")
    assert (text, evidence, claims) == ("3", "Evidence:", "1. no evidence")
    assert (arithmetic, formulas) == ("Arithmetic:", "- 1 + 2 = 3")
    assert (notes, findings) == ("Notes:", "- no evidence is cited\n")


def test_csv_has_a_row_for_each_place(address: str, example: Mapping[str, Any]) -> None:
    first = example["claims"][0]["evidence"][0]
    claims = [
        {"text": "=1+1", "evidence": [{**first, "more_places": [first["place"]]}]},
        {"text": "Nothing", "evidence": []},
    ]
    rows = list(csv.DictReader(io.StringIO(exported(address, {**example, "claims": claims}, "csv").text)))
    assert [(row["claim"], row["claim_text"], row["page"]) for row in rows] == [
        *[("1", "'=1+1", "3")] * 2,
        ("2", "Nothing", ""),
    ]
    assert rows[0]["box"] == "121.4 201.7 287 225.3"
    assert rows[0]["quote"] == "w_SWA ← (nw_SWA + w)/(n + 1)."
    (row,) = csv.DictReader(io.StringIO(exported(address, {**example, "claims": []}, "csv").text))
    assert (row["answer"], row["claim"]) == (example["text"], "")


def test_html_has_the_pictures_and_loads_nothing(address: str, example: Mapping[str, Any]) -> None:
    response = exported(address, example, "html")
    page = check_html(response.text)
    assert example["question"] in page.text
    assert "<sup>[2]</sup>" in response.text
    assert "data:image/png;base64," in response.text
    assert "default-src 'none'" in response.text.replace("&#39;", "'")


def test_the_context_reads_back(address: str, example: Mapping[str, Any]) -> None:
    context = parse_context(exported(address, example, "context").text)
    assert [entity.entity for entity in context.entities] == [one["entity"] for one in example["context"]["entities"]]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_stored_conversation_is_exported_alike(address: str, format_: str) -> None:
    begun = httpx2.post(f"{address}/v1/conversations", json={"title": "Ranks"}).json()["id"]
    answers = [post(address, "/v1/query", {"question": QUESTION, "conversation": begun}).json() for _ in range(2)]
    stored = httpx2.get(f"{address}/v1/conversations/{begun}", params={"format": format_})
    assert stored.text == post(address, PATH, {"answers": answers, "format": format_, "title": "Ranks"}).text


def test_texts_of_papers_and_models_are_no_markup(address: str, example: Mapping[str, Any]) -> None:
    claim = {**example["claims"][0], "text": HOSTILE_TEXT}
    answer = {
        **example,
        "question": HOSTILE_TEXT,
        "text": HOSTILE_TEXT,
        "claims": [claim],
        "findings": [note(HOSTILE_TEXT)],
    }
    assert check_html(exported(address, answer, "html").text).text.count(HOSTILE_TEXT) >= 4
    assert "<img" not in exported(address, answer, "markdown").text


@pytest.mark.parametrize(
    "body", [{}, {"answers": [], "format": "csv"}, {"answers": [{"text": "x"}], "format": "csv"}, {"format": "pdf"}]
)
def test_what_is_no_answer_is_refused(address: str, body: Mapping[str, Any]) -> None:
    assert post(address, PATH, body).status_code == 422


def test_a_crop_that_the_library_does_not_name_is_left_out(address: str, example: Mapping[str, Any]) -> None:
    exhibit = {**example["exhibits"][0], "crops": ["../../keys.json", "0" * 64], "cells": []}
    assert "<img" not in exported(address, {**example, "exhibits": [exhibit]}, "html").text
