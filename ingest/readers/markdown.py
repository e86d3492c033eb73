"""Converts Markdown to elements: CommonMark with GitHub's tables, footnotes, formulas and front matter."""

import re
from html import escape
from typing import TYPE_CHECKING

from ingest.document.drafts import draft_passage
from ingest.readers.character_sets import decode
from ingest.readers.element_collector import Reading, Source
from ingest.readers.front_matter import FrontMatter, split_front_matter
from ingest.readers.html import HtmlWalker
from ingest.readers.inline_text import collapse_spaces
from ingest.readers.latex_tables import LatexTable, begins_table, read_latex_table, table_depth
from ingest.readers.markup_tree import parse_html
from paperscope_core.types import Element, PassageRole

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["read_markdown"]

_NOTE = re.compile(r"\[\^([^\]\s]{1,40})\]:[ \t]*")
_NOTE_MARK = re.compile(r"\[\^([^\]\s]{1,40})\]")
_ATTRIBUTES = re.compile(r"\{[ \t]*[#.:]?[A-Za-z][^{}\n]{0,200}\}")
_LATEX_LABEL = re.compile(r"\\label\{[^{}\n]{0,100}\}")
_NUMBERED = re.compile(r"\(?(\d{1,3}(?:\.\d{1,3})?[a-z]?)\)?\s*")
_OPENINGS = {"$$": "$$", "\\[": "\\]"}
_ENVIRONMENT = re.compile(r"\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}")
_MAX_FORMULA_LINES = 200
_MAX_TABLE_LINES = 3000
_MAX_INLINE_LENGTH = 2000
# Elements with raw text content would consume the rest of the file (GitHub's "tagfilter").
_SWALLOWING = re.compile(r"<(?=/?(?:title|textarea|xmp|iframe|noembed|noframes|plaintext)\b)", re.IGNORECASE)
_TAG = re.compile(r"</?([A-Za-z][\w-]*)")
_INLINE = frozenset(
    "a abbr b bdi bdo big br cite code del dfn em font i img ins kbd mark q s samp small span strike strong sub sup tt "
    "u var wbr center p div table thead tbody tfoot tr td th caption ul ol li details summary figure figcaption "
    "script style math".split()
)


def read_markdown(source: Source) -> Reading:
    """Read a file. Raise `PaperFileError` for a file that is not text."""
    text, problems = decode(source.data, name=source.name)
    front, body = split_front_matter(text)
    page = markdown_html(body)
    # A file of link targets has no text.
    if not page.strip():
        return Reading(
            elements=_head(front, source),
            title=front.title,
            authors=front.authors,
            problems=problems,
            publication=front.publication,
        )
    tree, lost = parse_html(page, name=source.name)
    elements = HtmlWalker(source).walk(next(tree.iter("body"), tree))
    return Reading(
        elements=[*_head(front, source), *elements],
        title=front.title,
        authors=front.authors,
        problems=(*problems, *lost),
        publication=front.publication,
    )


def _head(front: FrontMatter, source: Source) -> list[Element]:
    """Return the title, authors and abstract of the front matter."""
    parts: tuple[tuple[PassageRole, str, str], ...] = (
        ("title", front.title, "title"),
        ("authors", "\n".join(front.authors), "author"),
        ("abstract", collapse_spaces(front.abstract), "abstract"),
    )
    return [draft_passage(text, role, source.lines.at(*front.span(key))) for role, text, key in parts if text]


