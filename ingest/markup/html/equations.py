"""Display equations of a page."""

from collections.abc import Iterator

from ingest.markup.inline import inline_text
from ingest.markup.maths import latex_text, mathml_text, split_tag
from ingest.markup.nodes import Node
from ingest.markup.spots import Lines
from paperscope.types import Equation

__all__ = ["equations_of", "tex_equation"]

_DELIMITERS = (("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)"))


def equations_of(node: Node, *, lines: Lines) -> list[Equation]:
    """The equations in an element: LaTeXML's, one for each number or row, or a formula on lines of its own."""
    if node.tag == "math" or "math" in node.classes:
        return tex_equation(_source(node), node, lines=lines) if node.tag != "math" else _from_mathml(node, lines=lines)
    rows = list(_rows(node)) or [node]
    return [equation for row in rows if (equation := _row(row, lines=lines))]


def tex_equation(source: str, node: Node, *, lines: Lines) -> list[Equation]:
    """The equation that LaTeX says, numbered by its `\\tag`."""
    plain, number = split_tag(source)
    text = latex_text(plain)
    label = f"Equation {number}" if number else ""
    return [Equation(id="", place=lines.of(node), order=0, text=text, label=label)] if text else []


def _from_mathml(math: Node, *, lines: Lines) -> list[Equation]:
    _, number = split_tag(math.get("alttext"))
    text = mathml_text(math)
    label = f"Equation {number}" if number else ""
    return [Equation(id="", place=lines.of(math), order=0, text=text, label=label)] if text else []


def _source(node: Node) -> str:
    source = node.text().strip()
    for opening, closing in _DELIMITERS:
        if source.startswith(opening) and source.endswith(closing):
            return source[len(opening) : -len(closing)]
    return source


def _rows(node: Node) -> Iterator[Node]:
    """The parts of a LaTeXML equation that have a number of their own."""
    numbered = [part for part in node.where(lambda part: part.tag in ("tbody", "tr")) if _number(part)]
    return iter(numbered if len(numbered) > 1 else [])


def _row(row: Node, *, lines: Lines) -> Equation | None:
    text = " ".join(filter(None, (mathml_text(math) for math in row.where(lambda part: part.tag == "math"))))
    number = _number(row)
    if not text:
        return None
    label = f"Equation {number}" if number else ""
    return Equation(id="", place=lines.of(row), order=0, text=text, label=label)


def _number(node: Node) -> str:
    tag = next((part for part in node.all() if "ltx_tag_equation" in part.classes), None)
    return inline_text(tag.children).strip("() ") if tag is not None else ""
