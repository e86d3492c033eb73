"""Literature tables over HTTP: filled by a job, read meanwhile, corrected and exported."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from graph_store import Store
from tests.model_server import Body, ModelServer, serve
from tests.paperscope.test_table_exports import PAPERS, put_paper
from tests.service.http.requests import post, serve_library
from tests.service.servers import wait_until

PATH = "/v1/tables"
BODY = {"title": "Taggers", "columns": [{"name": "F1", "instruction": "Which F1 is reached?", "type": "number"}]}


def reply(body: Body) -> str:
    shown = body["messages"][-1]["content"]
    if "- question (" in shown:
        cell = {"column": "question", "value": "tagging", "status": "stated", "evidence": ["S1"], "words": ""}
        return json.dumps({"rows": [{"row": "", "cells": [cell]}]})
    if "Question: " in shown:
        claims = [{"text": "Both tag.", "evidence": ["S0", "S1"]}]
        return json.dumps({"status": "answered", "answer": "Both tag.", "claims": claims})
    said = {"value": "0.8" + str(shown).partition("F1 of 0.8")[2][:1], "status": "stated", "evidence": ["S1"]}
    return json.dumps({"rows": [{"row": "", "cells": [{"column": "F1", "words": "", **said}]}]})


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve(reply) as server:
        yield server


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[str]:
    library = tmp_path_factory.mktemp("tables") / "library"
    with closing(Store.open(library)) as store:
        for number in range(2):
            put_paper(store, number)
    with serve_library(library, model=model, **{"embed.model": ""}) as address:
        yield address


def filled(address: str, **body: object) -> Any:
    """Fill a table, and return it."""
    begun = post(address, PATH, {**BODY, **body})
    assert begun.status_code == 202, begun.text
    job = begun.json()["job"]
    assert begun.headers["location"] == f"/v1/jobs/{job['id']}"
    assert (job["kind"], job["name"]) == ("table", body.get("title", "Taggers"))
    wait_until(lambda: httpx2.get(f"{address}/v1/jobs/{job['id']}").json()["finished"], seconds=60)
    ended = httpx2.get(f"{address}/v1/jobs/{job['id']}").json()
    assert ended["state"] == "succeeded", ended
    return httpx2.get(f"{address}{PATH}/{begun.json()['table']}").json()


def test_a_table_is_filled_by_a_job_and_grows(address: str, model: ModelServer) -> None:
    before = len(model.bodies)
    table = filled(address, papers=[PAPERS[1]])
    assert [row["cells"][0]["value"] for row in table["rows"]] == ["0.81"]
    assert table["rows"][0]["cells"][0]["evidence"][0]["place"]["page"] == 2
    table = filled(address)
    assert [row["cells"][0]["value"] for row in table["rows"]] == ["0.80", "0.81"]
    assert len(model.bodies) - before == 2
    listed = httpx2.get(address + PATH).json()
    assert [one["id"] for one in listed["tables"]] == [table["id"]]
    assert "objective" in [one["name"] for one in listed["ready_columns"]]


def test_cells_are_corrected_rows_excluded_and_files_saved(address: str) -> None:
    table = filled(address, title="Saved")
    path = f"{address}{PATH}/{table['id']}"
    fixed = httpx2.patch(f"{path}/cells", json={"paper": PAPERS[0], "column": "F1", "correction": "=1+1"})
    assert fixed.status_code == 204
    excluded = httpx2.patch(f"{path}/rows", json={"paper": PAPERS[1], "reason": "no baseline"})
    assert excluded.status_code == 204
    table = filled(address, title="Saved")
    assert table["rows"][0]["cells"][0]["correction"] == "=1+1"
    assert table["rows"][1]["excluded"] == "no baseline"
    (row,) = csv.DictReader(io.StringIO(httpx2.get(path, params={"format": "csv"}).text))
    assert row["F1"] == "'=1+1"
    book = httpx2.get(path, params={"format": "xlsx"})
    assert book.content.startswith(b"PK")
    assert "Saved.xlsx" in book.headers["content-disposition"]
    assert httpx2.get(path, params={"format": "bib"}).text.startswith("@misc{")
    assert httpx2.delete(path).status_code == 204
    assert httpx2.get(path).status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"columns": [{"name": "a"}, {"name": "A"}]}, 400, "two columns are called 'A'"),
        ({"columns": [{"name": "a", "type": "category"}]}, 400, "has 0 values"),
        ({"columns": []}, 422, "at least 1"),
        ({"papers": ["nothing"]}, 404, "no paper 'nothing'"),
    ],
)
def test_bad_tables_are_refused(address: str, body: dict[str, object], status: int, detail: str) -> None:
    refused = post(address, PATH, {**BODY, **body})
    assert refused.status_code == status
    assert detail in refused.text


def test_what_there_is_not_is_not_found(address: str) -> None:
    table = filled(address, title="Other")
    unknown = f"{address}{PATH}/table-{'0' * 12}"
    assert httpx2.get(unknown).status_code == 404
    assert httpx2.delete(unknown).status_code == 404
    body = {"paper": PAPERS[0], "column": "none", "correction": "x"}
    assert httpx2.patch(f"{address}{PATH}/{table['id']}/cells", json=body).status_code == 404


def test_each_paper_is_asked_with_progress_and_the_cost_is_known_before(address: str, model: ModelServer) -> None:
    body = {"question": "What is each paper about?", "each_paper": True}
    before = len(model.bodies)
    estimated = post(address, "/v1/query/estimate", body).json()
    assert (estimated["least"]["answer"]["calls"], len(model.bodies)) == (3, before)
    assert estimated["most"]["answer"]["prompt_tokens"] >= estimated["least"]["answer"]["prompt_tokens"] > 0
    streamed = post(address, "/v1/query", {**body, "stream": True}).text
    assert '"stage":"asking papers: 2 of 2"' in streamed.replace(': "', ':"')
    answer = post(address, "/v1/query", body).json()
    assert answer["text"].startswith("Both tag.\n\nOf 2 papers that were asked, 2 speak of it:\n- Paper 0: tagging")
    assert [one["mark"] is not None for one in answer["claims"]] == [True] * 3
    # The replies are stored, so asking again costs nothing.
    assert (answer["usage"]["calls"], len(model.bodies)) == (0, before + 3)
    assert post(address, "/v1/query/estimate", body).json()["least"]["answer"]["calls"] == 0
    spread = post(address, "/v1/retrieve", body).json()["sources"]
    assert {one["place"]["paper"] for one in spread} == {*PAPERS[:2]}


def test_the_cost_of_a_table_is_estimated_before_it_is_filled(address: str, model: ModelServer) -> None:
    before = len(model.bodies)
    estimated = post(address, f"{PATH}/estimate", {**BODY, "title": "Estimated"}).json()
    assert estimated["least"]["answer"]["calls"] + estimated["least"]["answer"]["cached"] == 2
    assert (len(model.bodies), post(address, f"{PATH}/estimate", {"title": "x", "columns": []}).status_code) == (
        before,
        422,
    )
    assert "Estimated" not in [one["columns"]["title"] for one in httpx2.get(address + PATH).json()["tables"]]
