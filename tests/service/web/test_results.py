"""Results and questions of each paper in the page: values open their cells, and costs are known before."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Page, Route, expect

from graph_store import Store
from paperscope_core.codec import to_json
from tests.model_server import ModelServer, serve
from tests.paperscope.test_table_exports import put_paper
from tests.query.test_results import FIRST, SECOND, boards_of
from tests.service.http.requests import serve_library
from tests.service.http.test_literature import reply

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve(reply) as server:
        yield server


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[str]:
    """The address of a service with two papers and a model."""
    library = tmp_path_factory.mktemp("results") / "library"
    with closing(Store.open(library)) as store:
        for number in range(2):
            put_paper(store, number)
    with serve_library(library, model=model, **{"embed.model": ""}) as address:
        yield address


def test_each_value_of_a_leaderboard_opens_its_cell(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    boards = [json.loads(to_json(board)) for board in boards_of(FIRST, SECOND)]

    def found(route: Route) -> None:
        shown = [one for one in boards if "dataset=conll" not in route.request.url or one["dataset"] == "CoNLL2003"]
        route.fulfill(json={"leaderboards": shown, "total": len(shown)})

    page.goto("/#/results")
    expect(page.get_by_text("No table has a value whose headers name")).to_be_visible()
    page.route("**/v1/results?*", found)
    page.get_by_label("Dataset").fill("o")
    board = page.get_by_role("region", name="OntoNotes5.0, F1").first
    value = board.get_by_role("link").first
    expect(value).to_be_visible()
    assert_accessible(page)
    board.get_by_text("Why these names").first.click()
    expect(board.get_by_text("dataset OntoNotes5.0: ").first).to_be_visible()
    with page.expect_request(lambda request: request.method == "PATCH") as sent:
        board.get_by_role("button", name="“OntoNotes5.0” is another thing here").first.click()
    assert sent.value.post_data_json == {"paper": FIRST.id, "entity": "ontonotes5.0", "apart": True}
    expect(page.locator(".toasts")).to_contain_text(FIRST.id)
    value.focus()
    page.keyboard.press("Enter")
    place = boards[0]["results"][0]["evidence"]["place"]
    page.wait_for_url(f"**/#/papers/{place['paper']}?at={place['page']},*")
    page.go_back()
    page.get_by_label("Dataset").fill("conll")
    expect(page.get_by_role("heading", name="CoNLL2003, F1")).to_be_visible()
    expect(page.get_by_role("heading", name="OntoNotes5.0, F1")).to_have_count(0)


def test_the_values_of_two_years_are_points_that_open_their_cells(
    page: Page, assert_accessible: Callable[[Page], None]
) -> None:
    board, other = (json.loads(to_json(one)) for one in boards_of(FIRST, SECOND)[:2])
    for one in board["results"]:
        one["year"] = 2021 if one["evidence"]["place"]["paper"] == FIRST.id else 2019
    for one in other["results"]:
        one["year"] = 2021
    page.route("**/v1/results?*", lambda route: route.fulfill(json={"leaderboards": [board, other], "total": 2}))
    page.goto("/#/results")
    chart = page.get_by_role("figure")
    expect(chart).to_have_count(1)
    assert_accessible(page)
    points = chart.get_by_role("link")
    expect(points).to_have_count(len(board["results"]))
    expect(points.first).to_have_accessible_name("BERT-MRC: 91.4 (2019)")
    points.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/#/papers/{SECOND.id}?at=1,*")


def test_each_paper_is_asked_after_the_estimate(
    page: Page, model: ModelServer, assert_accessible: Callable[[Page], None]
) -> None:
    page.goto("/#/ask")
    each = page.get_by_role("button", name="Each paper")
    each.click()
    expect(each).to_have_attribute("aria-pressed", "true")
    assert_accessible(page)
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill("What is each paper about?")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Ask each paper?")
    expect(dialog).to_contain_text("At least 3 model calls")
    assert_accessible(page)
    assert model.bodies == []
    dialog.get_by_role("button", name="Ask", exact=True).click()
    answer = page.get_by_role("article", name="What is each paper about?")
    expect(answer).to_contain_text("Of 2 papers that were asked, 2 speak of it:")
    expect(answer.get_by_role("listitem").filter(has_text="Paper 1: tagging").first).to_be_visible()
    expect(answer.get_by_role("list", name="Sources of the question").first).to_contain_text("Each paper")


def test_the_cost_of_a_table_is_estimated_in_the_form(page: Page) -> None:
    page.goto("/#/tables")
    form = page.get_by_role("form", name="New table")
    form.get_by_label("Title").fill("Costs")
    form.get_by_role("button", name="Estimate the cost").click()
    expect(form.get_by_role("status")).to_contain_text("At least 2 model calls")
    form.get_by_label("Title").fill("Other")
    expect(form.get_by_role("status")).to_have_text("")
