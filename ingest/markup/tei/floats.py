"""Figures, tables and formulas in TEI."""

from typing import TYPE_CHECKING

from ingest.markup.captions import split_caption
from ingest.markup.grid import MarkedCell, cells_of_rows
from ingest.markup.inline import all_bold, inline_text
from ingest.markup.maths import latex_text
from ingest.markup.nodes import Node
from ingest.markup.pictures import Pictures
from paperscope.types import Element, Equation, Figure, Passage, Place, Table

if TYPE_CHECKING:
    from ingest.markup.tei.body import Places

__all__ = ["equation_of", "figure_of", "table_of"]


def table_of(figure: Node, places: "Places") -> list[Element]:
    """The table with its caption, and the notes under it; without cells if the file holds none."""
    label, caption = _named(figure, "Table")
    table = figure if figure.tag == "table" else next(figure.all("table"), None)
    place, *more = places.of(figure)
    cells, header_rows = cells_of_rows(_rows(table, place) if table is not None else [], head=0)
    found: list[Element] = [
        Table(
            id="",
            place=place,
            order=0,
            cells=cells,
            label=label,
            caption=caption,
            caption_place=place if label or caption else None,
            header_rows=header_rows,
            confidence=1.0 if cells else 0.0,
            more_places=tuple(more),
        )
    ]
    found.extend(
        Passage(id="", place=place, order=0, text=text, role="footnote")
        for note in figure.many("note")
        if (text := inline_text(note.children))
    )
    return found if cells or label or caption else []


def figure_of(figure: Node, places: "Places", *, pictures: Pictures) -> list[Element]:
    """The figure with its caption."""
    label, caption = _named(figure, "Figure")
    address = next((node.get("url") for node in figure.all("graphic") if node.get("url")), "")
    crop = pictures.named(address)
    if not (label or caption or crop):
        return []
    place = places.of(figure)[0]
    return [Figure(id="", place=place, order=0, label=label, caption=caption, caption_place=place, crop=crop)]


def equation_of(formula: Node, places: "Places") -> list[Element]:
    """The formula with its number."""
    label = formula.one("label")
    number = label.plain().strip("() .") if label is not None else formula.get("n").strip("() .")
    text = inline_text(child for child in formula.children if child is not label)
    if formula.get("notation").lower() in ("tex", "latex"):
        text = latex_text(text.strip("$"))
    if not text:
        return []
    name = f"Equation {number}" if number else ""
    return [Equation(id="", place=places.of(formula)[0], order=0, text=text, label=name)]


def _named(figure: Node, word: str) -> tuple[str, str]:
    """Label and caption from `head`, `label` and `figDesc`, as GROBID or people write them."""
    head, label, description = (figure.one(tag) for tag in ("head", "label", "figdesc"))
    words = inline_text(description.children) if description is not None else ""
    title = inline_text(head.children) if head is not None else ""
    if found := split_caption(title):
        rest = found.rest.strip(" .")
        return found.label, f"{rest}. {words}" if rest and words else words or found.rest
    if found := split_caption(words):
        return found.label, found.rest
    number = label.plain().strip(" .") if label is not None else ""
    name = f"{word} {number}" if number[:1].isdigit() else number
    return name, ". ".join(filter(None, (title.rstrip("."), words)))


def _rows(table: Node, place: Place) -> list[list[MarkedCell]]:
    rows = []
    for row in table.all("row"):
        heads = row.get("role") == "label"
        rows.append(
            [
                MarkedCell(
                    text=inline_text(cell.children),
                    place=place,
                    row_span=_number(cell.get("rows")),
                    column_span=_number(cell.get("cols")),
                    heads=heads or cell.get("role") == "label",
                    bold=all_bold(cell.children),
                )
                for cell in row.many("cell")
            ]
        )
    return rows


def _number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 8 else 1
