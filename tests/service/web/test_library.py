"""The library in the page: papers, uploads with their progress, removals that can be undone."""

import json
import re
from collections.abc import Callable

import httpx2
import pytest
from playwright.sync_api import FilePayload, Page, Request, Route, expect

pytestmark = pytest.mark.slow

TITLE = re.compile("^Four Reports")
JOB = {
    "id": "job-0123456789abcdef01234567",
    "kind": "add",
    "name": "long.pdf",
    "state": "running",
    "stage": "parsing",
    "done": 3,
    "total": 12,
    "cancelling": False,
    "attempts": 1,
    "error": "",
    "result": None,
    "created": "2026-01-01T00:00:00Z",
    "started": "2026-01-01T00:00:01Z",
    "finished": None,
}


def paper(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/markdown", "buffer": text.encode()}


def open_library(page: Page) -> None:
    page.goto("/#/library")
    expect(page.get_by_role("link", name=TITLE)).to_be_visible()


def test_a_paper_is_listed_with_what_can_be_done(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    open_library(page)
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=TITLE))
    expect(row).to_contain_text("7 pages")
    expect(row).to_contain_text("9 tables")
    expect(row.get_by_role("link", name="Ask about")).to_have_attribute(
        "href", re.compile("#/ask\\?paper=[0-9a-f]{12}$")
    )
    assert_accessible(page)
    row.get_by_role("button", name="Actions").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Open")).to_be_focused()
    assert_accessible(page)
    page.keyboard.press("End")
    expect(page.get_by_role("menuitem", name="Remove")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row.get_by_role("button", name="Actions")).to_be_focused()


def test_a_title_is_text(page: Page) -> None:
    hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script> & \u202eevil'

    def renamed(route: Route) -> None:
        response = route.fetch()
        found = response.json()
        found["papers"][0] |= {"title": hostile, "authors": ["<b>Eve</b>"]}
        route.fulfill(response=response, json=found)

    page.route("**/v1/papers?*", renamed)
    page.goto("/#/library")
    expect(page.get_by_role("main").get_by_role("link", name=hostile, exact=True)).to_be_visible()
    expect(page.get_by_text("<b>Eve</b>")).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    expect(page).to_have_title(re.compile("Paperscope$"))


def test_a_narrow_window_needs_no_sideways_scrolling(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="dark")
    open_library(page)
    assert page.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
    assert_accessible(page)


def test_a_job_is_followed_after_a_reload_and_reconnects(page: Page) -> None:
    attempts: list[int] = []

    def stream(route: Route) -> None:
        attempts.append(1)
        # The first connection ends without an end of the job.
        state = {"done": 5} if len(attempts) == 1 else {"state": "failed", "error": "'long.pdf' is damaged."}
        finished = {} if len(attempts) == 1 else {"finished": "2099-01-01T00:00:00Z"}
        event = "progress" if len(attempts) == 1 else "end"
        data = json.dumps({**JOB, **state, **finished})
        route.fulfill(content_type="text/event-stream", body=f"event: {event}\ndata: {data}\n\n")

    page.route("**/v1/jobs?*", lambda route: route.fulfill(json=[JOB]))
    page.route("**/v1/jobs/*/events", stream)
    open_library(page)
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads).to_contain_text("Reading pages: 5 of 12")
    expect(uploads).to_contain_text("'long.pdf' is damaged.")
    assert len(attempts) == 2
    page.get_by_role("button", name="Dismiss long.pdf").click()
    expect(uploads).to_have_count(0)


def test_a_file_that_the_service_refuses_says_why_and_can_be_sent_again(page: Page) -> None:
    problem = {
        "type": "urn:paperscope:problem:disk-full",
        "title": "Disk full",
        "status": 507,
        "detail": "The disk is full.",
    }
    page.route("**/v1/papers", lambda route: route.fulfill(status=507, json=problem))
    open_library(page)
    page.get_by_test_id("files").set_input_files(paper("notes.md", "# Notes\n"))
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads).to_contain_text("The disk is full.")
    page.unroute("**/v1/papers")
    page.route(
        "**/v1/papers", lambda route: route.fulfill(status=202, json={**JOB, "name": "notes.md", "state": "cancelled"})
    )
    uploads.get_by_role("button", name="Try again").click()
    expect(uploads).to_contain_text("Cancelled")


def test_dropped_files_are_sent(page: Page) -> None:
    page.route("**/v1/papers", lambda route: route.fulfill(status=202, json={**JOB, "name": "notes.md"}))
    page.route("**/v1/jobs/*/events", lambda _route: None)
    open_library(page)
    drop = """([type, element]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(['# Notes'], 'notes.md', { type: 'text/markdown' }));
        const event = new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true });
        document.querySelector(element).dispatchEvent(event);
    }"""
    page.evaluate(drop, ["dragenter", ".papers"])
    expect(page.get_by_text("Drop to add")).to_be_visible()
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.evaluate(drop, ["drop", ".papers"])
    assert b"# Notes" in (sent.value.post_data_buffer or b"")
    expect(page.get_by_text("Drop to add")).to_have_count(0)
    expect(page.get_by_role("region", name="Uploads")).to_contain_text("notes.md")


