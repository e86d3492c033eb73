"""Finds papers that a user names by a DOI, an arXiv id, an address, a reference file or a collection of Zotero."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from paperscope.records.catalogues import Catalogues
from paperscope.records.csl_items import arxiv_of
from paperscope.records.reference_files import REFERENCE_SUFFIXES, Reference, read_references
from paperscope.records.zotero_library import ZOTERO, read_collection
from paperscope.sources import LookedUp, PaperSource, find_sources
from paperscope_core.errors import PaperFileError
from paperscope_core.paper_lookup import entries_of_work
from paperscope_core.publication import doi_in
from paperscope_core.types import BibRecord, PaperEntry

__all__ = ["PaperFinder"]

_DOI = re.compile(r"(?i)(?:doi:\s*|https?://(?:dx\.|www\.)?doi\.org/)?(10\.\d{4,9}/\S+)")
_SUFFIXES = {"application/pdf": ".pdf", "text/html": ".html", "application/xhtml+xml": ".html"}


class PaperFinder:
    """Finds papers at places: files, folders and S3 addresses, and what is looked up by name.

    Nothing is contacted to find them, except Zotero on this machine: a paper is looked up when it is added.

    Args:
        catalogues: Looks up records and copies.
        entries: Returns the papers of the library.
    """

    def __init__(self, catalogues: Catalogues, entries: Callable[[], Iterable[PaperEntry]]) -> None:
        self._catalogues = catalogues
        self._entries = entries

    def find(self, place: str) -> Sequence[PaperSource]:
        """Return the papers at a place. See `find_sources`.

        Raises:
            InputError: There is none, or the place can't be read.
        """
        if place.startswith(ZOTERO):
            return [self._reference(one) for one in read_collection(place.removeprefix(ZOTERO))]
        path = Path(place)
        if path.suffix.lower() in REFERENCE_SUFFIXES and path.is_file():
            return [self._reference(one) for one in read_references(path)]
        with suppress(OSError):
            if path.exists():
                return find_sources(place)
        doi, arxiv = _named(place)
        if doi or arxiv:
            return [self._work(doi, arxiv)]
        if place.lower().startswith("https://"):
            return [PaperSource(address=place, look_up=partial(self._page, place))]
        if place.lower().startswith("http://"):
            raise PaperFileError(
                f"{place}: Paperscope fetches from https addresses only; download it, and name the file"
            )
        return find_sources(place)

    def _reference(self, reference: Reference) -> PaperSource:
        record, published = reference.record, reference.record.publication
        if reference.file is not None:
            return PaperSource(address=str(reference.file), record=record)
        if published.doi or published.arxiv:
            return self._work(published.doi, published.arxiv, record=record)

        def fail() -> LookedUp:
            raise PaperFileError(
                f"{str(record) or 'an entry'}: has neither a file nor a DOI nor an arXiv id in {record.origin}"
            )

        return PaperSource(address=str(record), record=record, look_up=fail)

    def _work(self, doi: str, arxiv: str, *, record: BibRecord | None = None) -> PaperSource:
        address = f"https://doi.org/{doi}" if doi else f"https://arxiv.org/abs/{arxiv}"
        known = next((one.id for one in entries_of_work(self._entries(), doi=doi, arxiv=arxiv)), "")
        return PaperSource(address=address, record=record, known=known, look_up=partial(self._look_up, doi, arxiv))

    def _look_up(self, doi: str, arxiv: str) -> LookedUp:
        record = self._catalogues.record(doi=doi, arxiv=arxiv)
        copy = self._catalogues.open_copy(record)
        return LookedUp(name=f"{(doi or arxiv).replace('/', '_')}.pdf", content=copy.content, record=record)

    def _page(self, url: str) -> LookedUp:
        copy = self._catalogues.page(url)
        name = PurePosixPath(unquote(urlsplit(copy.url).path)).name or "page"
        suffix = _SUFFIXES.get(copy.media_type, "")
        return LookedUp(name=name if name.endswith(suffix) else f"{name}{suffix}", content=copy.content)


def _named(place: str) -> tuple[str, str]:
    """Return the DOI or the arXiv id that a place is."""
    found = _DOI.fullmatch(place.strip())
    doi = doi_in(unquote(found[1])) if found else ""
    arxiv = arxiv_of(doi or place)
    return "" if arxiv else doi, arxiv
