"""What papers in Markdown use beyond CommonMark: formulas, footnotes, attributes in braces."""

import re

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

__all__ = ["add_rules"]

_NOTE = re.compile(r"\[\^([^\]\s]{1,40})\]:[ \t]*")
_NOTE_MARK = re.compile(r"\[\^([^\]\s]{1,40})\]")
_ATTRIBUTES = re.compile(r"\{[ \t]*[#.:]?[A-Za-z][^{}\n]{0,200}\}")
_LATEX_LABEL = re.compile(r"\\label\{[^{}\n]{0,100}\}")
_NUMBERED = re.compile(r"\(?(\d{1,3}(?:\.\d{1,3})?[a-z]?)\)?\s*")
_OPENINGS = {"$$": "$$", "\\[": "\\]"}
_ENVIRONMENT = re.compile(r"\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}")
_MOST_LINES = 200
_LONGEST_INLINE = 2000


def add_rules(parser: MarkdownIt) -> None:
    """Teach a parser the tokens `math_block`, `math_inline`, `math_display` and `note_mark`, and notes as `aside`."""
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
    parser.block.ruler.before("fence", "math_block", _math_block, ends)
    parser.block.ruler.before("reference", "note", _note, ends)
    parser.inline.ruler.before("escape", "math", _math)
    parser.inline.ruler.before("link", "note_mark", _note_mark)
    parser.inline.ruler.before("link", "attributes", _attributes)


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`$$ … $$`, `\\[ … \\]` or a LaTeX environment that begins a line."""
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
        if number >= min(end, start + _MOST_LINES):
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


def _note(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[^1]: The note`, with the lines that go on under it."""
    match = None if state.is_code_block(start) else _NOTE.match(_line(state, start))
    if not match:
        return False
    if silent:
        return True
    parts = [_line(state, start)[match.end() :]]
    number = start + 1
    while number < end and not state.isEmpty(number) and not _NOTE.match(_line(state, number)):
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


def _math(state: StateInline, silent: bool) -> bool:
    """`$x$`, `$$x$$`, `\\(x\\)`, `\\[x\\]`; dollars of prices are left alone. LaTeX's labels are dropped."""
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
    last = state.src.find(closing, first, min(state.posMax, first + _LONGEST_INLINE))
    content = state.src[first:last] if last >= 0 else ""
    if not content.strip() or (opening == "$" and not _is_formula(state.src, first, last)):
        return False
    if not silent:
        display = opening in ("$$", "\\[")
        state.push("math_display" if display else "math_inline", "math", 0).content = content
    state.pos = last + len(closing)
    return True


def _is_formula(text: str, first: int, last: int) -> bool:
    """Whether single dollars enclose a formula: none stands beside a space within, and no digit follows."""
    padded = text[first].isspace() and text[last - 1].isspace()
    return (padded or not (text[first].isspace() or text[last - 1].isspace())) and not text[
        last + 1 : last + 2
    ].isdigit()


def _note_mark(state: StateInline, silent: bool) -> bool:
    match = _NOTE_MARK.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.push("note_mark", "sup", 0).content = match[1]
    state.pos = match.end()
    return True


def _attributes(state: StateInline, silent: bool) -> bool:  # noqa: ARG001
    """pandoc's attributes behind a picture, a link or a heading: `{#fig:one width=50%}`."""
    match = _ATTRIBUTES.match(state.src, state.pos, state.posMax)
    if not match or not (state.src[: state.pos].endswith((")", "]", "`")) or match.end() == state.posMax):
        return False
    state.pos = match.end()
    return True
