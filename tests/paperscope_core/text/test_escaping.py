"""What a reader of Markdown, HTML, CSV or a terminal makes of a text is the text."""

import csv
import io
import json
import re
import unicodedata

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.text.escaping import (
    html,
    markdown_fence,
    markdown_heading,
    markdown_image,
    markdown_line,
    markdown_text,
    one_line,
    plain_csv,
    read_markdown_text,
    spreadsheet_csv,
    terminal_json,
    terminal_text,
)
from tests.rendered_markdown import HOSTILE, RENDERERS, TEXTS, elements, text_of

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

every_renderer = pytest.mark.parametrize("renderer", RENDERERS)


def paragraphs(text: str) -> str:
    """The text with single spaces, and one empty line between paragraphs."""
    return re.sub(r"\n{2,}", "\n\n", "\n".join(map(one_line, text.splitlines()))).strip("\n")


@every_renderer
@given(TEXTS)
def test_a_paragraph_is_its_text(renderer: str, text: str) -> None:
    found = elements(markdown_line(text), renderer)
    assert {one.tag for one in found.iterdescendants()} <= {"p"}
    assert text_of(found) == one_line(text)


@every_renderer
@given(TEXTS)
def test_lines_and_paragraphs_are_kept(renderer: str, text: str) -> None:
    found = elements(markdown_text(text), renderer)
    assert {one.tag for one in found.iterdescendants()} <= {"p", "br"}
    assert text_of(found) == paragraphs(text)


@every_renderer
@pytest.mark.parametrize("text", HOSTILE)
def test_no_known_attack_is_read_as_markup(renderer: str, text: str) -> None:
    found = elements(f"{markdown_text(text)}\n\n{markdown_text(text)}\n\nend", renderer)
    assert {one.tag for one in found.iterdescendants()} <= {"p", "br"}
    assert text_of(found) == f"{paragraphs(text)}\n\n{paragraphs(text)}\n\nend"


@every_renderer
@given(TEXTS, st.integers(min_value=1, max_value=6))
def test_a_heading_is_its_text(renderer: str, text: str, level: int) -> None:
    [found] = elements(markdown_heading(text, level=level), renderer)
    assert (found.tag, len(found)) == (f"h{level}", 0)
    assert one_line(found.text or "") == one_line(text)


@every_renderer
@given(TEXTS)
def test_an_image_has_its_path_and_alternative_text(renderer: str, text: str) -> None:
    [[found]] = elements(markdown_image(text, "figures/figure-1.png"), renderer)
    assert (found.tag, len(found)) == ("img", 0)
    assert found.attrib["src"] == "figures/figure-1.png"
    assert one_line(found.attrib["alt"]) == one_line(text)


@pytest.mark.parametrize("renderer", ["markdown-it", "mistune"])
@given(TEXTS, TEXTS)
def test_the_cells_of_a_pipe_table_are_their_texts(renderer: str, first: str, second: str) -> None:
    cells = " | ".join(markdown_line(text) for text in (first, second))
    found = elements(f"| a | b |\n| --- | --- |\n| {cells} |", renderer)
    assert [one_line(str(cell.text_content())) for cell in found.iter("td")] == [one_line(first), one_line(second)]
    assert {one.tag for one in found.iterdescendants()} <= {"table", "thead", "tbody", "tr", "th", "td"}


@every_renderer
@given(TEXTS)
def test_code_cannot_end_its_fence(renderer: str, text: str) -> None:
    code, end = elements(markdown_fence(text, language="csv") + "\n\nend", renderer)
    assert (code.tag, [one.tag for one in code.iterdescendants()], end.text_content()) == ("pre", ["code"], "end")


@given(TEXTS)
def test_a_text_comes_back_from_markdown(text: str) -> None:
    assert paragraphs(read_markdown_text(markdown_text(text))) == paragraphs(text)


@pytest.mark.parametrize("address", ["https://a.example/x", "¹http://a.example", "(www.a.example)", "HTTP://a.example"])
def test_no_reader_makes_a_link_of_an_address(address: str) -> None:
    assert re.search(r"https?:|www\.", markdown_line(address), re.IGNORECASE) is None


def _printable(text: str) -> str:
    return "".join(CONTROLS.sub("", text.replace("\ufffd", "")).split())


@given(TEXTS)
def test_html_is_made_by_templates_alone(text: str) -> None:
    parts = html('<p title="{}">{}</p>', text, html("<b>{}</b>", text))
    [found] = lxml.html.fragment_fromstring(html("{}", parts), create_parent="div")
    assert [one.tag for one in found.iterdescendants()] == ["b"]
    for shown in (str(found.text_content()), found.attrib["title"]):
        assert _printable(shown) == _printable(text)


@given(st.lists(st.lists(st.one_of(TEXTS, st.sampled_from(["\r", '"', ",", "\0", "=1", "'"])), min_size=1), min_size=1))
def test_csv_reads_back(rows: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO(plain_csv(rows), newline=""), strict=True))
    assert [row or [""] for row in read] == rows


FORMULA = re.compile("[\\s\x00-\x1f\ufeff']*[=+\\-@＝＋－＠﹦﹢﹣﹫]|'*[\t\r\n]")
BEGINNINGS = st.sampled_from(
    ["", "=", "+", "-", "@", "\t", "\r", "'", "''=", "'-", "-5", "－", "﹦", "\n", " =", "\ufeff="]
)


@given(st.builds(str.__add__, BEGINNINGS, st.text()))
def test_no_cell_begins_a_formula_and_every_cell_can_be_restored(text: str) -> None:
    [[cell]] = csv.reader(
        io.StringIO(
            spreadsheet_csv(
                [
                    [
                        text,
                    ]
                ]
            ),
            newline="",
        ),
        strict=True,
    )
    plain = unicodedata.normalize("NFKC", cell).lstrip("\ufeff \t\r\n")
    assert plain[:1] not in ("=", "@")
    assert (
        plain[:1] not in ("+", "-")
        or re.search(r"[^\W\d]|[|!(]", plain) is None
        or re.fullmatch(r"[^a-df-z|!(]*", plain)
    )
    assert (cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell) == text


@pytest.mark.parametrize(
    "text", ["=REGISTER.ID(1)", "=cmd|' /C calc'!A0", "@SUM(1)", "+A1", "-LM(small)", "\t=1", "\r=1", "＝1"]
)
def test_a_formula_becomes_text(text: str) -> None:
    assert spreadsheet_csv([[text]]).lstrip('"').startswith(f"'{text}")


@pytest.mark.parametrize("text", ["-0.5", "+1.41", "-", "--", "-1,234.5 %", "−0.5", "a=b|c!", "0.5"])
def test_numbers_and_other_text_stay_as_they_are(text: str) -> None:
    assert next(csv.reader([spreadsheet_csv([[text]])])) == [text]


@given(TEXTS)
def test_no_text_controls_a_terminal(text: str) -> None:
    assert not CONTROLS.search(terminal_text(text))
    assert terminal_text(CONTROLS.sub("", text)) == terminal_text(text)


@given(TEXTS, st.text(st.characters(min_codepoint=0x7F, max_codepoint=0x20FF)))
def test_json_for_a_terminal_has_the_same_values(text: str, more: str) -> None:
    document = terminal_json(json.dumps([text, more], ensure_ascii=False, indent=1))
    assert json.loads(document) == [text, more]
    assert not CONTROLS.search(document)
