"""Tags and notes in the page: given, filtered by, written at a lit place, found, changed and deleted."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow

PAPER = "b1810c2e3f4a"


def test_papers_get_tags_that_filter_lists_and_questions(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto("/#/library")
    page.get_by_role("checkbox", name="Select").first.check()
    page.get_by_role("button", name="Tags…").click()
    page.get_by_label("New tag").fill("to read")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="#to-read")).to_be_checked()
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.get_by_role("group", name="Tags").get_by_role("button", name="#to-read").click()
    expect(page).to_have_url(f"{page.url.partition('#')[0]}#/library?query=%23to-read")
    expect(page.get_by_role("link", name="#to-read")).to_be_visible()
    assert_accessible(page)
    page.goto("/#/ask")
    page.get_by_role("button", name="Whole library").click()
    page.get_by_role("button", name="#to-read").click()
    assert_accessible(page)
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("button", name="Remove #to-read")).to_be_visible()


def test_a_note_is_written_at_a_place_and_found(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto(f"/#/papers/{PAPER}?element=table-3")
    page.get_by_role("document").or_(page.get_by_role("region")).first.wait_for()
    page.get_by_role("button", name="Note").wait_for()
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name="Note")
    expect(dialog.get_by_role("button", name="Mark the place")).to_be_enabled()
    dialog.get_by_label("Note, in Markdown").fill("Compare with Table 4.")
    assert_accessible(page)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved the note.")).to_be_visible()
    page.goto("/#/notes?query=compare")
    notes = page.get_by_role("list", name="Notes")
    expect(notes.get_by_text("Report A under the four scenarios")).to_be_visible()
    assert_accessible(page)
    notes.get_by_role("button", name="Edit the note").click()
    notes.get_by_label("Note, in Markdown").fill("Compare with Figure 2.")
    notes.get_by_role("button", name="Save").click()
    expect(notes.get_by_text("Compare with Figure 2.")).to_be_visible()
    notes.get_by_role("link").click()
    expect(page.get_by_label("Page, of 7")).to_have_value("3")
    page.goto("/#/notes")
    page.get_by_role("button", name="Delete the note").click()
    expect(page.get_by_text("No notes yet")).to_be_visible()
    assert_accessible(page)


def test_the_gallery_shows_captions_and_pictures(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto("/#/gallery")
    items = page.get_by_role("list", name="Figures and tables").get_by_role("listitem")
    expect(items).to_have_count(12)
    page.get_by_label("Search captions").fill("nervaluate")
    expect(items).to_have_count(1)
    assert_accessible(page)
    with page.expect_download() as saved:
        items.get_by_role("link", name="Save Table 3").last.click()
    assert saved.value.suggested_filename == f"{PAPER}-table-3.csv"
    page.get_by_label("Kind").select_option("figure")
    expect(page.get_by_text("No figure or table")).to_be_visible()
    page.get_by_label("Kind").select_option("")
    items.get_by_role("link", name="Open Table 3").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Page, of 7")).to_have_value("3")
