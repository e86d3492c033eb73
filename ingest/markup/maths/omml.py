"""Word's formulas (Office Math Markup) as a line of text."""

from collections.abc import Callable, Mapping

from ingest.markup.maths.linear import accented, fraction, lowered, raised, root, squeezed
from ingest.markup.nodes import Node

__all__ = ["omml_text"]

_PROPERTIES = "pr"


def omml_text(math: Node) -> str:
    """What an `oMath` element says."""
    return squeezed(_said(math)).removesuffix(" ;")


def _said(node: Node | str) -> str:
    if isinstance(node, str) or (node.tag.endswith(_PROPERTIES) and node.tag != _PROPERTIES):
        return ""
    builder = _BUILDERS.get(node.tag)
    return builder(node) if builder else "".join(map(_said, node.children))


def _scripted(node: Node) -> str:
    lower = _part(node, "sub") or (_part(node, "lim") if node.tag == "limlow" else "")
    upper = _part(node, "sup") or (_part(node, "lim") if node.tag == "limupp" else "")
    return _part(node, "e") + lowered(lower) + raised(upper)


def _summed(node: Node) -> str:
    sign = _option(node, "narypr", "chr", default="∫")
    return f"{sign}{lowered(_part(node, 'sub'))}{raised(_part(node, 'sup'))} {_part(node, 'e')}"


def _enclosed(node: Node) -> str:
    inner = ", ".join(map(_said, node.many("e")))
    return f"{_option(node, 'dpr', 'begchr', default='(')}{inner}{_option(node, 'dpr', 'endchr', default=')')}"


def _part(node: Node, tag: str) -> str:
    part = node.one(tag) if tag else None
    return "".join(map(_said, part.children)) if part else ""


def _option(node: Node, group: str, name: str, *, default: str) -> str:
    option = node.one(group, name)
    return default if option is None else option.get("val")


_BUILDERS: Mapping[str, Callable[[Node], str]] = {
    "t": Node.text,
    "f": lambda node: fraction(_part(node, "num"), _part(node, "den")),
    **dict.fromkeys(("ssup", "ssub", "ssubsup", "limlow", "limupp"), _scripted),
    "rad": lambda node: root(_part(node, "e"), _part(node, "deg")),
    "nary": _summed,
    "d": _enclosed,
    "acc": lambda node: accented(_part(node, "e"), _option(node, "accpr", "chr", default="^")),
    "bar": lambda node: accented(_part(node, "e"), "¯"),
    "mr": lambda node: " ".join(map(_said, node.many("e"))) + " ; ",
    "eqarr": lambda node: " ; ".join(map(_said, node.many("e"))),
}
