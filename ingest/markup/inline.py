"""Running text out of a tree: spaces collapsed, superscripts legible, formulas in a line."""

from collections.abc import Iterable

from ingest.markup.maths import latex_text, mathml_text
from ingest.markup.nodes import Node
from ingest.pdf.page.scripts import script_text

__all__ = ["SILENT", "all_bold", "collapsed", "inline_text"]

# What never is text that a reader sees.
SILENT = frozenset(
    "script style template noscript head iframe object embed applet audio video canvas svg map select option datalist "
    "button input textarea progress meter dialog area base link meta source track param".split()
)
_SPACED = frozenset("br hr wbr lb td th p div li tr cell break".split())
_BOLD = frozenset("b strong bold".split())


def inline_text(items: Iterable[Node | str]) -> str:
    """The text of nodes in one line."""
    return collapsed("".join(_said(item) for item in items))


def collapsed(text: str) -> str:
    """Single spaces; zero-width marks and soft hyphens gone."""
    for mark in ("\u00ad", "\u200b", "\ufeff", "\u2060"):
        text = text.replace(mark, "")
    return " ".join(text.split())


def all_bold(items: Iterable[Node | str]) -> bool:
    """Whether there is text and all of it is bold."""
    seen = False
    for item in items:
        if isinstance(item, str):
            if item.strip():
                return False
        elif item.text().strip():
            if item.tag not in _BOLD and "bold" not in item.get("class") and not all_bold(item.children):
                return False
            seen = True
    return seen


def _said(item: Node | str) -> str:
    if isinstance(item, str):
        return item
    if item.tag in SILENT:
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
                said = script_text(collapsed(said), raised=script == "sup") if said.strip() else ""
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
        if found := alternatives.one(tag):
            return found
    return next(iter(alternatives.nodes), None)


def _bare(source: str) -> str:
    """LaTeX without the document that publishers wrap round it."""
    head, mark, tail = source.partition("\\begin{document}")
    return (tail.partition("\\end{document}")[0] if mark else head).strip().strip("$")
