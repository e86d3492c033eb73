"""The graph in the page: search, walk, filter, and the places of statements."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

pytestmark = pytest.mark.slow

PAPER = re.compile("#/papers/[0-9a-f]{12}\\?")


def walk(page: Page, entity: str = "entity f1") -> None:
    page.goto(f"/#/graph?entity={entity}")
    expect(page.get_by_role("region", name="Details")).to_be_visible()


def test_a_search_leads_to_statements_and_their_pages(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.goto("/#/graph")
    search = page.get_by_role("combobox", name="Search entities")
    search.fill("ent f1")
    option = page.get_by_role("option", name=re.compile("^Entity F1"))
    expect(option).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Enter")
    details = page.get_by_role("region", name="Details")
    expect(details.get_by_role("heading", name="Entity F1")).to_be_visible()
    expect(details).to_contain_text("Table 5")
    expect(page.get_by_role("img", name=re.compile("A drawing of \\d+ entities"))).to_be_visible()
    expect(page.locator(".drawing canvas")).not_to_have_count(0)
    assert_accessible(page)


def test_a_definition_opens_its_place(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    walk(page, "SWA")
    definition = page.get_by_role("list", name="Definition").get_by_role("listitem")
    expect(definition).to_contain_text("Stochastic Weight Averaging (SWA)")
    assert_accessible(page)
    definition.get_by_role("button", name="Four Reports, Four Rulers, page 1").press("Enter")
    expect(page.get_by_role("dialog").locator("canvas").first).to_be_visible()
    assert_accessible(page)


def test_statements_lead_to_other_entities_and_more_of_the_graph(page: Page) -> None:
    walk(page)
    size = page.get_by_text(re.compile("\\d+ entities, \\d+ relations"))
    expect(size).to_be_visible()
    before = size.inner_text()
    page.get_by_role("region", name="Details").get_by_role("button", name="Table 5", exact=True).first.click()
    expect(page.get_by_role("region", name="Details").get_by_role("heading", name="Table 5")).to_be_visible()
    expect(size).not_to_have_text(before)
    expanded = size.inner_text()
    page.get_by_role("button", name="Collapse").click()
    expect(size).not_to_have_text(expanded)
    # Entities that others connect too stay.
    assert int(before.split()[0]) <= int(size.inner_text().split()[0]) < int(expanded.split()[0])


def test_a_walk_is_there_again_after_a_reload_and_on_the_way_back(page: Page) -> None:
    walk(page)
    size = page.get_by_text(re.compile("\\d+ entities, \\d+ relations"))
    details = page.get_by_role("region", name="Details")
    expect(size).to_be_visible()
    before = size.inner_text()
    details.get_by_role("button", name="Table 5", exact=True).first.click()
    expect(details.get_by_role("heading", name="Table 5")).to_be_visible()
    expect(size).not_to_have_text(before)
    expect(page).to_have_url(re.compile("walk=.*at="))
    walked = size.inner_text()
    page.reload()
    expect(details.get_by_role("heading", name="Table 5")).to_be_visible()
    expect(size).to_have_text(walked)
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    page.go_back()
    expect(details.get_by_role("heading", name="Table 5")).to_be_visible()
    expect(size).to_have_text(walked)


def test_an_entity_with_more_relations_than_are_loaded_says_so(page: Page) -> None:
    def star(route: Route) -> None:
        count = int(parse_qs(urlsplit(route.request.url).query)["limit"][0])
        entities = [entity(number) for number in range(count + 1)]
        relations = [relation(number, 0) for number in range(1, count + 1)]
        route.fulfill(
            json={"center": entities[0], "entities": entities, "relations": relations, "places": {}, "files": {}}
        )

    page.route("**/v1/graph?*", star)
    walk(page, "e0")
    details = page.get_by_role("region", name="Details")
    for loaded in ("120", "400", "1,000"):
        expect(details).to_contain_text(f"Only the {loaded} strongest relations of this entity are loaded.")
        if loaded != "1,000":
            details.get_by_role("button", name="Load more relations").click()
    expect(details.get_by_role("button", name="Load more relations")).to_have_count(0)


def test_the_drawing_has_the_colours_of_the_kinds_with_reduced_motion(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    walk(page)
    expect(page.locator(".drawing canvas")).not_to_have_count(0)
    # A transition would make the colours those of the moment before.
    name = "getComputedStyle(document.querySelector('main')).transitionProperty"
    assert page.evaluate(name) == "none"


def test_the_list_has_the_same_entities_by_keyboard(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    walk(page)
    page.get_by_role("button", name="List").press("Enter")
    entities = page.get_by_role("list", name="Entities")
    first = entities.get_by_role("button").first
    expect(first).to_be_visible()
    assert_accessible(page)
    count = entities.get_by_role("button").count()
    page.get_by_role("group", name="Kinds of entities").get_by_role("button", name="table").press("Space")
    expect(entities.get_by_role("button")).not_to_have_count(count)
    expect(entities).not_to_contain_text("Table 5")
    entities.get_by_role("button").nth(1).press("Enter")
    expect(entities.get_by_role("button", pressed=True)).to_have_count(1)


def test_a_narrow_window_shows_drawing_and_details(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    walk(page)
    assert page.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
    assert_accessible(page)


def test_an_unknown_entity_is_said_plainly(page: Page) -> None:
    page.goto("/#/graph?entity=<b>no such thing</b>")
    expect(page.get_by_role("heading", name="No such entity")).to_be_visible()
    expect(page.get_by_text("no entity '<b>no such thing</b>' in the graph")).to_be_visible()


def test_without_webgl_the_graph_is_a_list(page: Page) -> None:
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    walk(page)
    expect(page.get_by_role("list", name="Entities")).to_be_visible()
    expect(page.get_by_role("button", name="Map")).to_be_disabled()


def test_five_thousand_entities_are_drawn_while_the_page_responds(page: Page) -> None:
    def large(route: Route) -> None:
        entities = [entity(0)] + [entity(number) for number in range(1, 5000)]
        relations = [relation(number, (number - 1) // 12) for number in range(1, 5000)]
        found = {"center": entities[0], "entities": entities, "relations": relations, "places": {}, "files": {}}
        route.fulfill(json=found)

    page.route("**/v1/graph?*", large)
    walk(page, "e0")
    expect(page.get_by_text("5,000 entities, 4,999 relations")).to_be_visible()
    expect(page.locator(".drawing canvas")).not_to_have_count(0)
    # The layout, which takes longer than this test, runs in a worker.
    page.get_by_role("button", name="List").click()
    expect(page.get_by_role("list", name="Entities").get_by_role("listitem").first).to_be_visible()


def test_without_a_graphics_card_the_drawing_moves_as_a_picture_and_is_then_drawn_anew(page: Page) -> None:
    page.goto("/")
    moved, drawn = page.evaluate(
        """async () => {
            const { moveAsPicture } = await import('/web/graph/motion.js');
            const canvas = document.createElement('canvas');
            let [state, drawings, onDrawn] = [{ x: 0.5, y: 0.5, ratio: 1 }, 0, null];
            const sigma = {
                getCamera: () => ({ getState: () => state }),
                getCanvases: () => ({ nodes: canvas, mouse: document.createElement('canvas') }),
                getGraph: () => ({ order: 5000 }),
                // A point of the graph in a window of 100 pixels.
                framedGraphToViewport: ({ x, y }, { cameraState: at }) =>
                    ({ x: 50 + (100 * (x - at.x)) / at.ratio, y: 50 - (100 * (y - at.y)) / at.ratio }),
                on: (_, listen) => (onDrawn = listen),
                scheduleRender() { drawings += 1; onDrawn(); return this; },
            };
            moveAsPicture(sigma);
            state = { x: 0.6, y: 0.5, ratio: 0.5 };
            sigma.scheduleRender();
            const moved = [canvas.style.transform, drawings];
            while (!drawings) await new Promise(requestAnimationFrame);
            return [moved, [canvas.style.transform, drawings]];
        }"""
    )
    assert moved == ["translate(-70px, -50px) scale(2)", 0]
    assert drawn == ["", 1]


def entity(number: int) -> dict[str, object]:
    kinds = ("method", "dataset", "metric", "task", "concept")
    name = f"Entity {number}"
    return {
        "id": f"e{number}",
        "name": name,
        "type": kinds[number % 5],
        "description": "",
        "sources": [],
        "aliases": [],
        "mentions": [],
    }


def relation(source: int, target: int) -> dict[str, object]:
    return {
        "source": f"e{source}",
        "target": f"e{target}",
        "kind": "uses",
        "description": "",
        "sources": [],
        "weight": 1.0,
    }
