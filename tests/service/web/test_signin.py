"""The sign-in with an API key."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from service.keys import KeyStore
from tests.service.conftest import settings_of
from tests.service.servers import serve_app

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def keys(library: Path) -> KeyStore:
    return KeyStore.open(library.parent / "keys.json")


@pytest.fixture(scope="module")
def secret(keys: KeyStore, library: Path) -> str:
    return keys.create("alice", library)[1].get_secret_value()


@pytest.fixture(scope="module")
def address(library: Path, secret: str) -> Iterator[str]:
    """A service that takes keys."""
    assert secret
    with serve_app(settings_of(library)) as address:
        yield address


def test_a_key_opens_the_library_and_a_revoked_one_asks_again(
    page: Page, keys: KeyStore, library: Path, secret: str, assert_accessible: Callable[[Page], None]
) -> None:
    page.goto("/#/library")
    dialog = page.get_by_role("dialog", name="Sign in")
    key = dialog.get_by_label("API key")
    expect(key).to_be_focused()
    assert_accessible(page)
    key.fill("wrong")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("unknown, revoked or expired")
    key.fill(secret)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=re.compile("^Four Reports"))).to_be_visible()
    expect(dialog).to_have_count(0)
    assert page.evaluate("document.cookie") == ""
    assert secret not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    another = keys.create("bob", library)[1].get_secret_value()
    for one in keys.all():
        if one.name == "alice":
            keys.revoke(one.id)
    page.get_by_role("searchbox").fill("reports")
    ended = page.get_by_role("dialog", name="Your session has ended")
    expect(ended).to_be_visible()
    ended.get_by_label("API key").fill(another)
    ended.get_by_role("button", name="Sign in").click()
    expect(ended).to_have_count(0)
    expect(page.get_by_role("link", name=re.compile("^Four Reports"))).to_be_visible()


def test_a_session_that_ends_while_a_question_is_written_is_renewed_and_the_question_asked(
    page: Page, keys: KeyStore, library: Path
) -> None:
    first, second = (keys.create(name, library) for name in ("carol", "dave"))
    page.goto("/")
    page.get_by_label("API key").fill(first[1].get_secret_value())
    page.keyboard.press("Enter")
    # The box is there while the dialog is, which would get what is written.
    expect(page.get_by_role("dialog")).to_have_count(0)
    box = page.get_by_role("textbox", name="Ask a question")
    # It ends with the question's own request: one that the first view sends late would open the dialog before.
    ending = [first[0].id]

    def end_session(route: Route) -> None:
        if route.request.method == "POST" and ending:
            keys.revoke(ending.pop())
        route.continue_()

    page.route("**/v1/conversations", end_session)
    question = "In Table 3, what is the recall on the test split under the exact scenario?"
    box.fill(question)
    box.press("Enter")
    ended = page.get_by_role("dialog", name="Your session has ended")
    ended.get_by_label("API key").fill(second[1].get_secret_value())
    ended.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("article", name=question)).to_contain_text("0.9687", timeout=60_000)


def test_a_key_of_another_library_sees_and_gets_nothing_of_the_page_before(
    page: Page, keys: KeyStore, library: Path
) -> None:
    first, second = keys.create("frank", library), keys.create("grace", library.parent / "other")
    page.goto("/#/library")
    page.get_by_label("API key").fill(first[1].get_secret_value())
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=re.compile("^Four Reports"))).to_be_visible()
    keys.revoke(first[0].id)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.get_by_role("searchbox").fill("reports")
    ended = page.get_by_role("dialog", name="Your session has ended")
    ended.get_by_label("API key").fill(second[1].get_secret_value())
    before = len(sent)
    ended.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="The library has no papers yet")).to_be_visible(timeout=60_000)
    assert page.url.endswith("/")
    assert not [url for url in sent[before:] if "query=reports" in url]


def test_a_refusal_that_comes_late_does_not_ask_for_a_key_again(page: Page, keys: KeyStore, library: Path) -> None:
    secret = keys.create("erin", library)[1].get_secret_value()
    # The response to the first request for papers, which was sent without a session, waits for `release()`.
    page.add_init_script("""
        const fetched = window.fetch
        const released = new Promise((resolve) => (window.release = resolve))
        let held = false
        window.fetch = async (path, init) => {
          const hold = !held && String(path).startsWith('/v1/papers')
          held ||= hold
          const response = await fetched(path, init)
          if (hold) await released
          return response
        }
    """)
    with page.expect_response(re.compile("/v1/papers")) as refused:
        page.goto("/")
    assert refused.value.status == 401
    page.get_by_label("API key").fill(secret)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.evaluate("release()")
    expect(page.get_by_text("Answers come from the one paper in the library")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
