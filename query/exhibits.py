"""The tables, figures and equations of an answer, with all that there is to show of each."""

from collections.abc import Sequence

from paperscope.protocols import Corpus
from paperscope.types import (
    CitedCell,
    Claim,
    Equation,
    Evidence,
    Exhibit,
    Figure,
    Reading,
    Table,
    crops_of,
)
from query.cell_names import Headers
from query.element_text import caption_of

__all__ = ["exhibits_of"]


def exhibits_of(corpus: Corpus, claims: Sequence[Claim], readings: Sequence[Reading]) -> tuple[Exhibit, ...]:
    """What the claims cite, in their order, then what else was read in pictures; each once."""
    cited = [evidence for claim in claims for evidence in claim.evidence]
    ids = dict.fromkeys([evidence.element for evidence in cited] + [reading.element for reading in readings])
    elements = (corpus.element(element) for element in ids)
    return tuple(
        _exhibit(corpus, element, cited) for element in elements if isinstance(element, Table | Figure | Equation)
    )


def _exhibit(corpus: Corpus, element: Table | Figure | Equation, cited: Sequence[Evidence]) -> Exhibit:
    return Exhibit(
        element=element.id,
        kind=element.kind,
        place=element.place,
        label=element.label,
        caption=caption_of(element),
        latex=_latex(corpus, element) if isinstance(element, Equation) else "",
        crops=crops_of(element),
        cells=_cells(element, cited) if isinstance(element, Table) else (),
    )


def _latex(corpus: Corpus, equation: Equation) -> str:
    seen = corpus.images(equation.place.paper).descriptions
    return next((one.latex for one in seen if one.element == equation.id), "")


def _cells(table: Table, cited: Sequence[Evidence]) -> tuple[CitedCell, ...]:
    headers = Headers(table)
    places = {(evidence.place, evidence.quote) for evidence in cited if evidence.element == table.id}
    return tuple(
        CitedCell(cell=cell, row=" / ".join(headers.row(cell)), column=" ".join(headers.column(cell)))
        for cell in table.cells
        if (cell.place, cell.text) in places
    )
