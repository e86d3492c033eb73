"""Batches in the page: a question file, its rows, scores and downloads."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

pytestmark = pytest.mark.slow

QUESTIONS: FilePayload = {
    "name": "questions.csv",
    "mimeType": "text/csv",
    "buffer": b'question,answer\n"In Table 3, what is the recall on the test split under the exact scenario?",0.9687\n'
    b'"Who <b>wrote</b> it?",Nobody\n',
}
JOB: dict[str, Any] = {
    "id": "job-0123456789abcdef01234567",
    "kind": "batch",
    "name": "questions.csv",
    "state": "running",
    "stage": "answering",
    "done": 1,
    "total": 2,
    "cancelling": False,
    "attempts": 1,
    "error": "",
    "result": None,
    "created": "2026-01-01T00:00:00Z",
    "started": "2026-01-01T00:00:01Z",
    "finished": None,
}


def row(index: int, **values: object) -> dict[str, object]:
    return {
        "index": index,
        "question": f"Question {index}?",
        "status": "answered",
        "answer": f"Answer {index}",
        "confidence": 0.9,
        "seconds": 1.5,
        "findings": [],
        "error": "",
        "gold": None,
        "right": None,
        **values,
    }


def test_a_file_is_answered_scored_and_downloaded(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto("/#/batches")
    expect(page.get_by_role("heading", name="Answer a file of questions")).to_be_visible()
    assert_accessible(page)
    page.get_by_test_id("questions").set_input_files(QUESTIONS)
    expect(page.get_by_role("heading", name="questions.csv")).to_be_visible()
    expect(page.get_by_role("region", name="Against the gold answers")).to_be_visible(timeout=120_000)
    rows = page.get_by_role("region", name="Rows")
    expect(rows.get_by_role("link")).to_have_count(2)
    expect(rows).to_contain_text("Who <b>wrote</b> it?")
    assert_accessible(page)
    for name in ("JSONL", "CSV", "Report"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        text = download.value.path().read_text(encoding="utf-8")
        assert "In Table 3" in text
    rows.get_by_role("button", name="Misses").click()
    expect(rows.get_by_role("table")).to_contain_text("Nobody")
    assert_accessible(page)
    rows.get_by_role("button", name="All").click()
    rows.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="In Table 3")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("0.9687")
    page.get_by_role("link", name="Next row").click()
    expect(page.get_by_role("heading", name="Who <b>wrote</b> it?")).to_be_visible()
    page.get_by_role("link", name="questions.csv").click()
    expect(rows).to_be_visible()


def test_rows_come_in_while_the_batch_runs(page: Page) -> None:
    asked: list[str] = []

    def rows(route: Route) -> None:
        asked.append(route.request.url.partition("?")[2])
        if len(asked) == 1:
            route.fulfill(json={"rows": [row(1)], "next": 1, "scored": False})
        else:
            found = [row(0, gold="Answer 0", right=1.0), row(1, gold="Other", right=0.0)]
            route.fulfill(json={"rows": found, "next": 0, "scored": True})

    def stream(route: Route) -> None:
        ended = {**JOB, "state": "cancelled", "done": 2, "finished": "2026-01-01T00:01:00Z"}
        expect(page.get_by_role("link", name="Question 1?")).to_be_visible()
        route.fulfill(content_type="text/event-stream", body=f"event: end\ndata: {json.dumps(ended)}\n\n")

    page.route("**/v1/jobs?*", lambda route: route.fulfill(json=[JOB]))
    page.route("**/v1/jobs/*/rows?*", rows)
    page.route("**/v1/jobs/*/events", lambda _route: None)
    page.goto(f"/#/batches/{JOB['id']}")
    expect(page.get_by_role("link", name="Question 1?")).to_be_visible()
    expect(page.get_by_text("1 of 2 questions")).to_be_visible()
    page.unroute("**/v1/jobs/*/events")
    page.route("**/v1/jobs/*/events", stream)
    page.reload()
    expect(page.get_by_role("region", name="Rows").get_by_role("link")).to_have_count(2)
    expect(page.get_by_text("The batch was stopped.")).to_be_visible()
    assert asked[-1] == "after=0"


def test_on_a_phone_the_icon_of_each_row_stands_beside_its_first_line(page: Page) -> None:
    statuses = ("answered", "unanswerable", "evidence", "error")
    rows = [row(index, status=status, question=f"{index}? " * 40) for index, status in enumerate(statuses)]
    page.route(
        "**/v1/jobs?*", lambda route: route.fulfill(json=[{**JOB, "state": "succeeded", "finished": JOB["created"]}])
    )
    page.route("**/v1/jobs/*/rows?*", lambda route: route.fulfill(json={"rows": rows, "next": 0, "scored": False}))
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/#/batches/{JOB['id']}")
    expect(page.get_by_role("region", name="Rows").get_by_role("link")).to_have_count(4)
    offsets = page.evaluate(
        """() => [...document.querySelectorAll('.row-list a')].map((one) => {
            const [icon, line] = ['svg', '.row-question'].map((at) => one.querySelector(at).getBoundingClientRect());
            return icon.top - line.top;
        })"""
    )
    assert all(0 <= offset <= 10 for offset in offsets), offsets


def test_a_file_without_questions_is_refused_with_the_reason(page: Page) -> None:
    page.goto("/#/batches")
    page.get_by_test_id("questions").set_input_files({"name": "a.jsonl", "mimeType": "text/plain", "buffer": b"{}\n"})
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The file was not accepted")
    expect(alert).to_contain_text(re.compile("none of the 1 rows is a question"))


def test_an_unknown_batch_and_a_narrow_window(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="dark")
    page.goto("/#/batches/job-000000000000000000000000")
    expect(page.get_by_role("heading", name="No such batch")).to_be_visible()
    page.get_by_role("link", name="All batches").click()
    expect(page.get_by_role("heading", name="Answer a file of questions")).to_be_visible()
    assert page.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
    assert_accessible(page)
