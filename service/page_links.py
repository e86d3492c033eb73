"""Paths of the web page that show places of papers lit."""

from collections.abc import Sequence

from paperscope_core.types import Evidence, Note, Place

__all__ = ["element_path", "note_path", "viewer_path"]


def viewer_path(evidence: Evidence) -> str:
    """Return the path of the web page that shows the paper with all places of the evidence lit."""
    return _lit(evidence.place.paper, evidence.places)


def note_path(note: Note) -> str:
    """Return the path of the web page that shows the paper with all places of the note lit."""
    return _lit(note.paper, note.places) if note.places else f"/#/papers/{note.paper}"


def _lit(paper: str, places: Sequence[Place]) -> str:
    parts = (f"{one.page},{','.join(f'{value:g}' for value in one.box)}" for one in places)
    return f"/#/papers/{paper}?at={';'.join(parts)}"


def element_path(element: str) -> str:
    """Return the path of the web page that shows the element with this id lit."""
    paper, _, name = element.partition("/")
    return f"/#/papers/{paper}?element={name}"
