"""The publication year of a paper, from its imprint or its file name."""

import re
from collections.abc import Iterator

from paperscope_core.types import Paper, Passage

__all__ = ["year_of"]


_YEAR = re.compile(r"(?<![\d.,/])(?:19|20)\d\d(?![\d/]|[.,]\d)")
# What stands in a line that says when and where a paper came out. A month counts with the days of a meeting only:
# repositories print the day of a download.
_PUBLISHED = re.compile(
    r"(?i)©|⃝c|\(c\)|\b(?:copyright|published|accepted|proceedings|conference|workshop|symposium|journal|transactions"
    r"|arxiv|preprint)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"\s+\d{1,2}\s*[\-\u2010-\u2015]"
)
_FETCHED = re.compile(r"(?i)\bdownload")
_ARXIV = re.compile(r"(?<![\d.])(\d\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?!\d)")
_FILE_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# An imprint is short; in a footnote it may follow on the permission to copy.
_LONGEST_LINE = 250
_FIRST = 10


def year_of(paper: Paper) -> int | None:
    """The year in which a paper came out, None if it does not say.

    It is the latest one in the lines of its first page that tell of publication ("Proceedings of …", "© 2020",
    "Published: 4 July 2025"); else that of the arXiv number in its file's name; else a year that stands in the name.
    Running text, which cites other years, is not asked.
    """
    years = [int(year) for line in _imprint(paper) for year in _YEAR.findall(line)]
    if years:
        return max(years)
    if arxiv := _ARXIV.search(paper.file):
        return 2000 + int(arxiv[1])
    named = _FILE_YEAR.search(paper.file)
    return int(named[0]) if named else None


def _imprint(paper: Paper) -> Iterator[str]:
    """The lines of the first page, or of the beginning of a file without pages, that tell of publication."""
    first = [element for element in paper.elements if element.place.page == 1]
    for passage in first if paper.paged else first[:_FIRST]:
        if not isinstance(passage, Passage) or passage.role in ("abstract", "heading", "title"):
            continue
        long = len(passage.text) > _LONGEST_LINE and passage.role not in ("footnote", "furniture")
        if not long and _PUBLISHED.search(passage.text) and not _FETCHED.search(passage.text):
            yield passage.text
