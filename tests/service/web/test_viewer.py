"""The page viewer: boxes on pages of any shape, evidence, text, search, tables, files that can't be drawn."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from playwright.sync_api import Locator, Page, Request, expect

from graph_store import Store
from ingest.pdf.mupdf import MuPdfBackend
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Equation,
    Extraction,
    IndexedPaper,
    Paper,
    Passage,
    Place,
    Table,
    content_hash,
)
from paperscope_core.types import Page as PaperPage

pytestmark = pytest.mark.slow

SECONDS = 30
expect.set_options(timeout=1000 * SECONDS)

EXAMPLE = "b1810c2e3f4a"
ODD, LOCKED, LONG, NOTES, GONE = (f"aaaa0000000{number}" for number in range(5))
RED = (1.0, 0.0, 0.0)
ZOOMS = (50, 100, 200)
# Pages: width, height, rotation, crop box (in points from the top left of the unrotated page), more keys of the page.
SHAPES: Sequence[tuple[float, float, int, tuple[float, float, float, float] | None, Mapping[str, str]]] = (
    (595, 842, 0, None, {}),
    (595, 842, 90, None, {}),
    (595, 842, 180, None, {}),
    (595, 842, 270, None, {}),
    (595, 842, 0, (30, 40, 560, 700), {}),
    (595.276, 841.89, 270, (20.3, 30.7, 500.1, 800.2), {}),
    (842, 1191, 0, None, {}),
    (300, 420, 0, None, {}),
    (595, 842, 0, None, {"MediaBox": "[-100 -50 495 792]"}),
    (595, 842, 0, None, {"CropBox": "[-50 -50 700 700]"}),
    (400, 300, 0, None, {"UserUnit": "2"}),
)
MOUNT = """async ({paper, evidence, active}) => {
    const { html, render, useState } = await import('/web/ui/index.js');
    const { PageViewer } = await import('/web/viewer/viewer.js');
    const frame = document.createElement('main');
    frame.style.cssText = 'position: fixed; inset: 0';
    document.body.replaceChildren(frame);
    window.selected = [];
    const Host = () => {
        const [shown, show] = useState(active);
        window.show = show;
        const select = (key) => { window.selected.push(key); show(key); };
        return html`<${PageViewer} paper=${paper} evidence=${evidence} active=${shown} onSelect=${select} focused />`;
    };
    render(html`<${Host} />`, frame);
}"""
# The rectangles of a page, of the mark of a key and around the page's red pixels, in CSS pixels of the window, once the
# page is drawn at its size, the mark is in sight and does not move.
MEASURE = """async ({ number, key, width, seconds }) => {
    const page = () => document.querySelector(`[data-page="${number}"][data-state="drawn"]`);
    const edges = ({ left, top, right, bottom }) => [left, top, right, bottom];
    const frame = () => new Promise(requestAnimationFrame);
    const measure = () => {
        const canvas = page()?.querySelector('canvas');
        const mark = page()?.querySelector(`.page-mark[data-keys~="${key}"][aria-current="true"]`);
        if (!mark || Math.abs(page().clientWidth - width) > 1 || canvas.width !== page().clientWidth) return null;
        const found = [page(), mark, canvas].map((one) => edges(one.getBoundingClientRect()));
        return found[1][1] >= 0 && found[1][3] <= innerHeight ? found : null;
    };
    let [before, now] = [null, null];
    for (const end = performance.now() + 1000 * seconds; !now || String(now) !== String(before); ) {
        if (performance.now() > end) throw new Error(`page ${number} does not come to rest: ${before} ${now}`);
        before = now;
        await frame();
        await frame();
        now = measure();
    }
    const canvas = page().querySelector('canvas');
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let [x0, y0, x1, y1] = [canvas.width, canvas.height, 0, 0];
    for (let at = 0; at < pixels.length; at += 4) {
        if (pixels[at] < 200 || pixels[at + 1] > 60 || pixels[at + 2] > 60) continue;
        const [x, y] = [(at / 4) % canvas.width, Math.floor(at / 4 / canvas.width)];
        [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x + 1), Math.max(y1, y + 1)];
    }
    const [left, top, right, bottom] = now[2];
    const [across, down] = [(right - left) / canvas.width, (bottom - top) / canvas.height];
    const red = [left + x0 * across, top + y0 * down, left + x1 * across, top + y1 * down];
    return { frame: now[0], mark: now[1], red };
}"""
Mount = Callable[..., None]


def odd_file(folder: Path) -> Path:
    """A PDF whose pages have a red rectangle each, as a reader sees it at a different place of each."""
    document = pymupdf.open()
    for number, (width, height, rotation, crop, keys) in enumerate(SHAPES):
        page = document.new_page(width=width, height=height)
        if crop:
            page.set_cropbox(pymupdf.Rect(crop))
        page.set_rotation(rotation)
        x, y = 40 + 7 * number, 80 + 9 * number
        shown = pymupdf.Rect(x, y, x + 150, y + 40)
        page.draw_rect(shown * page.derotation_matrix, color=None, fill=RED)
        page.insert_text(
            pymupdf.Point(x, y + 80) * page.derotation_matrix, f"page {number + 1} of odd pages", rotate=rotation
        )
        for key, value in keys.items():
            document.xref_set_key(page.xref, key, value)
    file = folder / "odd-pages.pdf"
    document.save(file)
    return file


def odd_paper(file: Path) -> Paper:
    """The odd file as our parser's backend reads it: the sizes of pages and the boxes of the red rectangles."""
    pages, elements = [], []
    with MuPdfBackend().open(file.read_bytes(), name=file.name, password=None) as document:
        for number in range(1, document.page_count + 1):
            content = document.read(number)
            (fill,) = content.fills
            pages.append(PaperPage(number=number, width=round(content.width, 1), height=round(content.height, 1)))
            place = Place(paper=ODD, page=number, box=fill.rounded())
            elements.append(Passage(id=f"{ODD}/passage-{number}", place=place, order=number, text=f"red {number}"))
    return paper_of(ODD, file, pages=pages, elements=elements)


