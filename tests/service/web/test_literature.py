"""Literature tables in the page: filled live, each cell opens its box, corrected by hand, keyboard and phone."""

from collections.abc import Callable

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.slow

QUESTION = "In Table 3, what is the recall on the test split under the exact scenario?"


def begin(address: str, title: str) -> str:
    """Begin to fill a table with one column; return its route."""
    column = {"name": "Recall", "instruction": QUESTION, "type": "number"}
    begun = httpx2.post(f"{address}/v1/tables", json={"title": title, "columns": [column]})
    assert begun.status_code == 202, begun.text
    return f"/#/tables/{begun.json()['table']}"


def correct(details: Locator, text: str) -> None:
    details.get_by_role("button", name="Correct").click()
    details.get_by_label("What the cell should say").fill(text)
    details.get_by_role("button", name="Save").click()


def test_a_table_is_filled_and_a_cell_opens_its_place(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto("/#/tables")
    form = page.get_by_role("form", name="New table")
    expect(form).to_be_visible()
    assert_accessible(page)
    form.get_by_label("Title").fill("Recalls")
    for name in ("sample", "main-result", "limitations"):
        form.get_by_role("button", name=name, exact=True).click()
    form.get_by_role("button", name="Own column").click()
    form.get_by_label("Name of column 1").fill("Recall")
    form.get_by_label("What column 1 asks").fill(QUESTION)
    form.get_by_label("Type of column 1").select_option("number")
    assert_accessible(page)
    form.get_by_role("button", name="Fill the table").click()
    expect(page.get_by_role("heading", name="Recalls", level=1)).to_be_visible()
    grid = page.get_by_role("region", name="Recalls")
    recall = grid.get_by_role("button", name="0.9687")
    expect(recall).to_be_visible(timeout=120_000)
    expect(grid.get_by_role("columnheader", name="objective")).to_be_visible()

    recall.click()
    pane = page.get_by_role("complementary", name="Cell")
    expect(pane.get_by_role("button", name="Claim 1: Four Reports, Four Rulers, Table 3, page 3")).to_be_visible()
    assert_accessible(page)
    details = pane.get_by_role("region", name="Recall")
    correct(details, "0.97")
    corrected = grid.get_by_role("button", name="0.97 Corrected")
    expect(corrected).to_be_visible()
    expect(details).to_contain_text("Before: 0.9687")

    # The arrow keys go from cell to cell.
    corrected.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(pane.get_by_role("region", name="objective")).to_be_visible()
    pane.get_by_role("button", name="Close").first.click()
    expect(pane).to_have_count(0)


def test_rows_are_excluded_and_files_saved(page: Page, address: str) -> None:
    page.goto(begin(address, "Excluded"))
    grid = page.get_by_role("region", name="Excluded")
    grid.get_by_role("button", name="Exclude").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("no baseline")
    dialog.get_by_role("button", name="Exclude", exact=True).click()
    expect(grid.get_by_text("Excluded: no baseline")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="XLSX").click()
    assert download.value.path().read_bytes().startswith(b"PK")
    grid.get_by_role("button", name="Include again").click()
    expect(grid.get_by_text("Excluded: no baseline")).to_have_count(0)


def test_on_a_phone_a_cell_opens_over_the_table(
    page: Page, address: str, assert_accessible: Callable[[Page], None]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(begin(address, "On a phone"))
    page.get_by_role("button", name="0.9687").click(timeout=120_000)
    sheet = page.get_by_role("dialog", name="Cell")
    expect(sheet.get_by_role("region", name="Recall")).to_contain_text("0.9687")
    expect(sheet.locator("canvas").first).to_be_visible(timeout=60_000)
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_unknown_table_is_no_table(page: Page) -> None:
    page.goto("/#/tables/table-000000000000")
    expect(page.get_by_role("heading", name="This table does not exist")).to_be_visible()
    page.get_by_role("link", name="All tables").click()
    expect(page.get_by_role("form", name="New table")).to_be_visible()
