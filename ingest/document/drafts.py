"""Elements as readers draft them: without id, order and section, which `assemble_paper` sets."""

from dataclasses import dataclass, replace
from typing import Literal

from ingest.document.caption_wording import CaptionKind
from ingest.document.references import entry_label, entry_year
from paperscope_core.text.formulas import Formula, formula_latex, plain_formula
from paperscope_core.types import Cell, Equation, Figure, Panel, Passage, PassageRole, Place, Reference, Table

__all__ = [
    "NO_CAPTION",
    "Caption",
    "draft_equation",
    "draft_figure",
    "draft_listing",
    "draft_passage",
    "draft_reference",
    "draft_table",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Caption:
    """The caption of a float: its label ("Table 5") and kind, "" without a label, its text and its place."""

    kind: CaptionKind | Literal[""] = ""
    label: str = ""
    text: str = ""
    place: Place | None = None


NO_CAPTION = Caption()


def draft_passage(text: str, role: PassageRole, *places: Place, level: int = 0) -> Passage:
    """Return a passage with one or more places."""
    return Passage(id="", place=places[0], order=0, text=text, role=role, level=level, more_places=places[1:])


def draft_listing(text: str, *places: Place, caption: Caption = NO_CAPTION) -> Passage:
    """Return a floating listing or algorithm."""
    return replace(
        draft_passage(text, "code", *places), label=caption.label, caption=caption.text, caption_place=caption.place
    )


def draft_reference(text: str, *places: Place) -> Reference:
    """Return a bibliography entry with the label and the year that its text shows."""
    label, year = entry_label(text), entry_year(text)
    return Reference(id="", place=places[0], order=0, text=text, label=label, year=year, more_places=places[1:])


def draft_equation(
    formula: Formula | str, place: Place, *, latex: str = "", number: str = "", crop: str | None = None
) -> Equation:
    """Return a display equation.

    Args:
        formula: Its tree, or its text.
        latex: Its LaTeX if it is given as text, "" if there is none.
    """
    label = f"Equation {number}" if number else ""
    text = formula if isinstance(formula, str) else plain_formula(formula)
    latex = latex if isinstance(formula, str) else formula_latex(formula)
    return Equation(id="", place=place, order=0, text=text, latex=latex, label=label, crop=crop)


def draft_figure(
    place: Place,
    *,
    caption: Caption = NO_CAPTION,
    text: str = "",
    crop: str | None = None,
    panels: tuple[Panel, ...] = (),
) -> Figure:
    """Return a figure."""
    return Figure(
        id="",
        place=place,
        order=0,
        label=caption.label,
        caption=caption.text,
        caption_place=caption.place,
        text=text,
        crop=crop,
        panels=panels,
    )


def draft_table(
    cells: tuple[Cell, ...],
    *places: Place,
    header_rows: int = 0,
    caption: Caption = NO_CAPTION,
    crop: str | None = None,
    confidence: float = 1.0,
) -> Table:
    """Return a table; the confidence of one without cells is 0."""
    return Table(
        id="",
        place=places[0],
        order=0,
        cells=cells,
        label=caption.label,
        caption=caption.text,
        caption_place=caption.place,
        header_rows=header_rows,
        crop=crop,
        confidence=confidence if cells else 0.0,
        more_places=places[1:],
    )
