"""Markdown to HTML whose lines are those of the Markdown, so that a place in the one is a place in the other."""

import re
from collections.abc import Callable
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.markup.markdown.rules import add_rules

__all__ = ["markdown_html"]

# Elements whose content is no markup would swallow the rest of the file (GitHub's "tagfilter").
_SWALLOWING = re.compile(r"<(?=/?(?:title|textarea|xmp|iframe|noembed|noframes|plaintext)\b)", re.IGNORECASE)
_TAG = re.compile(r"</?([A-Za-z][\w-]*)")
_INLINE = frozenset(
    "a abbr b bdi bdo big br cite code del dfn em font i img ins kbd mark q s samp small span strike strong sub sup tt "
    "u var wbr center p div table thead tbody tfoot tr td th caption ul ol li details summary figure figcaption "
    "script style math".split()
)


def markdown_html(text: str) -> str:
    """The page. HTML in the Markdown stays; what only looks like it (`List<String>`) becomes text."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    add_rules(parser)
    parser.add_render_rule("math_inline", _math)
    parser.add_render_rule("math_display", _math)
    parser.add_render_rule("note_mark", _note_mark)
    parser.add_render_rule("html_inline", _html_inline)
    return _Page(parser).of(parser.parse(text))


class _Page:
    """Writes block after block, each on the line on which it stands in the Markdown."""

    def __init__(self, parser: MarkdownIt) -> None:
        self._parser = parser
        self._parts: list[str] = []
        self._line = 0

    def of(self, tokens: list[Token]) -> str:
        for token in tokens:
            if token.map and token.nesting >= 0 and token.type != "inline":
                self._write("\n" * (token.map[0] - self._line))
            self._write(self._html(token))
        return "".join(self._parts)

    def _write(self, html: str) -> None:
        self._parts.append(html)
        self._line += html.count("\n")

    def _html(self, token: Token) -> str:
        lines = token.map[1] - token.map[0] - 1 if token.map else 0
        whole: dict[str, Callable[[Token], str]] = {
            "inline": self._inline,
            "fence": lambda token: f"<pre>\n{escape(token.content)}</pre>",
            "code_block": lambda token: f"<pre>{escape(token.content)}</pre>",
            "html_block": lambda token: _SWALLOWING.sub("&lt;", token.content),
            "math_block": lambda token: _display(token.content, lines=lines),
            "hr": lambda _: "<hr>",
        }
        if token.type in whole:
            return whole[token.type](token)
        if token.hidden:
            return ""
        attributes = "".join(f' {key}="{escape(str(value))}"' for key, value in token.attrs.items())
        return f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}{attributes}>"

    def _inline(self, token: Token) -> str:
        return str(self._parser.renderer.render(token.children or [], self._parser.options, {}))


def _display(source: str, *, lines: int) -> str:
    """A formula on `lines` lines more than one; attributes hold no newline, since tags count where they end."""
    return f'<math display="block" alttext="{_flat(source)}">{chr(10) * lines}</math>'


def _math(_self: object, tokens: list[Token], index: int, _options: object, _env: object) -> str:
    token = tokens[index]
    if token.type == "math_display":
        return _display(token.content, lines=token.content.count("\n"))
    return f'<math alttext="{_flat(token.content)}">{chr(10) * token.content.count(chr(10))}</math>'


def _flat(source: str) -> str:
    return escape(source.replace("\n", " "))


def _note_mark(_self: object, tokens: list[Token], index: int, _options: object, _env: object) -> str:
    return f"<sup>{escape(tokens[index].content)}</sup>"


def _html_inline(_self: object, tokens: list[Token], index: int, _options: object, _env: object) -> str:
    content = tokens[index].content
    match = _TAG.match(content)
    return escape(content) if match and match[1].lower() not in _INLINE else content