def markdown_html(text: str) -> str:
    """Convert Markdown to HTML with the same line numbers.

    HTML in the Markdown is kept; text that only resembles it (`List<String>`) becomes text.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    add_rules(parser)
    parser.add_render_rule("math_inline", _math)
    parser.add_render_rule("math_display", _math)
    parser.add_render_rule("note_mark", _note_mark)
    parser.add_render_rule("html_inline", _html_inline)
    parts: list[str] = []
    line = 0
    for token in parser.parse(text):
        # Each block begins on its line in the Markdown.
        begins = token.map[0] if token.map and token.nesting >= 0 and token.type != "inline" else line
        html = "\n" * (begins - line) + _block_html(token, parser)
        parts.append(html)
        line += html.count("\n")
    return "".join(parts)


def _block_html(token: "Token", parser: "MarkdownIt") -> str:
    match token.type:
        case "inline":
            html = str(parser.renderer.render(token.children or [], parser.options, {}))
        case "fence":
            html = f"<pre>\n{escape(token.content)}</pre>"
        case "code_block":
            html = f"<pre>{escape(token.content)}</pre>"
        case "html_block":
            html = _SWALLOWING.sub("&lt;", token.content)
        case "math_block":
            lines = token.map[1] - token.map[0] - 1 if token.map else 0
            html = _math_html(token.content, display=True, lines=lines)
        case "hr":
            html = "<hr>"
        case _ if token.hidden:
            html = ""
        case _:
            attributes = "".join(f' {key}="{escape(str(value))}"' for key, value in token.attrs.items())
            html = f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}{attributes}>"
    return html


def add_rules(parser: "MarkdownIt") -> None:
    """Add rules for formulas, footnotes and attributes in braces.

    They make the tokens `math_block`, `math_inline`, `math_display`, `note_mark`, and `aside` for footnotes.
    """
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
    parser.block.ruler.before("fence", "math_block", _math_block, ends)
    parser.block.ruler.before("fence", "latex_table", _latex_table, ends)
    parser.block.ruler.before("reference", "note", _note, ends)
    parser.block.ruler.push("table_edge", _table_edge, {"alt": ["paragraph", "blockquote"]})
    parser.inline.ruler.before("escape", "math", _math_rule)
    parser.inline.ruler.before("link", "note_mark", _note_mark_rule)
    parser.inline.ruler.before("link", "attributes", _attributes)


def _line(state: "StateBlock", number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _math_block(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """`$$ … $$`, `\\[ … \\]` or a LaTeX environment at the beginning of a line."""
    if state.is_code_block(start):
        return False
    first = _line(state, start)
    environment = _ENVIRONMENT.match(first)
    closing = f"\\end{{{environment[1]}}}" if environment else _OPENINGS.get(first[:2], "")
    if not closing:
        return False
    parts = [first if environment else first[2:]]
    number = start
    while closing not in parts[-1]:
        number += 1
        if number >= min(end, start + _MAX_FORMULA_LINES):
            return False
        parts.append(_line(state, number))
    parts[-1], _, behind = parts[-1].partition(closing)
    tag = _NUMBERED.fullmatch(behind.strip())
    if behind.strip() and not tag and not _ATTRIBUTES.fullmatch(behind.strip()):
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.content = "\n".join(parts) + (f"\\tag{{{tag[1]}}}" if tag else "")
        token.map = [start, number + 1]
        state.line = number + 1
    return True


def _latex_table(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """`\\begin{table}` or `\\begin{tabular}` at the beginning of a line, up to its end."""
    if state.is_code_block(start) or not begins_table(_line(state, start)):
        return False
    depth, number, parts = 0, start, []
    while number < min(end, start + _MAX_TABLE_LINES):
        parts.append(_line(state, number))
        depth += table_depth(parts[-1])
        number += 1
        if depth <= 0:
            break
    table = read_latex_table("\n".join(parts))
    if depth > 0 or not table.rows:
        return False
    if not silent:
        _push_table(state, table, start=start, end=number)
        state.line = number
    return True


def _table_edge(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """End a paragraph of a list item or a quotation before a table that is not indented as they are, and a table before
    a line without a cell.

    Otherwise, by CommonMark and GitHub's tables, the table continues the paragraph, and the line is a row.
    """
    after_table = state.parentType == "table" and "|" not in _line(state, start)
    return silent and (after_table or _begins_table(state, start, end))


def _begins_table(state: "StateBlock", start: int, end: int) -> bool:
    """Return whether a line is the header of a table: a delimiter row of as many cells follows."""
    from markdown_it.rules_block import table

    indent = state.blkIndent
    state.blkIndent = min(indent, state.sCount[start])
    try:
        return table(state, start, end, silent=True)
    finally:
        state.blkIndent = indent


def _push_table(state: "StateBlock", table: LatexTable, *, start: int, end: int) -> None:
    def push(tag: str, line: int, text: str, **attributes: int) -> None:
        opening = state.push(f"{tag}_open", tag, 1)
        opening.attrs = {name: value for name, value in attributes.items() if value > 1}
        opening.map = [line, line + 1]
        inline = state.push("inline", "", 0)
        inline.content, inline.children, inline.map = text, [], [line, line + 1]
        state.push(f"{tag}_close", tag, -1)

    state.push("table_open", "table", 1).map = [start, end]
    if table.caption:
        push("caption", start, table.caption)
    for number, row in enumerate(table.rows):
        line = min(start + row.line, end - 1)
        state.push("tr_open", "tr", 1).map = [line, line + 1]
        for cell in row.cells:
            push("th" if number < table.head else "td", line, cell.text, rowspan=cell.rows, colspan=cell.columns)
        state.push("tr_close", "tr", -1)
    state.push("table_close", "table", -1)


def _note(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """`[^1]: The note`, with the lines that continue it."""
    match = None if state.is_code_block(start) else _NOTE.match(_line(state, start))
    if not match:
        return False
    if silent:
        return True
    parts = [_line(state, start)[match.end() :]]
    number = start + 1
    while number < end and not (
        state.isEmpty(number) or _NOTE.match(_line(state, number)) or _begins_table(state, number, end)
    ):
        parts.append(_line(state, number))
        number += 1
    opening = state.push("note_open", "aside", 1)
    opening.attrs = {"role": "doc-footnote"}
    opening.map = [start, number]
    inline = state.push("inline", "", 0)
    inline.content = f"[^{match[1]}] " + "\n".join(parts)
    inline.map = [start, number]
    inline.children = []
    state.push("note_close", "aside", -1)
    state.line = number
    return True


def _math_rule(state: "StateInline", silent: bool) -> bool:
    """`$x$`, `$$x$$`, `\\(x\\)`, `\\[x\\]`, but not the dollars of prices; LaTeX labels are dropped."""
    if label := _LATEX_LABEL.match(state.src, state.pos, state.posMax):
        state.pos = label.end()
        return True
    opening = state.src[state.pos : state.pos + 2]
    closing = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}.get(opening)
    if closing is None:
        if opening[:1] != "$":
            return False
        opening = closing = "$"
    first = state.pos + len(opening)
    last = state.src.find(closing, first, min(state.posMax, first + _MAX_INLINE_LENGTH))
    content = state.src[first:last] if last >= 0 else ""
    if not content.strip() or (opening == "$" and not _is_formula(state.src, first, last)):
        return False
    if not silent:
        display = opening in ("$$", "\\[")
        state.push("math_display" if display else "math_inline", "math", 0).content = content
    state.pos = last + len(closing)
    return True


def _is_formula(text: str, first: int, last: int) -> bool:
    """Return whether single dollars enclose a formula: no space on one side only, and no digit after the closing
    one."""
    padded = text[first].isspace() and text[last - 1].isspace()
    return (padded or not (text[first].isspace() or text[last - 1].isspace())) and not text[
        last + 1 : last + 2
    ].isdigit()


def _note_mark_rule(state: "StateInline", silent: bool) -> bool:
    match = _NOTE_MARK.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.push("note_mark", "sup", 0).content = match[1]
    state.pos = match.end()
    return True


def _attributes(state: "StateInline", silent: bool) -> bool:  # noqa: ARG001
    """pandoc's attributes of an image, a link or a heading: `{#fig:one width=50%}`."""
    match = _ATTRIBUTES.match(state.src, state.pos, state.posMax)
    if not match or not (state.src[: state.pos].endswith((")", "]", "`")) or match.end() == state.posMax):
        return False
    state.pos = match.end()
    return True


def _math(_self: object, tokens: "list[Token]", index: int, _options: object, _env: object) -> str:
    token = tokens[index]
    return _math_html(token.content, display=token.type == "math_display", lines=token.content.count("\n"))


def _math_html(source: str, *, display: bool, lines: int) -> str:
    """Return a formula with `lines` newlines; none in its attributes, since lxml counts a tag at its end."""
    kind = ' display="block"' if display else ""
    return f'<math{kind} alttext="{escape(source.replace(chr(10), " "))}">{chr(10) * lines}</math>'


def _note_mark(_self: object, tokens: "list[Token]", index: int, _options: object, _env: object) -> str:
    return f"<sup>{escape(tokens[index].content)}</sup>"


def _html_inline(_self: object, tokens: "list[Token]", index: int, _options: object, _env: object) -> str:
    content = tokens[index].content
    match = _TAG.match(content)
    return escape(content) if match and match[1].lower() not in _INLINE else content
