"""What the tools of the MCP server tell a model: schemas, texts of elements, and pictures of a bounded size."""

import base64
import io
import os

import pytest
from jsonschema_rs import Draft202012Validator
from PIL import Image

from paperscope_core.errors import InputError
from paperscope_core.types import Passage
from service.mcp.library_tools import LIBRARY_TOOLS
from service.mcp.paper_tools import TOOLS, AddPaper, PaperTool, _picture, _tagged, text_content
from tests.service.conftest import PAPER, place


@pytest.mark.parametrize("tool", [*TOOLS, *LIBRARY_TOOLS, AddPaper], ids=lambda tool: tool.name_)
def test_a_schema_describes_each_argument_and_forbids_others(tool: type[PaperTool]) -> None:
    listed = tool.listed()
    Draft202012Validator(listed.input_schema)
    assert listed.input_schema["additionalProperties"] is False
    assert all(one["description"] for one in listed.input_schema["properties"].values())
    assert listed.description
    assert "  " not in listed.description
    assert len(listed.description) < 350
    with pytest.raises(InputError, match=f"The arguments of {tool.name_} are"):
        tool.of({"colour": "red"})


def passage(number: int, text: str) -> Passage:
    return Passage(id=f"{PAPER}/passage-{number}", place=place(10.0 * number), order=number, text=text)


def test_each_element_has_its_id_and_place_where_it_begins() -> None:
    first, second, cut = (
        passage(1, "It is so."),
        passage(2, "It is so. And more."),
        passage(3, "Cut off in a part before."),
    )
    text = _tagged("## It is so.\n\nIt is so. And more.\n\na part before.", [first, second, cut])
    assert text == (
        f"## {{{PAPER}/passage-1, page 1 [50 10 300 30]}} It is so.\n\n"
        f"{{{PAPER}/passage-2, page 1 [50 20 300 40]}} It is so. And more.\n\na part before.\n"
        f"{{{PAPER}/passage-3, page 1 [50 30 300 50]}}"
    )
    assert _tagged("Is so.", [first]) == f"{{{PAPER}/passage-1, page 1 [50 10 300 30]}}\nIs so."


@pytest.mark.parametrize(
    ("size", "noise"), [((40, 30), False), ((3000, 20), False), ((2000, 2200), True), ((900, 900), True)]
)
def test_a_picture_has_a_size_that_clients_take(size: tuple[int, int], noise: bool) -> None:
    image = Image.frombytes("RGB", size, os.urandom(size[0] * size[1] * 3)) if noise else Image.new("RGBA", size)
    written = io.BytesIO()
    image.save(written, "png")
    content = _picture(written.getvalue())
    data = base64.b64decode(content.data)
    assert len(data) <= 600_000
    with Image.open(io.BytesIO(data)) as shown:
        assert max(shown.size) <= 1568
        assert content.mime_type == f"image/{shown.format.lower() if shown.format else ''}"
    if size == (40, 30):
        assert data == written.getvalue()


def test_texts_can_be_sent_whatever_a_paper_holds() -> None:
    assert text_content("a\ud800\x1b[2J\u202eb\nc").text == "a[2Jb\nc"
