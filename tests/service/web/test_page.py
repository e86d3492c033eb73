"""The page loads in a browser, from this service only."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.service.conftest import settings_of
from tests.service.servers import serve_app

pytestmark = pytest.mark.slow


def test_a_browser_shows_the_page(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    response = page.goto("/")
    assert response is not None
    assert response.status == 200
    expect(page).to_have_title(re.compile("Paperscope$"))
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_be_visible()
    assert_accessible(page)


def test_the_policy_forbids_inline_scripts_and_other_hosts(page: Page, faults: list[str]) -> None:
    page.goto("/")
    blocked = page.evaluate(
        """async () => {
            const blocked = [];
            document.addEventListener("securitypolicyviolation", (event) => {
                blocked.push(event.effectiveDirective);
                event.preventDefault();
            });
            const script = document.createElement("script");
            script.textContent = "document.title = 'OWNED'";
            document.body.append(script);
            await fetch("http://127.0.0.1:9/").catch(() => {});
            await new Promise((resolve) => setTimeout(resolve, 50));
            return blocked;
        }"""
    )
    assert sorted(blocked) == ["connect-src", "script-src-elem"]
    assert "OWNED" not in page.title()
    assert any("Content Security Policy" in fault for fault in faults)
    faults.clear()


def test_the_page_works_below_a_path(page: Page, library: Path, faults: list[str]) -> None:
    """Its files, the worker of PDFs, pictures and what it asks of the API."""
    with serve_app(settings_of(library, **{"service.root_path": "/lab/papers"})) as below:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{below}/lab/papers#/library")
        page.get_by_role("link", name=re.compile("Four Reports")).first.click()
        expect(page.locator("canvas").first).to_be_visible()
        asked = [one.removeprefix(below) for one in asked if one.startswith(below)]
        assert len(asked) > 20
        assert [one for one in asked if not one.startswith("/lab/papers")] == []
    # Of the fixture, which knows another address.
    faults[:] = [one for one in faults if not one.startswith(f"the page asked for {below}/lab/papers")]