def paper_of(
    name: str,
    file: Path,
    *,
    pages: Sequence[PaperPage],
    elements: Sequence[Element],
    title: str = "",
    kind: str = "pdf",
) -> Paper:
    return Paper(
        id=name,
        title=title or f"Paper {name}",
        authors=("A. Author",),
        sha256=content_hash(file.read_bytes()) if file.exists() else "0" * 64,
        file=file.name,
        pages=tuple(pages),
        sections=(),
        elements=tuple(elements),
        format="markdown" if kind == "markdown" else "pdf",
    )


def notes(folder: Path) -> Paper:
    """A paper without pages, whose places are lines, with a script for a title."""
    file = folder / "notes.md"
    file.write_text("# Notes\n", encoding="utf-8")

    def place(first: int, last: int | None = None) -> Place:
        return Place(paper=NOTES, page=1, box=Box(0.0, float(first), 0.0, float(last or first)))

    texts = {
        ("title", 1): "<script>alert(1)</script> Notes on tagging",
        ("heading", 3): "1 Method",
        ("paragraph", 5): "The tagger is a linear model. It was trained for ten epochs.",
        ("paragraph", 7): "هذا نص باللغة العربية.",
    }
    passages = [
        Passage(id=f"{NOTES}/passage-{line}", place=place(line), order=line, text=text, role=role, level=1)  # type: ignore[arg-type]
        for (role, line), text in texts.items()
    ]
    cells = tuple(
        Cell(row=row, column=column, text=text, place=place(9 + row), role="column_header" if row == 0 else "value")
        for row, line in enumerate((("Model", "F1"), ("linear", "0.89"), ("neural", "0.91"), ("rules", "")))
        for column, text in enumerate(line)
    )
    table = Table(
        id=f"{NOTES}/table-1",
        place=place(9, 12),
        order=9,
        cells=cells,
        label="Table 1",
        caption="Scores.",
        header_rows=1,
    )
    equation = Equation(
        id=f"{NOTES}/equation-1", place=place(14), order=14, text="((x-c)/v)²", latex=r"\left(\frac{x-c}{v}\right)^2"
    )
    size = PaperPage(number=1, width=0.0, height=0.0)
    return paper_of(NOTES, file, pages=[size], elements=[*passages, table, equation], title="Notes", kind="markdown")


def locked_file(folder: Path) -> Path:
    document = pymupdf.open()
    document.new_page(width=300, height=400).insert_text((50, 80), "a locked page")
    file = folder / "locked.pdf"
    document.save(file, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="pass phrase", owner_pw="owner")
    return file


