"""Notes on papers."""

from dataclasses import dataclass

from paperscope_core.types.place import Place

__all__ = ["Note"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """What somebody wrote about a paper or a place of it; without a text, a highlight.

    Attributes:
        id: "" before it is stored.
        paper: The id of the paper.
        title: The paper's title when the note was made.
        element: The id of the table, figure or passage that it is about; "" if none is named.
        quote: What the paper says there.
        created: When it was stored, and when it was changed last (`updated`), in seconds since the epoch.
    """

    id: str = ""
    paper: str
    title: str
    text: str = ""
    quote: str = ""
    element: str = ""
    places: tuple[Place, ...] = ()
    created: float = 0.0
    updated: float = 0.0
