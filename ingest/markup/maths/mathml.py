"""MathML as a line of text: from the LaTeX that stands beside it, else from the tree."""

from ingest.markup.maths.latex import latex_text
from ingest.markup.maths.linear import accented, fraction, lowered, raised, root, squeezed
from ingest.markup.nodes import Node

__all__ = ["mathml_text"]

_BIG = frozenset("∑∏∫⋃⋂") | {"max", "min", "lim", "sup", "inf", "argmax", "argmin"}


def mathml_text(math: Node) -> str:
    """What a `math` element says."""
    for note in math.all("annotation"):
        if "tex" in note.get("encoding").lower() and note.plain():
            return latex_text(note.text())
    alternative = math.get("alttext").strip()
    return latex_text(alternative) if alternative else squeezed(_said(math))


def _said(node: Node | str) -> str:
    if isinstance(node, str):
        return node.strip()
    match node.tag:
        case "annotation" | "annotation-xml" | "mphantom":
            said = ""
        case "mo":
            said = _operator(node.plain())
        case "mtext" | "mi" | "mn" | "ms":
            said = node.plain()
        case "mtr":
            said = " ".join(map(_said, node.nodes)) + " ; "
        case "mfenced":
            said = f"{node.get('open') or '('}{', '.join(map(_said, node.nodes))}{node.get('close') or ')'}"
        case _:
            parts = [_said(child) for child in node.children if not isinstance(child, str) or child.strip()]
            said = _built(node.tag, parts)
    return said


def _built(tag: str, parts: list[str]) -> str:
    """What an element with these parts prints."""
    match tag, parts:
        case "mfrac", [over, under]:
            said = fraction(over, under)
        case "msup", [base, upper]:
            said = base + raised(upper)
        case (("msub" | "munder"), [base, lower]):
            said = base + lowered(lower)
        case (("msubsup" | "munderover"), [base, lower, upper]):
            said = base + lowered(lower) + raised(upper)
        case "mover", [base, upper]:
            said = base + raised(upper) if base in _BIG else accented(base, upper.strip())
        case "mroot", [base, degree]:
            said = root(base, degree)
        case "msqrt", _:
            said = root("".join(parts))
        case _:
            said = "".join(parts)
    return said


def _operator(sign: str) -> str:
    if sign in ("\u2061", "\u2062", "\u2063", "\u2064"):
        return ""
    return f" {sign} " if sign in ("=", "<", ">", "≤", "≥", "≈", "∈", "→", "≠", ":=") else sign