def long_file(folder: Path, pages: int) -> Path:
    document = pymupdf.open()
    for _ in range(pages):
        document.new_page(width=300, height=400)
    document[-1].insert_text((50, 80), "the needle")
    file = folder / "long.pdf"
    document.save(file)
    return file


@pytest.fixture(scope="module")
def library(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    odd, locked, long = odd_file(folder), locked_file(folder), long_file(folder, 3000)
    small = [PaperPage(number=number, width=300.0, height=400.0) for number in range(1, 3001)]

    def passage(paper: str, text: str, page: int = 1) -> Passage:
        place = Place(paper=paper, page=page, box=Box(50.0, 60.0, 200.0, 85.0))
        return Passage(id=f"{paper}/passage-1", place=place, order=0, text=text)

    papers = {
        odd: odd_paper(odd),
        locked: paper_of(LOCKED, locked, pages=small[:1], elements=[passage(LOCKED, "a locked page")]),
        long: paper_of(LONG, long, pages=small, elements=[passage(LONG, "the needle", 3000)]),
        folder / "notes.md": notes(folder),
        folder / "gone.pdf": paper_of(
            GONE, folder / "gone.pdf", pages=small[:1], elements=[passage(GONE, "what was read")]
        ),
    }
    nothing = Extraction(entities=(), relations=())
    library = Path(shutil.copytree(example_library, folder / "library"))
    with closing(Store.open(library)) as store:
        for file, paper in papers.items():
            indexed = IndexedPaper(paper=paper, chunks=(), extraction=nothing, vectors=np.zeros((0, 64), np.float32))
            store.add(indexed, crops={}, source=str(file), embedder="fake-64")
    return library


@pytest.fixture
def mount(page: Page) -> Mount:
    """Shows a paper in the viewer with evidence, without the rest of the page."""

    def show(paper: str, evidence: Sequence[Mapping[str, Any]] = (), active: str = "") -> None:
        page.goto("/")
        expect(page.get_by_role("main")).to_be_visible()
        page.evaluate(MOUNT, {"paper": paper, "evidence": list(evidence), "active": active})

    return show


def evidence_of(key: str, *places: tuple[int, Sequence[float]], claim: int | None = 1, **more: str) -> dict[str, Any]:
    return {
        "key": key,
        "claim": claim,
        "label": f"Evidence {key}",
        "places": [{"page": number, "box": list(box)} for number, box in places],
        **more,
    }


def mark(page: Page, key: str) -> Locator:
    return page.locator(f'.page-mark[data-keys~="{key}"]')


def drawn(page: Page, number: int) -> Locator:
    return page.locator(f'[data-page="{number}"][data-state="drawn"]')


def click_in(page: Page, number: int, box: Sequence[float]) -> None:
    """Clicks into the middle of a box of a page once the page does not move."""
    frame = page.locator(f'[data-page="{number}"]')
    scale = frame.evaluate("(one) => one.clientWidth") / SHAPES[number - 1][0]
    frame.click(position={"x": (box[0] + box[2]) / 2 * scale, "y": (box[1] + box[3]) / 2 * scale})


def close(one: Sequence[float], other: Sequence[float], *, within: float = 1.0) -> bool:
    return all(abs(a - b) <= within for a, b in zip(one, other, strict=True))


def test_boxes_lie_on_what_is_drawn_at_every_zoom_rotation_and_crop(page: Page, mount: Mount) -> None:
    elements = page.request.get(f"/v1/papers/{ODD}/elements").json()["elements"]
    sizes = page.request.get(f"/v1/papers/{ODD}").json()["pages"]
    evidence = [evidence_of(f"e{at}", (at, one["place"]["box"])) for at, one in enumerate(elements, start=1)]
    mount(ODD, evidence, "e1")
    for zoom in ZOOMS:
        page.get_by_role("button", name="%").click()
        page.get_by_role("menuitem", name=f"{zoom}%", exact=True).click()
        for number, element in enumerate(elements, start=1):
            page.evaluate("key => window.show(key)", f"e{number}")
            scale = zoom / 100 * 96 / 72
            width = sizes[number - 1]["width"] * scale
            wanted = {"number": number, "key": f"e{number}", "width": width, "seconds": SECONDS}
            shown = page.evaluate(MEASURE, wanted)
            x0, y0, x1, y1 = (value * scale for value in element["place"]["box"])
            left, top, *_ = shown["frame"]
            assert close(shown["mark"], (left + x0, top + y0, left + x1, top + y1)), (zoom, number)
            assert close(shown["mark"], shown["red"], within=1.5), (zoom, number)


def test_evidence_on_several_pages_is_stepped_through(page: Page, mount: Mount) -> None:
    box = (40, 60, 190, 100)
    mount(
        ODD,
        [evidence_of("one", (7, box), (1, box), (1, (40, 300, 90, 320))), evidence_of("two", (5, box), claim=2)],
        "one",
    )
    expect(drawn(page, 7)).to_be_attached()
    expect(page.locator(".evidence-count")).to_have_text("3 of 3")
    page.keyboard.press("n")
    expect(page.locator(".evidence-count")).to_have_text("1 of 3")
    expect(mark(page, "one")).to_have_count(2)
    page.keyboard.press("n")
    expect(mark(page, "two")).to_have_attribute("aria-current", "true")
    expect(mark(page, "two")).to_be_in_viewport()
    page.keyboard.press("p")
    expect(page.locator(".evidence-count")).to_have_text("1 of 3")
    assert page.evaluate("window.selected") == ["two", "one"]


def test_a_click_on_a_box_leads_to_the_claims_that_cite_it(page: Page, mount: Mount) -> None:
    box = (40, 60, 190, 100)
    evidence = [
        evidence_of("one", (1, box)),
        evidence_of("two", (1, box), claim=2),
        evidence_of("three", (1, (300, 60, 400, 90))),
    ]
    mount(ODD, evidence)
    expect(drawn(page, 1)).to_be_attached()
    expect(mark(page, "one").locator(".mark-tag")).to_have_text("1, 2")
    click_in(page, 1, (300, 60, 400, 90))
    click_in(page, 1, box)
    page.get_by_role("menuitem", name="Claim 2: Evidence two").click()
    mark(page, "three").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("window.selected") == ["three", "two", "three"]


def test_cells_are_lit_one_by_one_and_a_table_can_be_sorted_and_opened(
    page: Page, mount: Mount, assert_accessible: Callable[[Page], None]
) -> None:
    table = page.request.get(f"/v1/papers/{EXAMPLE}/elements/table-3").json()
    cells = [cell for cell in table["cells"] if cell["text"] in {"0.9639", "0.9687"}]
    mount(EXAMPLE, [evidence_of("cells", *((3, cell["place"]["box"]) for cell in cells))], "cells")
    expect(drawn(page, 3)).to_be_attached()
    expect(mark(page, "cells")).to_have_count(2)
    page.keyboard.press("o")
    expect(page.get_by_role("button", name="4.1 CoNLL-2003")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("tab", name="Tables").click()
    page.get_by_role("button", name="Open Table 3", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("td.marked")).to_have_text(["0.9639", "0.9687"])
    first = dialog.locator("tbody tr th:first-child")
    expect(first).to_have_text(["Strict", "Exact", "Partial", "Type"])
    dialog.get_by_role("button", name="F1").last.click()
    expect(first).to_have_text(["Strict", "Type", "Exact", "Partial"])
    dialog.get_by_role("button", name="F1").last.click()
    expect(first).to_have_text(["Partial", "Exact", "Type", "Strict"])
    assert_accessible(page)
    dialog.get_by_role("tab", name="As printed").click()
    expect(dialog.locator("img")).to_be_visible()
    dialog.get_by_role("button", name="Next").click()
    expect(dialog.get_by_role("heading", name="Table 4")).to_be_visible()
    dialog.get_by_role("button", name="Show in the paper").click()
    expect(dialog).to_be_hidden()


def test_search_counts_and_steps_through_the_pages(page: Page, mount: Mount) -> None:
    mount(EXAMPLE)
    expect(drawn(page, 1)).to_be_attached()
    page.keyboard.press("Control+f")
    field = page.get_by_role("textbox", name="Search in the paper")
    expect(field).to_be_focused()
    field.fill("population deviation")
    status = page.get_by_role("search").get_by_role("status")
    expect(status).to_have_text("1 of 3")  # "1 of 2…" while it searches
    page.wait_for_function("() => CSS.highlights.get('search-hit')?.size === 1")
    words = (
        "() => [...CSS.highlights.get('search-hit')].map(range => range.toString().replace(/\\s+/g, ' ').toLowerCase())"
    )
    assert page.evaluate(words) == ["population deviation"]
    page.keyboard.press("Enter")
    expect(status).to_contain_text("2 of ")
    page.keyboard.press("Shift+Enter")
    expect(status).to_contain_text("1 of ")
    field.fill("no such words anywhere")
    expect(status).to_have_text("No match")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()


def test_a_search_of_pages_without_text_says_so(page: Page, mount: Mount) -> None:
    page.route("**/v1/papers/*/elements?*", lambda route: route.fulfill(json={"elements": [], "total": 0}))
    page.route("**/v1/papers/*/file", lambda route: route.fulfill(status=200, body=empty_file()))
    mount(ODD)
    page.get_by_role("region", name="Pages of").focus()
    page.keyboard.press("/")
    page.get_by_role("textbox", name="Search in the paper").fill("word")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("This paper has no text")


def empty_file() -> bytes:
    """A PDF file with an empty page."""
    document = pymupdf.open()
    document.new_page(width=595, height=842)
    content: bytes = document.tobytes()
    return content


def test_a_paper_without_pages_is_text_with_marks(
    page: Page, mount: Mount, assert_accessible: Callable[[Page], None]
) -> None:
    evidence = [
        evidence_of("words", (1, (0, 5, 0, 5)), quote="trained for ten epochs", element=f"{NOTES}/passage-5"),
        evidence_of("cell", (1, (0, 11, 0, 11)), claim=2, quote="0.91", element=f"{NOTES}/table-1"),
    ]
    mount(NOTES, evidence, "cell")
    expect(page.get_by_role("heading", name="<script>alert(1)</script> Notes on tagging")).to_be_visible()
    expect(page.locator("td.marked")).to_have_text(["0.91"])
    expect(page.locator("td.marked.active")).to_be_in_viewport()
    words = page.locator("mark")
    expect(words).to_contain_text("trained for ten epochs")
    words.click()
    assert page.evaluate("window.selected") == ["words"]
    expect(page.locator("mark.active")).to_be_visible()
    assert page.locator("p", has_text="العربية").evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    page.keyboard.press("/")
    field = page.get_by_role("textbox", name="Search in the paper")
    expect(field).to_be_focused()
    field.fill("0.9")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 of 1")
    assert_accessible(page)


def test_the_password_of_a_file_stays_in_the_browser(page: Page, mount: Mount) -> None:
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))  # noqa: PLW0108 # playwright sets an attribute
    mount(LOCKED)
    field = page.get_by_label("Password")
    expect(field).to_be_focused()
    field.fill("wrong phrase")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This password does not open the file.")
    page.get_by_label("Password").fill("pass phrase")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(drawn(page, 1)).to_be_attached()
    for request in sent:
        assert "phrase" not in json.dumps([request.url, request.headers, request.post_data])


