"""The settings in the page: what is in force, the health of the service, and no secret."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow


def test_the_settings_in_force_are_shown(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto("/#/settings")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    expect(page.get_by_text("The service is healthy")).to_be_visible()
    expect(page.get_by_text("No language model is set")).to_be_visible()
    expect(page.get_by_text("No model has been called for this library.")).to_be_visible()
    assert_accessible(page)
