"""The reading tools over HTTP: what the library finds, with paths of pictures that lead somewhere."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from paperscope.library import Library
from paperscope_core.codec import from_json
from paperscope_core.settings import Settings
from paperscope_core.types import ToolCall, ToolResult
from service.http.pictures import with_tool_pictures

PAPER = "b1810c2e3f4a"


def get(address: str, tool: str, argument: str = "", **query: str | int) -> httpx2.Response:
    return httpx2.get(f"{address}/v1/tools/{tool}", params={"argument": argument, **query}, timeout=60)


@pytest.mark.parametrize(
    ("tool", "argument", "kinds"),
    [
        ("search", "LoRA rank", {"text", "table"}),
        ("section", "3.4", {"text"}),
        ("element", "Table 9", {"table"}),
        ("element", "Eq. (2)", {"equation"}),
        ("page", "3", {"page", "table", "figure"}),
        ("reference", "Hu et al., 2022", {"reference", "citation"}),
        ("outline", "", {"outline"}),
        ("papers", "rulers", {"paper"}),
    ],
)
def test_a_tool_returns_what_the_library_finds(
    address: str, example_library: Path, tool: Any, argument: str, kinds: set[str]
) -> None:
    response = get(address, tool, argument)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    result = from_json(ToolResult, response.text)
    with Library.open(example_library, settings=Settings()) as library:
        own = library.look_up(ToolCall(tool=tool, argument=argument))
    assert result == with_tool_pictures(own)
    assert {item.kind for item in result.items} >= kinds
    assert {item.paper for item in result.items} == {PAPER}
    assert all(item.text for item in result.items)


def test_pictures_are_paths_of_crops_and_pages(address: str) -> None:
    (table,) = get(address, "element", "Table 9", paper=PAPER).json()["items"]
    crop, page = table["pictures"]
    assert crop == f"/v1/crops/{table['crop']}"
    assert page.startswith(f"/v1/papers/{PAPER}/pages/5.png?box=")
    whole = get(address, "page", "5").json()["items"][0]
    assert whole["pictures"] == [f"/v1/papers/{PAPER}/pages/5.png"]
    for path in (crop, page, *whole["pictures"]):
        response = httpx2.get(address + path, timeout=60)
        assert (response.status_code, response.headers["content-type"]) == (200, "image/png"), path


def test_a_large_result_has_parts(address: str) -> None:
    first = get(address, "section", "4").json()
    assert first["parts"] > 1
    second = get(address, "section", "4", part=2).json()
    assert second["call"]["part"] == 2
    assert first["items"] != second["items"]
    assert get(address, "section", "4", part=first["parts"] + 1).status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "status", "message"),
    [
        ("element", {"argument": "Table 99"}, 404, "did you mean 'Table 9'"),
        ("page", {"argument": "last"}, 400, "'last' is no page; give its number (6)"),
        ("outline", {"paper": "zzz"}, 404, "no paper 'zzz' in the library"),
        ("tables", {}, 422, "tool"),
        ("papers", {"part": 0}, 422, "part"),
    ],
)
def test_bad_input_is_a_problem_that_names_the_remedy(
    address: str, path: str, query: dict[str, Any], status: int, message: str
) -> None:
    response = httpx2.get(f"{address}/v1/tools/{path}", params=query)
    assert response.status_code == status
    assert message in response.json()["detail"]


def test_nothing_found_is_no_problem(address: str) -> None:
    found = get(address, "papers", "xylophone").json()
    assert (found["items"], found["message"]) == (
        [],
        "no paper has words of 'xylophone'; leave them out to list all papers",
    )
