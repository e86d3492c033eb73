"""What a bibliographic record says of a paper: where and when it was published, and who says so."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["CORRECTED", "PRINTED", "UNPUBLISHED", "BibRecord", "Publication", "WorkKind"]

WorkKind = Literal[
    "", "article-journal", "paper-conference", "chapter", "book", "thesis", "report", "article", "dataset", "document"
]
"""The kind of a work, as CSL calls it: "article" is a preprint, "" is unknown."""


PRINTED = "the file"
"""The origin of what the paper's own file prints or states."""

CORRECTED = "a correction"
"""The origin of what a user wrote, which no other record replaces."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """Where and when a paper was published, as far as its file or a record states it.

    Attributes:
        year: The year of publication, None if unknown.
        venue: The name of the journal or the proceedings, "" if unknown.
        doi: The paper's own DOI without "https://doi.org/", "" if unknown.
        arxiv: Its id at arXiv without the version ("2310.07609"), "" if unknown.
        kind: What it is, "" if unknown.
        volume: The volume, as text; like the issue, the pages ("12-19" or the number of an article) and the publisher,
            "" if unknown.
        families: The family names of the authors, in their order; empty if a record did not say which these are.
        retraction: Who retracted it and when, "" if no record says so.
        origins: Which record stated a field: pairs such as ("venue", "Crossref"). All others, also "title" and
            "authors" of the paper, are from its file.

    Example:
        >>> Publication(year=2023, arxiv="2310.07609").venue
        ''
    """

    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""
    kind: WorkKind = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    families: tuple[str, ...] = ()
    retraction: str = ""
    origins: tuple[tuple[str, str], ...] = ()

    def origin(self, field: str) -> str:
        """Return who states a field: the name of a record, or PRINTED."""
        return dict(self.origins).get(field, PRINTED)


UNPUBLISHED = Publication()
"""The publication of a paper whose file states nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BibRecord:
    """A record of a work in a catalogue or a reference file.

    Attributes:
        origin: Whose record it is: "Crossref", "arXiv", "Zotero", or the name of a file.
        title: The title, "" if unknown.
        authors: The names of the authors, in their order.
        publication: Everything else.
    """

    origin: str
    title: str = ""
    authors: tuple[str, ...] = ()
    publication: Publication = UNPUBLISHED

    def __str__(self) -> str:
        published = self.publication
        first = f"{self.authors[0]}{' et al.' if len(self.authors) > 1 else ''}" if self.authors else ""
        ids = f"doi:{published.doi}" if published.doi else f"arXiv:{published.arxiv}" if published.arxiv else ""
        return ", ".join(filter(None, (f"“{self.title}”" if self.title else "", first, str(published.year or ""), ids)))