def test_an_equation_without_a_picture_is_shown_as_a_formula(page: Page, mount: Mount) -> None:
    failed: list[str] = []
    page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    mount(NOTES)
    equation = page.locator(f"[data-element='{NOTES}/equation-1']")
    expect(equation.locator(".katex .mfrac").first).to_be_visible()
    expect(equation.locator("img")).to_have_count(0)
    equation.get_by_role("button", name="Open").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".katex .mfrac").first).to_be_visible()
    expect(dialog.get_by_text("((x-c)/v)²", exact=True)).to_be_visible()
    assert failed == []


def test_without_the_password_the_text_can_be_read(page: Page, mount: Mount) -> None:
    mount(LOCKED, [evidence_of("words", (1, (50, 60, 200, 85)))], "words")
    page.get_by_role("button", name="Read the text instead").click()
    expect(page.locator("mark.active")).to_contain_text("a locked page")


def test_a_file_that_is_gone_is_shown_as_text(page: Page, mount: Mount) -> None:
    mount(GONE, [evidence_of("words", (1, (50, 60, 200, 85)))], "words")
    expect(page.get_by_text("The file of this paper is gone.")).to_be_visible()
    expect(page.locator("mark.active")).to_contain_text("what was read")


def test_a_paper_that_was_removed_is_said_to_be(page: Page, mount: Mount) -> None:
    mount("ffffffffffff")
    expect(page.get_by_role("heading", name="This paper is not in the library")).to_be_visible()


