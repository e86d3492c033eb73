"""A paper as Markdown: what a reader of Markdown makes of it is what the paper says."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.export import to_markdown
from paperscope_core.types import Figure, Passage
from tests.ingest.export.sample_papers import PLACE, cell, paper_of, plain_table, table, whole_paper
from tests.rendered_markdown import HOSTILE, RENDERERS, TEXTS, elements


def read(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def test_a_whole_paper_reads_in_order() -> None:
    text = to_markdown(whole_paper().paper)
    expected = [
        "# A Paper",
        "A. Author  \nA University",
        "## 1 Start",
        "See Table 5 and [2, 3\\].",
        "- one\n- (a) two",
        "**Listing 1.** A loop\n\n```\nfor x in y:\n    print(x)\n```",
        "**Table 5.** Results\n\n| Model | F1 |\n| --- | --- |\n| BERT | 91.3 |",
        "![Figure 1](figures/figure-1.png)\n\n**Figure 1.** Two plots\n\n- (a) left\n- (b) right",
        "![Equation 3](equations/equation-3.png)\n\nE = mc² (3)",
        "> ¹A note.",
        "- [2\\] B. Writer. A book.",
    ]
    assert text == "\n\n".join(expected) + "\n"


def test_a_table_with_spans_is_html_that_no_text_can_leave() -> None:
    cells = (cell(0, 0, "English\n\n<b>*x*", columns=2), cell(1, 0, "1"), cell(1, 1, "2"))
    text = to_markdown(paper_of(table(*cells, caption="one\n\n# two")))
    tokens = read(text)
    assert [token.type for token in tokens][-4:] == ["paragraph_open", "inline", "paragraph_close", "html_block"]
    assert '<td colspan="2">English &lt;b&gt;*x*</td></tr>\n<tr>' in tokens[-1].content


def test_a_table_without_a_header_and_one_without_cells() -> None:
    headless = replace(plain_table(), header_rows=0)
    assert "|  |  |\n| --- | --- |\n| Model | F1 |" in to_markdown(paper_of(headless))
    picture = replace(table(label="Table 2", caption="A scan"), crop="c" * 64)
    assert to_markdown(paper_of(picture)).endswith("**Table 2.** A scan\n\n![Table 2](tables/table-2.png)\n")


def test_a_figure_without_a_picture_and_a_paper_without_anything() -> None:
    figure = Figure(id="", place=PLACE, order=0, label="Figure 1", caption="Lost")
    assert to_markdown(paper_of(figure)).endswith("**Figure 1.** Lost\n")
    assert to_markdown(paper_of(title="")) == "#\n\nA. Author\n"


def test_texts_from_right_to_left_and_page_furniture() -> None:
    hebrew = Passage(id="p/passage-1", place=PLACE, order=0, text="שלום (עולם)")
    furniture = Passage(id="p/passage-2", place=PLACE, order=0, text="12", role="furniture")
    assert to_markdown(paper_of(hebrew, furniture)).endswith("שלום (עולם)\n")


def said_everywhere(value: Any, text: str) -> Any:
    """The value with this text wherever a paper is quoted."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(said_everywhere(item, text) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    quoted = {"title", "text", "caption", "label", "mark"}
    changed = {
        field.name: text if field.name in quoted else said_everywhere(getattr(value, field.name), text)
        for field in fields(value)
        if field.name in quoted | {"elements", "cells", "panels"}
    }
    return replace(value, **changed)


def check(text: str, renderer: str) -> None:
    found = elements(to_markdown(said_everywhere(whole_paper().paper, text)), renderer)
    tags = [one.tag for one in found.iter()]
    tables = {"table", "thead", "tbody", "tr", "th", "td", "strong", "em"}
    assert set(tags) <= {
        "div",
        "h1",
        "h2",
        "p",
        "br",
        "ul",
        "li",
        "blockquote",
        "pre",
        "code",
        "img",
        "strong",
        *tables,
    }
    assert (tags.count("h1"), tags.count("h2"), tags.count("pre"), tags.count("em")) == (1, 1, 1, 0)
    assert all(image.attrib["src"].startswith(("figures/", "equations/")) for image in found.iter("img"))


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_known_attack_in_a_paper_is_read_as_markup(text: str, renderer: str) -> None:
    check(text, renderer)


@pytest.mark.parametrize("renderer", RENDERERS)
@settings(max_examples=20)
@given(TEXTS)
def test_no_text_of_a_paper_is_read_as_markup(renderer: str, text: str) -> None:
    check(text, renderer)
