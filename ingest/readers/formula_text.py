"""Converts MathML and Office formulas to a line of plain text: `a/(b+c)`, `x²`, `p_ij`, `√x`."""

from collections.abc import Callable, Mapping

from ingest.readers.markup_tree import Node
from paperscope_core.text.latex import fraction, latex_text, root, subscript, superscript, tidy_spaces, with_accent

__all__ = ["mathml_text", "omml_text"]

_BIG = frozenset("∑∏∫⋃⋂") | {"max", "min", "lim", "sup", "inf", "argmax", "argmin"}
_INVISIBLE_OPERATORS = ("\u2061", "\u2062", "\u2063", "\u2064")
_SPACED_OPERATORS = ("=", "<", ">", "≤", "≥", "≈", "∈", "→", "≠", ":=")


def mathml_text(math: Node) -> str:
    """Return a `math` element as text: from the LaTeX that it carries, else from the tree."""
    for note in math.iter("annotation"):
        if "tex" in note.get("encoding").lower() and note.plain_text():
            return latex_text(note.text())
    alternative = math.get("alttext").strip()
    return latex_text(alternative) if alternative else tidy_spaces(_mathml(math))


def _mathml(node: Node | str) -> str:
    if isinstance(node, str):
        return node.strip()
    match node.tag:
        case "annotation" | "annotation-xml" | "mphantom":
            text = ""
        case "mo":
            text = _operator(node.plain_text())
        case "mtext" | "mi" | "mn" | "ms":
            text = node.plain_text()
        case "mtr":
            text = " ".join(map(_mathml, node.nodes)) + " ; "
        case "mfenced":
            text = f"{node.get('open') or '('}{', '.join(map(_mathml, node.nodes))}{node.get('close') or ')'}"
        case _:
            parts = [_mathml(child) for child in node.children if not isinstance(child, str) or child.strip()]
            text = _built(node.tag, parts)
    return text


def _built(tag: str, parts: list[str]) -> str:
    """Combine the texts of an element's parts."""
    match tag, parts:
        case "mfrac", [over, under]:
            text = fraction(over, under)
        case "msup", [base, upper]:
            text = base + superscript(upper)
        case (("msub" | "munder"), [base, lower]):
            text = base + subscript(lower)
        case (("msubsup" | "munderover"), [base, lower, upper]):
            text = base + subscript(lower) + superscript(upper)
        case "mover", [base, upper]:
            text = base + superscript(upper) if base in _BIG else with_accent(base, upper.strip())
        case "mroot", [base, degree]:
            text = root(base, degree)
        case "msqrt", _:
            text = root("".join(parts))
        case _:
            text = "".join(parts)
    return text


def _operator(sign: str) -> str:
    if sign in _INVISIBLE_OPERATORS:
        return ""
    return f" {sign} " if sign in _SPACED_OPERATORS else sign


def omml_text(math: Node) -> str:
    """Return an `oMath` element as text."""
    return tidy_spaces(_omml(math)).removesuffix(" ;")


def _omml(node: Node | str) -> str:
    if isinstance(node, str) or (node.tag.endswith("pr") and node.tag != "pr"):
        return ""
    builder = _BUILDERS.get(node.tag)
    return builder(node) if builder else "".join(map(_omml, node.children))


def _scripted(node: Node) -> str:
    lower = _part(node, "sub") or (_part(node, "lim") if node.tag == "limlow" else "")
    upper = _part(node, "sup") or (_part(node, "lim") if node.tag == "limupp" else "")
    return _part(node, "e") + subscript(lower) + superscript(upper)


def _summed(node: Node) -> str:
    sign = _option(node, "narypr", "chr", default="∫")
    return f"{sign}{subscript(_part(node, 'sub'))}{superscript(_part(node, 'sup'))} {_part(node, 'e')}"


def _enclosed(node: Node) -> str:
    inner = ", ".join(map(_omml, node.findall("e")))
    return f"{_option(node, 'dpr', 'begchr', default='(')}{inner}{_option(node, 'dpr', 'endchr', default=')')}"


def _part(node: Node, tag: str) -> str:
    part = node.find(tag) if tag else None
    return "".join(map(_omml, part.children)) if part else ""


def _option(node: Node, group: str, name: str, *, default: str) -> str:
    option = node.find(group, name)
    return default if option is None else option.get("val")


_BUILDERS: Mapping[str, Callable[[Node], str]] = {
    "t": Node.text,
    "f": lambda node: fraction(_part(node, "num"), _part(node, "den")),
    **dict.fromkeys(("ssup", "ssub", "ssubsup", "limlow", "limupp"), _scripted),
    "rad": lambda node: root(_part(node, "e"), _part(node, "deg")),
    "nary": _summed,
    "d": _enclosed,
    "acc": lambda node: with_accent(_part(node, "e"), _option(node, "accpr", "chr", default="^")),
    "bar": lambda node: with_accent(_part(node, "e"), "¯"),
    "mr": lambda node: " ".join(map(_omml, node.findall("e"))) + " ; ",
    "eqarr": lambda node: " ; ".join(map(_omml, node.findall("e"))),
}
