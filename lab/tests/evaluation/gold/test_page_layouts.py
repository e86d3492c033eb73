"""The hand-drawn layout: both halves are well-formed, and papers that are missing or changed are said to be."""

import json
from pathlib import Path
from typing import Any

import pytest
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.page_layouts import layout_items
from paperscope_lab.evaluation.gold.papers import GoldItem
from paperscope_lab.evaluation.score import Score
from paperscope_lab.evaluation.suite import Item, Part, Request, select_items

from paperscope_core.settings import Settings
from paperscope_core.types import Box, content_hash

DRAWN = Path(__file__).parents[3] / "paperscope_lab" / "evaluation" / "gold" / "layout"
CONTENT = b"%PDF"


def page(**changes: Any) -> dict[str, Any]:
    items = [{"kind": "heading", "box": [1, 2, 3, 4], "text": "1 Introduction"}]
    line = {"paper": "a/one.pdf", "sha256": content_hash(CONTENT), "page": 1, "size": [612, 792], "items": items}
    return line | changes


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "papers" / "a"
    folder.mkdir(parents=True)
    (folder / "one.pdf").write_bytes(CONTENT)
    return tmp_path


def write(folder: Path, *lines: dict[str, Any], half: str = "development") -> Path:
    (folder / f"{half}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def test_a_paper_has_its_pages_and_the_part_of_its_half(data: Path) -> None:
    folder = write(data, page(), page(page=2, items=[]))
    [item], missing = layout_items(data, folder=folder)
    assert isinstance(item, GoldItem)
    assert (item.name, item.part, missing) == ("layout-development/one", "fitting", [])
    assert [(page.number, len(page.regions)) for page in item.gold.pages] == [(1, 1), (2, 0)]
    assert item.gold.pages[0].regions[0].box == Box(1, 2, 3, 4)


@pytest.mark.parametrize("part", ["fitting", "held-out"])
def test_a_half_is_selected_whatever_the_names_of_its_papers(part: Part, tmp_path: Path) -> None:
    items = [Item(name=f"layout-heldout/{name}", score=Score, part="held-out") for name in ("one", "two", "three")]
    request = Request(data=tmp_path, mode="", settings=Settings(), work=tmp_path, part=part)
    assert select_items(items, request) == (items if part == "held-out" else [])


def test_a_paper_that_is_not_there_is_named(data: Path) -> None:
    folder = write(data, page(paper="a/two.pdf"), half="heldout")
    assert layout_items(data, folder=folder) == ([], ["a/two.pdf"])


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([page(sha256="0" * 64)], "another version"),
        ([page(), page()], "also on line 1"),
        ([page(paper="../one.pdf")], "not below the folder"),
        ([page(items=[{"kind": "equation", "box": [1, 2, 3, 4]}])], "kind"),
    ],
)
def test_unusable_lines_are_reported(lines: list[dict[str, Any]], reason: str, data: Path) -> None:
    items, _ = layout_items(data, folder=write(data, *lines))
    assert [reason in str(item) for item in items if isinstance(item, GoldFileError)] == [True]


@pytest.mark.parametrize("file", sorted(DRAWN.glob("*.jsonl")), ids=lambda file: file.stem)
def test_the_drawn_pages_are_complete(file: Path) -> None:
    pages = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert pages == sorted(pages, key=lambda page: (page["paper"], page["page"]))
    for drawn in pages:
        width, height = drawn["size"]
        for item in drawn["items"]:
            for x0, y0, x1, y1 in filter(None, (item["box"], item["caption_box"])):
                assert 0 <= x0 < x1 <= width
                assert 0 <= y0 < y1 <= height
            assert bool(item["text"]) == (item["kind"] == "heading")