def test_with_a_model_the_cost_is_estimated_before_anything_is_sent(
    page: Page, assert_accessible: Callable[[Page], None]
) -> None:
    usage = {"calls": 12, "cached": 0, "prompt_tokens": 30_000, "completion_tokens": 4_000, "cost": 0.0234}
    settings = {"models": {"extract": {"model": "a-model"}}, "limits": {"max_file_mb": 1}}
    page.route("**/v1/settings", lambda route: route.fulfill(json=settings))
    page.route("**/v1/papers/estimate", lambda route: route.fulfill(json=usage))
    added: list[Request] = []
    page.on("request", lambda request: added.append(request) if request.url.endswith("/v1/papers") else None)
    open_library(page)
    page.get_by_test_id("files").set_input_files([paper("notes.md", "# Notes\n"), paper("large.md", "x" * 1_100_000)])
    expect(page.get_by_role("status").filter(has_text="large.md")).to_be_visible()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("12 model calls · 34,000 tokens")
    assert_accessible(page)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert added == []


def test_a_failed_file_is_sent_again_with_its_password_and_a_paper_is_replaced(page: Page) -> None:
    failed = {**JOB, "name": "locked.pdf", "state": "failed", "error": "The file needs a password."}
    page.route("**/v1/papers", lambda route: route.fulfill(status=202, json=failed))
    open_library(page)
    row = page.get_by_role("list", name="Library").get_by_role("listitem").first
    row.get_by_role("button", name=re.compile("^Actions")).click()
    locked = FilePayload(name="locked.pdf", mimeType="application/pdf", buffer=b"%PDF-1.7")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("menuitem", name="Replace").click()
    with page.expect_request(lambda request: request.method == "POST") as sent:
        chooser.value.set_files([locked])
    assert b'name="replaces"' in (sent.value.post_data_buffer or b"")
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads).to_contain_text("The file needs a password.")
    uploads.get_by_role("button", name="with a password").click()
    uploads.get_by_label("Password").fill("pass phrase")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.keyboard.press("Enter")
    assert b"pass phrase" in (sent.value.post_data_buffer or b"")


def test_several_files_are_added_with_progress_and_one_fails(page: Page, address: str) -> None:
    open_library(page)
    text = "# A Study of Taggers\n\nAda Byron\n\n## Results\n\nTaggerX reaches an F1 of 91.3 on CorpusY.\n"
    bad = FilePayload(name="bad.pdf", mimeType="application/pdf", buffer=b"%PDF-1.7\nnothing")
    page.get_by_test_id("files").set_input_files([paper("good.md", text), bad])
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads.get_by_role("progressbar")).not_to_have_count(0)
    expect(uploads.get_by_role("link", name="A Study of Taggers")).to_be_visible(timeout=120_000)
    expect(uploads.get_by_text("is damaged and can't be opened")).to_be_visible(timeout=120_000)
    expect(
        page.get_by_role("list", name="Library").get_by_role("link", name="A Study of Taggers", exact=True)
    ).to_be_visible()
    added = [one for one in httpx2.get(f"{address}/v1/papers").json()["papers"] if one["file"] == "good.md"]
    assert httpx2.delete(f"{address}/v1/papers/{added[0]['id']}").status_code == 204


def test_a_removed_paper_comes_back_and_stays_if_the_page_is_left(page: Page) -> None:
    deleted: list[Request] = []
    page.on("request", lambda request: deleted.append(request) if request.method == "DELETE" else None)
    open_library(page)
    row = page.get_by_role("link", name=TITLE)
    remove(page)
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row).to_be_visible()
    remove(page)
    expect(row).to_have_count(0)
    page.reload()
    expect(row).to_be_visible()
    assert deleted == []


def test_a_removal_that_is_not_undone_removes_the_paper(page: Page, address: str) -> None:
    open_library(page)
    remove(page)
    with page.expect_response(lambda response: response.request.method == "DELETE") as removed:
        page.get_by_role("status").get_by_role("button", name="Dismiss", exact=True).click()
    assert removed.value.status == 204
    expect(page.get_by_role("link", name=TITLE)).to_have_count(0)
    assert not any(one["file"] == "ner-report.pdf" for one in httpx2.get(f"{address}/v1/papers").json()["papers"])


def remove(page: Page) -> None:
    page.get_by_role("button", name="Actions for “Four Reports").click()
    page.get_by_role("menuitem", name="Remove").click()
