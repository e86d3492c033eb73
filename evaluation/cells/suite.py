"""The suite of table cells: is the value that a gold cell holds answered, and is that cell cited?"""

from evaluation.asking import AskingSuite
from evaluation.cells.items import cell_items

__all__ = ["cells_suite"]


def cells_suite() -> AskingSuite:
    """The suite."""
    return AskingSuite(
        name="cells",
        headline=("right", "cited_cell", "cited_page", "answered"),
        read=lambda request, libraries: cell_items(request.data, libraries, seed=request.seed),
    )
