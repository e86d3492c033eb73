"""Chromium, and a service over the example library, for the tests of the web page.

One browser and one service per file of tests; a test has a fresh context, as a first visit has. It fails if the page
asks another host for anything, breaks its own content policy, or throws an error that nothing catches.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebError, expect, sync_playwright

from tests.service.conftest import CHROMIUM, settings_of
from tests.service.servers import serve_app

# Graphs need WebGL, which is drawn in software.
_OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --enable-unsafe-swiftshader"
).split()
_TIMEOUT = 20_000
_OWN_SCHEMES = ("data:", "blob:", "about:")
# WCAG 2.2 AA, and what axe's authors recommend.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, which resolves no host name."""
    if CHROMIUM is None:
        pytest.skip(
            "there is no Chromium here: apt-get install chromium-headless-shell (scripts/setup dev does it for root)"
        )
    with sync_playwright() as playwright:
        options = [*_OPTIONS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def library(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a library with the example paper, which the tests of a file may change."""
    return Path(shutil.copytree(example_library, tmp_path_factory.mktemp("web") / "library"))


@pytest.fixture(scope="module")
def address(library: Path) -> Iterator[str]:
    """The address of a service over that library, without keys and without a model."""
    with serve_app(settings_of(library)) as address:
        yield address


@pytest.fixture
def faults() -> list[str]:
    """What the page did wrong. A test that provokes a fault checks it and clears the list."""
    return []


@pytest.fixture
def context(browser: Browser, address: str, faults: list[str]) -> Iterator[BrowserContext]:
    """A browser's context without cookies; addresses may be relative to the service's."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800}, locale="en-GB")
    # A busy machine draws late.
    context.set_default_timeout(_TIMEOUT)
    expect.set_options(timeout=_TIMEOUT)

    def note_request(url: str) -> None:
        if not url.startswith((f"{address}/", *_OWN_SCHEMES)):
            faults.append(f"the page asked for {url}")

    def note_message(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            faults.append(message.text)

    def note_error(error: WebError) -> None:
        faults.append(f"nothing catches {error.error}")

    context.on("request", lambda request: note_request(request.url))
    context.on("console", note_message)
    context.on("weberror", note_error)
    yield context
    context.close()
    assert faults == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab that shows nothing yet: `page.goto("/")`."""
    return context.new_page()


@pytest.fixture
def assert_accessible() -> Callable[[Page], None]:
    """Fails if axe-core finds a violation in what a page shows now."""

    def check(page: Page) -> None:
        options = {"resultTypes": ["violations"], "runOnly": _RULES}
        results = Axe().run(page, options=options)
        assert results.violations_count == 0, results.generate_report()

    return check
