"""The publication year of a paper, from its imprint or its file name."""

import re
from collections.abc import Iterator

from paperscope_core.types import Paper, Passage

__all__ = ["year_of"]

_YEAR = re.compile(r"(?<![\d.,/])(?:19|20)\d\d(?![\d/]|[.,]\d)")
# Words of a line that states when and where a paper was published. A month counts only together with the days of a
# meeting, because repositories print the date of a download.
_PUBLISHED = re.compile(
    r"(?i)©|⃝c|\(c\)|\b(?:copyright|published|accepted|proceedings|conference|workshop|symposium|journal|transactions"
    r"|arxiv|preprint)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"\s+\d{1,2}\s*[\-\u2010-\u2015]"
)
_DOWNLOADED = re.compile(r"(?i)\bdownload")
_ARXIV = re.compile(r"(?<![\d.])(\d\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?!\d)")
# Its date is that of a version, and may be years later.
_STAMP = re.compile(r"arXiv:\d")
_FILE_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# A longer paragraph is running text, which cites other years. A footnote may also contain a permission to copy.
_MAX_LINE_LENGTH = 250
# In a file without pages, the imprint is among the first elements.
_FIRST_ELEMENTS = 10


def year_of(paper: Paper) -> int | None:
    """The year in which a paper was published; None if it does not state one.

    It is the latest year in the imprint on the first page ("Proceedings of …", "© 2020", "Published: 4 July 2025"),
    else the year of the arXiv number in the stamp on the first page or in the file name, else a year in the file name.
    Running text, which cites other years, is ignored.
    """
    imprint = list(_imprint(paper))
    stamps = [line for line in imprint if _STAMP.match(line)]
    years = [int(year) for line in imprint if line not in stamps for year in _YEAR.findall(line)]
    if years:
        return max(years)
    for text in (*stamps, paper.file):
        if arxiv := _ARXIV.search(text):
            return 2000 + int(arxiv[1])
    named = _FILE_YEAR.search(paper.file)
    return int(named[0]) if named else None


def _imprint(paper: Paper) -> Iterator[str]:
    """The lines about publication on the first page, or at the beginning of a file without pages."""
    first = [element for element in paper.elements if element.place.page == 1]
    for passage in first if paper.paged else first[:_FIRST_ELEMENTS]:
        if not isinstance(passage, Passage) or passage.role in ("abstract", "heading", "title"):
            continue
        long = len(passage.text) > _MAX_LINE_LENGTH and passage.role not in ("footnote", "furniture")
        if not long and _PUBLISHED.search(passage.text) and not _DOWNLOADED.search(passage.text):
            yield passage.text
