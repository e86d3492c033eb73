"""Writes text of papers and models into Markdown, HTML, CSV and terminals, so that none of it is read as markup.

Every renderer uses these functions. ruff forbids the usual ways around them: `html.escape`, `csv.writer`, `typer.echo`,
and `Markup` of anything but a literal.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import LiteralString

from markupsafe import Markup

__all__ = [
    "html",
    "is_encodable",
    "markdown_fence",
    "markdown_heading",
    "markdown_image",
    "markdown_line",
    "markdown_text",
    "one_line",
    "plain_csv",
    "read_markdown_text",
    "shortened",
    "spreadsheet_csv",
    "terminal_json",
    "terminal_text",
    "without_control_characters",
]

# Tabs and newlines are kept, because listings need them.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff"
_CONTROL_CHARACTER = re.compile(f"[{_CONTROLS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Also the characters that change the direction of the text after them (Unicode TR 36), and separators of lines.
_TERMINAL_CONTROL = re.compile(f"[{_CONTROLS}\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# An opening bracket is inert without a closing one. Left alone, it can't begin a formula (`\[`) in a chat front end.
_SIGN = re.compile(r"[\\`*\]{}~$|#]|(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=[#\w])")
_TAG = re.compile(r"<(?![\s\d.,=])")
_ADDRESS = re.compile(r"(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|(?<=[\w.+-])(?=@[\w-]+\.\w)", re.IGNORECASE)
_OPENING = re.compile(r"^(?:[>=:]|[+-](?!\w)|\d+(?=[.)](?:\s|$)))")
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&(lt|amp);")

# How a formula begins for a spreadsheet (OWASP, CSV Injection), full-width and small forms included.
_FORMULA = re.compile("[\\s\x00-\x1f\ufeff']*[=+\\-@＝＋－＠﹦﹢﹣﹫]|'*[\t\r\n]")
# What a spreadsheet takes for a number or a text, though it begins with a sign.
_SIGNED = re.compile(r"[+-]?(?:\d[\d,]*)?(?:\.\d+|\d)(?:[eE][+-]?\d+)?\s?%?|[+-]+")


def without_control_characters(text: str) -> str:
    """Return the text without control characters; half a surrogate pair, which no encoding can write, becomes
    U+FFFD."""
    return _SURROGATE.sub("\ufffd", _CONTROL_CHARACTER.sub("", text))


def is_encodable(text: str) -> bool:
    """Return whether the text has no half of a surrogate pair, such as Python makes of bytes that are not UTF-8."""
    return not _SURROGATE.search(text)


def one_line(text: str) -> str:
    """Return the text with each sequence of white space replaced by one space, and without control characters."""
    # Some control characters are white space, and what is left around others may be.
    return " ".join(without_control_characters(" ".join(text.split())).split())


def shortened(text: str, *, limit: int) -> str:
    """Return the text, truncated to at most `limit` characters with a final ellipsis if it is longer."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


# Markdown (CommonMark, with GitHub's tables, strikethrough and bare addresses).


def markdown_line(text: str) -> str:
    r"""Return the text escaped for one line of Markdown, at its beginning, too: it begins no heading, list, quotation
    or rule.

    Signs are escaped by backslashes, `<` and `&` by entities, because some parsers do not accept a backslash there.
    Both stay where no tag or entity can begin. The colon of a URL is escaped, so that it does not become a link.
    """
    line = _SIGN.sub(r"\\\g<0>", one_line(text))
    line = _TAG.sub("&lt;", _ENTITY.sub("&amp;", line))
    line = _ADDRESS.sub(r"\g<0>\\", line)
    return _OPENING.sub(lambda match: match[0] + "\\" if match[0].isdigit() else "\\" + match[0], line)


def markdown_text(text: str) -> str:
    """Return the text with its lines and paragraphs. `read_markdown_text` reads it back."""
    lines = "\n".join(map(markdown_line, text.splitlines()))
    return _LINE_BREAK.sub("  \n", lines.strip("\n"))


def read_markdown_text(markdown: str) -> str:
    """Return the text that `markdown_text` escaped."""
    lines = (line.rstrip() for line in markdown.split("\n"))
    return _ESCAPE.sub(lambda match: match[1] or {"lt": "<", "amp": "&"}[match[2]], "\n".join(lines))


def markdown_heading(text: str, *, level: int) -> str:
    """Return a heading of level 1 to 6."""
    return f"{'#' * level} {markdown_line(text)}".rstrip()


def markdown_fence(text: str, *, language: str = "") -> str:
    """Return a block of code with a fence longer than any sequence of backticks in it; its lines are unchanged."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def markdown_image(alternative: str, path: str) -> str:
    """Return an image; `path` is not escaped."""
    label = markdown_line(alternative).replace("[", r"\[")
    return f"![{label}]({path})"


# HTML.


def html(template: LiteralString, *values: object, **named: object) -> Markup:
    """Fill the placeholders of an HTML template (`str.format`). Values are escaped, except those that are `Markup`."""
    return Markup(template).format(*values, **named)  # noqa: S704 # the template is a literal


# Terminals.


def terminal_text(text: str) -> str:
    """Return the text without characters by which it could control a terminal or reorder the text around it."""
    return _TERMINAL_CONTROL.sub("", text)


def terminal_json(document: str) -> str:
    """Return the JSON document with such characters as escape sequences, which leaves its values as they are."""
    return _TERMINAL_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


# CSV.


def plain_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV (RFC 4180) for programs, their cells as they are."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)  # noqa: TID251
    return out.getvalue()


def spreadsheet_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV (RFC 4180). A cell that a spreadsheet could run as a formula begins with an apostrophe.

    Numbers and dashes stay as they are. A cell that already begins with apostrophes gets one more, so that removing one
    restores it.
    """
    return plain_csv([_protected(cell) for cell in row] for row in rows)


def _protected(cell: object) -> object:
    formula = isinstance(cell, str) and _FORMULA.match(cell) and not _SIGNED.fullmatch(cell)
    return f"'{cell}" if formula else cell
