"""Hostile texts, and several renderers of Markdown, HTML on, with the elements that a browser would make of it."""

from collections.abc import Callable, Iterator

import lxml.html
import pytest
from hypothesis import strategies as st
from lxml.html import HtmlElement
from markdown_it import MarkdownIt

__all__ = ["HOSTILE", "RENDERERS", "TEXTS", "elements", "text_of"]

HOSTILE = [
    "<script>alert(1)</script>",
    "x \\<img src=http://a.example>",
    "x \\\\<img src=http://a.example>",
    "[click](https://evil.example)",
    "\\[click\\](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "![a [b](c) d](e)",
    "[a]: https://evil.example",
    "[^1]: a note",
    "<https://evil.example>",
    "https://evil.example www.evil.example a.-@evil.example",
    "&lt;b&gt; &#60; &amp;amp;",
    "# no heading",
    "#",
    "- no item",
    "- [ ] no task",
    "1. no item",
    "12) no item",
    "=====",
    "-----",
    "***",
    "| a | b |",
    "a | b",
    ":-- | --:",
    "`code` ``` fence",
    "```",
    "~~~~",
    "*a* _b_ **c** ~~d~~ $e$",
    "> quoted",
    "    indented",
    "end of a line  \nand a \\\nbreak",
    "a\n===\nb\n---\nc",
    "a | b\n--- | ---\nc | d",
    "```\nopen",
    "<!-- comment",
    "<pre>\n\n",
]
PIECES = st.sampled_from([*HOSTILE, *"ab1 .:)(-+*_`~#>=|\\<>&;![]{}$@/\n\t", "\n\n", "](", "://", "--", "\x1b]8;;"])
TEXTS = st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=20), st.sampled_from(HOSTILE))


def _markdown_it(markdown: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


def _commonmark(markdown: str) -> str:
    return str(pytest.importorskip("commonmark").commonmark(markdown))


def _mistune(markdown: str) -> str:
    plugins = ["table", "strikethrough", "url", "footnotes", "task_lists", "math"]
    return str(pytest.importorskip("mistune").create_markdown(escape=False, plugins=plugins)(markdown))


RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it": _markdown_it,
    "commonmark": _commonmark,
    "mistune": _mistune,
}


def elements(markdown: str, renderer: str) -> HtmlElement:
    """The rendered Markdown as a <div>."""
    return lxml.html.fragment_fromstring(RENDERERS[renderer](markdown), create_parent="div")


def text_of(element: HtmlElement) -> str:
    """The text of paragraphs and line breaks, with a newline for each line and two between paragraphs."""
    return "\n\n".join("".join(_pieces(paragraph)) for paragraph in element)


def _pieces(paragraph: HtmlElement) -> Iterator[str]:
    yield " ".join((paragraph.text or "").split())
    for child in paragraph:
        yield "\n" if child.tag == "br" else f"<{child.tag}>"
        yield " ".join((child.tail or "").split())
