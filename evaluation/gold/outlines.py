"""Section titles from a PDF's own bookmarks, for papers that have no other gold of headings."""

from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path

from evaluation.gold.values import Gold, GoldHeading, GoldItem
from ingest.document.pages import OutlineEntry
from paperscope_core.errors import PaperFileError

__all__ = ["outline_items"]


_LEAST_ENTRIES = 3


def outline_items(
    data: Path, *, known: Set[Path], read_outline: Callable[[Path], Sequence[OutlineEntry]]
) -> Iterator[GoldItem]:
    """One item a PDF in `papers` with bookmarks; `known` are those whose headings have gold already.

    The parser reads bookmarks too, so they are hidden from it: else it would be asked what it was told.
    """
    for file in sorted((data / "papers").rglob("*.pdf")):
        if file in known:
            continue
        try:
            outline = read_outline(file)
        except PaperFileError:
            continue
        if len(outline) >= _LEAST_ENTRIES:
            headings = tuple(GoldHeading(title=entry.title, level=entry.level) for entry in outline)
            name = file.parent.name if file.name == "paper.pdf" else file.stem
            yield GoldItem(name=f"outline/{name}", file=file, gold=Gold(headings=headings), hide_outline=True)