def test_of_3000_pages_only_those_in_sight_exist(page: Page, mount: Mount) -> None:
    mount(LONG, [evidence_of("end", (3000, (50, 60, 200, 85)))])
    expect(drawn(page, 1)).to_be_attached()
    expect(page.locator("[data-page]")).not_to_have_count(0)
    pages = page.locator(".page-stack")
    height = pages.evaluate("(one) => one.scrollHeight")
    assert page.locator("canvas").count() < 10
    page.keyboard.press("n")
    expect(mark(page, "end")).to_be_in_viewport()
    expect(drawn(page, 3000)).to_be_attached()
    assert pages.evaluate("(one) => one.scrollHeight") == height
    assert page.locator(".page-view").count() < 10
    page.keyboard.press("g")
    page.keyboard.type("1500")
    page.keyboard.press("Enter")
    expect(drawn(page, 1500)).to_be_in_viewport()


def test_everything_works_by_keyboard(page: Page, mount: Mount) -> None:
    mount(ODD, [evidence_of("one", (2, (40, 60, 190, 100)))])
    expect(drawn(page, 1)).to_be_attached()
    region = page.get_by_role("region", name=f"Pages of Paper {ODD}")
    expect(region).to_be_focused()
    zoom = page.get_by_role("button", name="%")
    before = zoom.inner_text()
    page.keyboard.press("+")
    expect(zoom).not_to_have_text(before)
    page.keyboard.press("0")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next evidence")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(region).to_be_focused()
    page.keyboard.press("t")
    expect(page.get_by_text("red 3", exact=True)).to_be_attached()
    page.keyboard.press("t")
    expect(drawn(page, 1)).to_be_attached()


