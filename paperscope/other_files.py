"""Finds the stored paper that a file is another file of, and joins both readings: one paper, printed and as markup."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from paperscope_core.errors import NotFoundError, PaperFileError, StoreDamagedError
from paperscope_core.publication import is_same_paper
from paperscope_core.types import IndexedPaper, OtherFile, Paper, ParsedPaper, Section, crops_of

if TYPE_CHECKING:
    from graph_store import Store

__all__ = ["join_stored", "stored_reading"]

# The share of the section titles of the reading with fewer: a supplement has the paper's title, but other sections.
_SAME_SECTIONS = 0.5


def join_stored(
    store: "Store",
    parsed: ParsedPaper,
    file: OtherFile,
    *,
    others: Sequence[OtherFile],
    read: Callable[[OtherFile], Paper],
) -> tuple[ParsedPaper, IndexedPaper | None]:
    """Join a reading with those of the paper's other files.

    Args:
        parsed: The reading of `file`.
        others: The files with which its older reading was joined; those that are gone are left out.
        read: Reads one of them.

    Returns:
        The reading of the printed file with exact cells and formulas, and the stored paper that it was joined with:
        another file's. The reading as it is, and None, if the library has no other.
    """
    paper = parsed.paper
    for one in others if paper.paged else ():
        with suppress(PaperFileError):
            paper = _joined(paper, read(one), one)
    other = _other_reading(store, paper)
    if other is not None and paper.paged:
        stored = other.paper
        markup = next(one for one in store.entries() if one.id == stored.id)
        paper = _joined(paper, stored, OtherFile(file=markup.file, source=markup.source, sha256=markup.sha256))
    elif other is not None and (printed := stored_reading(store, other.paper)) is not None:
        return replace(printed, paper=_joined(printed.paper, paper, file)), other
    return replace(parsed, paper=paper), other if paper.paged else None


def stored_reading(store: "Store", paper: Paper) -> ParsedPaper | None:
    """Return a stored paper with its crops; None if crops are missing."""
    try:
        crops = {crop: store.crop(crop) for element in paper.elements for crop in crops_of(element)}
    except NotFoundError:
        return None
    return ParsedPaper(paper=paper, crops=crops)


def _other_reading(store: "Store", paper: Paper) -> IndexedPaper | None:
    """Return the stored paper of which this is another file, None if there is none.

    Both have the same title, the same DOI, arXiv id or author, and mostly the same sections; one of them is printed on
    pages, the other is markup.
    """
    for entry in store.entries():
        if entry.sha256 != paper.sha256 and is_same_paper(paper, entry):
            with suppress(NotFoundError, StoreDamagedError):
                found = store.indexed(entry.id)
                printed = {one.has_page_images for one in (paper, found.paper)}
                if len(printed) == 2 and paper.paged != found.paper.paged and _has_same_sections(paper, found.paper):
                    return found
    return None


def _has_same_sections(paper: Paper, other: Paper) -> bool:
    ours, theirs = (_titles(one.sections) for one in (paper, other))
    return len(ours & theirs) > _SAME_SECTIONS * min(len(ours), len(theirs))


def _titles(sections: Iterable[Section]) -> set[str]:
    return {"".join(filter(str.isalpha, section.title.casefold())) for section in sections}


def _joined(printed: Paper, markup: Paper, file: OtherFile) -> Paper:
    """Return the printed paper with the cells and formulas of its markup, which is this file or a newer state of it."""
    from ingest.markup_cells import join_markup

    kept = (one for one in printed.others if file.sha256 != one.sha256 and file.source != one.source)
    return replace(join_markup(printed, markup), others=(*kept, file))
