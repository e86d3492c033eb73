"""Text as Markdown that says just that text: nothing in it is a mark-up, an HTML tag or a link."""

import re

__all__ = ["block", "escaped", "fenced", "heading", "one_line"]

_SIGNS = re.compile(r"[\\`*\[\]{}~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=[#\w])")
_ADDRESS = re.compile(r"(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|(?<=\w)(?=@\w)", re.IGNORECASE)
_OPENING = re.compile(r"^(?:[#>=:|]|[+-](?!\w)|\d+(?=[.)](?:\s|$)))")
_CLOSING = re.compile(r"#(?=#*$)")


def one_line(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())


def escaped(text: str, *, in_cell: bool = False) -> str:
    r"""The text as a part of one line of Markdown; `in_cell` also escapes what parts the cells of a pipe table.

    Backslashes stand before signs; `<` and `&` are entities, because some readers of Markdown know no backslash there.
    The colon of an address is escaped, so that no reader makes a link of it.
    """
    line = _SIGNS.sub(r"\\\g<0>", one_line(text))
    line = _ENTITY.sub("&amp;", line).replace("<", "&lt;")
    line = _ADDRESS.sub(r"\g<0>\\", line)
    return line.replace("|", r"\|") if in_cell else line


def block(text: str) -> str:
    """The text as a paragraph of one line, whatever it begins with: no heading, list, quotation or rule."""
    return _OPENING.sub(lambda match: match[0] + "\\" if match[0].isdigit() else "\\" + match[0], escaped(text))


def heading(text: str, *, level: int) -> str:
    """A heading of level 1 to 6."""
    line = _CLOSING.sub(r"\#", escaped(text))
    return f"{'#' * level} {line}".rstrip()


def fenced(text: str) -> str:
    """A block of code with a fence longer than any run of backticks inside; its lines stay as they are."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
