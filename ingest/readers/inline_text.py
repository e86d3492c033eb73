"""Running text of a markup tree: spaces collapsed, superscripts legible, formulas in a line; and list markers."""

from collections.abc import Iterable, Sequence

from ingest.document.line_text import script_text
from ingest.readers.latex import latex_text
from ingest.readers.markup_tree import Node
from ingest.readers.mathml import mathml_text

__all__ = ["INVISIBLE_TAGS", "collapse_spaces", "inline_text", "is_bold", "list_markers", "roman"]


# What never is text that a reader sees.
INVISIBLE_TAGS = frozenset(
    "script style template noscript head iframe object embed applet audio video canvas svg map select option datalist "
    "button input textarea progress meter dialog area base link meta source track param".split()
)
_SPACED = frozenset("br hr wbr lb td th p div li tr cell break".split())
_BOLD = frozenset("b strong bold".split())


def inline_text(items: Iterable[Node | str]) -> str:
    """The text of nodes in one line."""
    return collapse_spaces("".join(_said(item) for item in items))


def collapse_spaces(text: str) -> str:
    """Single spaces; zero-width marks and soft hyphens gone."""
    for mark in ("\u00ad", "\u200b", "\ufeff", "\u2060"):
        text = text.replace(mark, "")
    return " ".join(text.split())


def is_bold(items: Iterable[Node | str]) -> bool:
    """Whether there is text and all of it is bold."""
    seen = False
    for item in items:
        if isinstance(item, str):
            if item.strip():
                return False
        elif item.text().strip():
            if item.tag not in _BOLD and "bold" not in item.get("class") and not is_bold(item.children):
                return False
            seen = True
    return seen


def _said(item: Node | str) -> str:
    if isinstance(item, str):
        return item
    if item.tag in INVISIBLE_TAGS:
        return ""
    match item.tag:
        case "math":
            said = f" {mathml_text(item)} " if item.get("display") == "block" else mathml_text(item)
        case "tex-math":
            said = latex_text(_bare(item.text()))
        case "alternatives":
            said = _said(best) if (best := _best(item)) is not None else ""
        case "q":
            said = f"“{''.join(map(_said, item.children))}”"
        case _:
            said = "".join(map(_said, item.children))
            if script := _script(item):
                said = script_text(collapse_spaces(said), raised=script == "sup") if said.strip() else ""
            elif item.tag in _SPACED:
                said = f" {said} "
    return said


def _script(item: Node) -> str:
    """`sup` or `sub` for what is raised or lowered, in any of the formats; a footnote's mark is raised."""
    if item.tag in ("sup", "sub"):
        return item.tag
    if item.tag == "hi" and item.get("rend").startswith(("sup", "sub")):
        return item.get("rend")[:3]
    return "sup" if item.tag == "xref" and item.get("ref-type") in ("fn", "table-fn") and not item.nodes else ""


def _best(alternatives: Node) -> Node | None:
    """LaTeX before MathML before anything else."""
    for tag in ("tex-math", "math"):
        if found := alternatives.find(tag):
            return found
    return next(iter(alternatives.nodes), None)


def _bare(source: str) -> str:
    """LaTeX without the document that publishers wrap round it."""
    head, mark, tail = source.partition("\\begin{document}")
    return (tail.partition("\\end{document}")[0] if mark else head).strip().strip("$")


_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_MOST_ROMAN = 39


def list_markers(list_node: Node, items: Sequence[Node]) -> list[str]:
    """One mark an item with its space: `• `, `1. `, `b) `; "" where the page prints the mark itself."""
    if list_node.tag != "ol":
        return [_own(item) or "• " for item in items]
    kind = list_node.get("type") or list_node.get("list-type") or "1"
    number = _integer(list_node.get("start"), 1)
    marks = []
    for item in items:
        number = _integer(item.get("value"), number)
        marks.append(_own(item) or f"{_numeral(number, kind)}. ")
        number += 1
    return marks


def roman(number: int) -> str:
    """`iv` for 4, digits above 39."""
    if not 0 < number <= _MOST_ROMAN:
        return str(number)
    text = ""
    for value, sign in _ROMAN:
        text += sign * (number // value)
        number %= value
    return text


def _own(item: Node) -> str:
    """The mark that LaTeXML prints in the item."""
    tag = next((part for part in item.nodes if "ltx_tag_item" in part.classes), None)
    text = inline_text(tag.children) if tag is not None else ""
    return f"{text} " if text else ""


def _numeral(number: int, kind: str) -> str:
    if kind in ("a", "A") and 0 < number <= 26:
        letter = "abcdefghijklmnopqrstuvwxyz"[number - 1]
        return letter if kind == "a" else letter.upper()
    if kind in ("i", "I"):
        return roman(number) if kind == "i" else roman(number).upper()
    return str(number)


def _integer(text: str, default: int) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default
