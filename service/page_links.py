"""Paths of the web page that show places of papers lit."""

from paperscope_core.types import Evidence

__all__ = ["element_path", "viewer_path"]


def viewer_path(evidence: Evidence) -> str:
    """Return the path of the web page that shows the paper with all places of the evidence lit."""
    places = (f"{one.page},{','.join(f'{value:g}' for value in one.box)}" for one in evidence.places)
    return f"/#/papers/{evidence.place.paper}?at={';'.join(places)}"


def element_path(element: str) -> str:
    """Return the path of the web page that shows the element with this id lit."""
    paper, _, name = element.partition("/")
    return f"/#/papers/{paper}?element={name}"
