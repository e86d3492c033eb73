"""The marks of list items, as a page prints them."""

from collections.abc import Sequence

from ingest.markup.inline import inline_text
from ingest.markup.nodes import Node

__all__ = ["item_marks", "roman"]

_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_MOST_ROMAN = 39


def item_marks(list_node: Node, items: Sequence[Node]) -> list[str]:
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
