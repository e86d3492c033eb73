"""A paper as Markdown: what a reader of Markdown makes of it is what the paper says."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.export import to_markdown
from ingest.export.markdown import block, escaped, fenced, heading, one_line
from paperscope_core.types import Figure, Passage
from tests.ingest.export.sample_papers import PLACE, cell, paper_of, plain_table, table, whole_paper

SIGNS = st.text(alphabet="ab1 .:)(-+*_`~#>=|\\<>&;![]{}$@/\n\t", max_size=40)
HOSTILE = [
    "<script>alert(1)</script>",
    "[click](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "[a]: https://evil.example",
    "https://evil.example www.evil.example",
    "&lt;b&gt; &#60;",
    "# no heading",
    "- no item",
    "1. no item",
    "=====",
    "| a | b |",
    "`code` ``` fence",
    "*a* _b_ **c** ~~d~~",
    "    indented",
    "end of a line  \nand a \\\nbreak",
    "<!-- comment",
]


def read(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def said(tokens: list[Token]) -> str:
    """The text of a list of tokens, which consist of nothing else."""
    inner = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inner} <= {"text"}
    return "".join(child.content for child in inner)


@given(SIGNS)
def test_a_paragraph_says_its_text_and_nothing_else(text: str) -> None:
    tokens = read(block(text))
    assert [token.type for token in tokens] == (["paragraph_open", "inline", "paragraph_close"] if text.strip() else [])
    assert said(tokens) == one_line(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_read_as_markup(text: str) -> None:
    tokens = read(block(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert said(tokens) == one_line(text)
    assert "<" not in block(text)


@pytest.mark.parametrize("address", ["https://a.example/x", "¹http://a.example", "(www.a.example)", "HTTP://a.example"])
def test_no_reader_makes_a_link_of_an_address(address: str) -> None:
    assert re.search(r"https?:|www\.", escaped(address), re.IGNORECASE) is None
    assert said(read(escaped(address))) == address


@given(SIGNS, st.integers(min_value=1, max_value=6))
def test_a_heading_says_its_text(text: str, level: int) -> None:
    tokens = read(heading(text, level=level))
    assert tokens[0].tag == f"h{level}"
    assert said(tokens) == one_line(text)


@given(SIGNS, SIGNS)
def test_the_cells_of_a_pipe_table_say_their_texts(first: str, second: str) -> None:
    texts = [["a", "b"], [first, second]]
    tokens = read(to_markdown(paper_of(plain_table(texts=texts))))
    cells = [tokens[at + 1].children or [] for at, token in enumerate(tokens) if token.type in ("th_open", "td_open")]
    assert ["".join(child.content for child in children) for children in cells] == [
        one_line(text) for line in texts for text in line
    ]


@given(st.text(alphabet="`a\n ~", max_size=30))
def test_code_cannot_end_its_fence(text: str) -> None:
    tokens = read(fenced(text) + "\n\nend")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content.rstrip("\n") == text.rstrip("\n")


def test_a_whole_paper_reads_in_order() -> None:
    text = to_markdown(whole_paper().paper)
    expected = [
        "# A Paper",
        "A. Author  \nA University",
        "## 1 Start",
        "See Table 5 and \\[2, 3\\].",
        "- one\n- (a) two",
        "**Listing 1.** A loop\n\n```\nfor x in y:\n    print(x)\n```",
        "**Table 5.** Results\n\n| Model | F1 |\n| --- | --- |\n| BERT | 91.3 |",
        "![Figure 1](figures/figure-1.png)\n\n**Figure 1.** Two plots\n\n- (a) left\n- (b) right",
        "![Equation 3](equations/equation-3.png)\n\nE = mc² (3)",
        "> ¹A note.",
        "- \\[2\\] B. Writer. A book.",
    ]
    assert text == "\n\n".join(expected) + "\n"


def test_a_table_with_spans_is_html_that_no_text_can_leave() -> None:
    cells = (cell(0, 0, "English\n\n<b>*x*", columns=2), cell(1, 0, "1"), cell(1, 1, "2"))
    text = to_markdown(paper_of(table(*cells, caption="one\n\n# two")))
    tokens = read(text)
    assert [token.type for token in tokens][-4:] == ["paragraph_open", "inline", "paragraph_close", "html_block"]
    assert '<td colspan="2">English &lt;b&gt;*x*</td>' in tokens[-1].content


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