def test_on_a_phone_nothing_is_cut_off(page: Page, mount: Mount, assert_accessible: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    mount(EXAMPLE, [evidence_of("one", (3, (60, 300, 280, 340)))], "one")
    expect(drawn(page, 3)).to_be_attached()
    for name in (".viewer", ".viewer-bar"):
        assert page.locator(name).evaluate("(one) => one.scrollWidth - one.clientWidth") == 0, name
    # The page is larger than the window, so that the evidence fills it.
    box = page.locator(".page-mark.active").bounding_box()
    assert box is not None
    assert 0 <= box["x"] < box["x"] + box["width"] <= 360
    assert box["width"] > 320
    assert_accessible(page)
    page.get_by_role("button", name="Outline").click()
    expect(page.get_by_role("tab", name="Equations")).to_be_in_viewport()
    assert_accessible(page)


def test_a_link_opens_a_paper_with_its_boxes_lit(page: Page) -> None:
    page.goto(f"/#/papers/{EXAMPLE}?at=2,49.2,68.9,545.6,130;3,60,300,280,340")
    expect(page.locator(".evidence-count")).to_have_text("1 of 2")
    expect(page.locator(".page-mark.active").first).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Four Reports, Four Rulers")).to_be_visible()
    page.goto(f"/#/papers/{EXAMPLE}?element=table-5")
    expect(drawn(page, 4)).to_be_attached()
    expect(page.get_by_role("button", name="Table 5")).to_be_in_viewport()


def test_the_number_of_a_claim_stands_once_in_a_row_of_cells(page: Page) -> None:
    page.goto("/")
    boxes = [[50, 100, 300, 200], [60, 120, 90, 130], [100, 121, 140, 131], [60, 150, 90, 160]]
    tags = page.evaluate(
        """async (boxes) => {
          const { marksByPage } = await import('/web/viewer/evidence.js')
          const places = boxes.map((box) => [{ page: 1, box }])
          const evidence = places.map((places, index) => ({ key: `${index}`, claim: 3, label: '', places }))
          return marksByPage(evidence, '0').get(1).map((mark) => mark.tag)
        }""",
        boxes,
    )
    assert tags == ["3", "3", "", "3"]


def test_on_a_phone_a_box_is_shown_large_and_the_number_is_that_of_its_page(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    # At the end of page 3, with most of page 4 in sight.
    page.goto(f"/#/papers/{EXAMPLE}?at=3,100,708,120,716")
    number = page.get_by_label("Page, of 7")
    expect(number).to_have_value("3")
    mark = page.get_by_role("button", name="Cited place")
    box = mark.bounding_box()
    assert box is not None
    assert box["width"] > 30, "20 points at a zoom of 1.25"
    assert 0 < box["x"] < 390 - box["width"]
    # A zoom that somebody chose stays.
    page.get_by_role("region", name="Pages of").press("-")
    expect(number).to_have_value("3")
    page.get_by_role("button", name="Next evidence").click()
    smaller = mark.bounding_box()
    assert smaller is not None
    assert smaller["width"] < box["width"]
