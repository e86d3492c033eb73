"""The running text of a markup tree: collapsed spaces, readable superscripts, formulas on one line, list markers."""

from collections.abc import Iterable, Sequence

from ingest.readers.formula_text import mathml_latex, mathml_text
from ingest.readers.markup_tree import Node
from paperscope_core.text.formulas import script_text
from paperscope_core.text.latex import latex_text, split_tag

__all__ = [
    "INVISIBLE_TAGS",
    "collapse_spaces",
    "inline_latex",
    "inline_text",
    "is_bold",
    "list_markers",
    "node_text",
    "numeral",
]

INVISIBLE_TAGS = frozenset(
    "script style template noscript head iframe object embed applet audio video canvas svg map select option datalist "
    "button input textarea progress meter dialog area base link meta source track param".split()
)
_SPACED = frozenset(
    "br hr wbr lb td th p div li tr cell break h1 h2 h3 h4 h5 h6 pre section article figure figcaption blockquote ul "
    "ol dl dt dd table list-item disp-formula".split()
)
_BOLD = frozenset("b strong bold".split())
# Soft hyphen, zero-width space, byte order mark, word joiner.
_INVISIBLE_CHARACTERS = str.maketrans(dict.fromkeys("\u00ad\u200b\ufeff\u2060"))
_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_MAX_ROMAN = 39


def inline_text(items: Iterable[Node | str]) -> str:
    """Return the text of nodes in one line."""
    return collapse_spaces("".join(map(_text, items)))


def node_text(node: Node | None) -> str:
    """Return the text inside a node in one line, "" for None."""
    return inline_text(node.children) if node is not None else ""


def collapse_spaces(text: str) -> str:
    """Return the text with single spaces and without invisible characters."""
    return " ".join(text.translate(_INVISIBLE_CHARACTERS).split())


def is_bold(items: Iterable[Node | str]) -> bool:
    """Return whether there is text and all of it is bold."""
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


def _text(item: Node | str) -> str:
    if isinstance(item, str):
        return item
    match item.tag:
        case tag if tag in INVISIBLE_TAGS:
            text = ""
        case "math":
            text = f" {mathml_text(item)} " if item.get("display") == "block" else mathml_text(item)
        case "tex-math":
            text = latex_text(_formula_source(item.text()))
        case "alternatives":
            # LaTeX before MathML before anything else.
            text = "".join(map(_text, _best_alternative(item)))
        case "eq":
            # As MinerU marks a formula in a cell.
            text = f"${item.text()}$"
        case "q":
            text = f"“{''.join(map(_text, item.children))}”"
        case _:
            text = "".join(map(_text, item.children))
            if script := _script(item):
                text = script_text(collapse_spaces(text), raised=script == "sup") if text.strip() else ""
            elif item.tag in _SPACED:
                text = f" {text} "
    return text


def _best_alternative(alternatives: Node) -> list[Node]:
    found = alternatives.find("tex-math") or alternatives.find("math") or next(iter(alternatives.nodes), None)
    return [] if found is None else [found]


def inline_latex(items: Iterable[Node | str]) -> str:
    """Return the LaTeX of nodes that hold formulas and nothing else, "" for others."""
    parts: list[str] = []
    for item in items:
        if isinstance(item, str):
            latex = ""
        elif item.tag == "math":
            latex = mathml_latex(item)
        elif item.tag == "tex-math":
            latex = split_tag(_formula_source(item.text()))[0].strip()
        else:
            latex = inline_latex(_best_alternative(item) if item.tag == "alternatives" else item.children)
        if latex:
            parts.append(latex)
        elif inline_text([item]):
            return ""
    return " ".join(parts)


def _script(item: Node) -> str:
    """`sup` or `sub` for raised or lowered text, in any of the formats; a footnote mark is raised."""
    if item.tag in ("sup", "sub"):
        return item.tag
    if item.tag == "hi" and item.get("rend").startswith(("sup", "sub")):
        return item.get("rend")[:3]
    return "sup" if item.tag == "xref" and item.get("ref-type") in ("fn", "table-fn") and not item.nodes else ""


def _formula_source(source: str) -> str:
    """LaTeX without the document that publishers wrap it in."""
    head, mark, tail = source.partition("\\begin{document}")
    return (tail.partition("\\end{document}")[0] if mark else head).strip().strip("$")


def list_markers(items: Sequence[Node], *, style: str = "", start: int = 1) -> list[str]:
    """Return a marker for each item of a list, with a space: `• `, `1. `, `b. `, or the one that LaTeXML prints.

    Args:
        items: The items.
        style: One of HTML's styles of numbers, "" for bullets.
        start: The first number.
    """
    markers = []
    number = start
    for item in items:
        number = item.integer("value", default=number)
        printed = node_text(next((part for part in item.nodes if "ltx_tag_item" in part.classes), None))
        markers.append(f"{printed or (f'{numeral(number, style)}.' if style else '•')} ")
        number += 1
    return markers


def numeral(number: int, style: str) -> str:
    """Return a list number in one of HTML's styles: `a` (after z comes aa), `A`, `i` (up to 39), `I`, `1`."""
    if style in ("a", "A") and number > 0:
        text = "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * min((number - 1) // 26 + 1, 5)
    elif style in ("i", "I") and 0 < number <= _MAX_ROMAN:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (number // value)
            number %= value
    else:
        text = str(number)
    return text.upper() if style in ("A", "I") else text
