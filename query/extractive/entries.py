"""Entries of a bibliography that stand in running text, as where a page is all that there is of a paper."""

import re
from itertools import pairwise

__all__ = ["entries"]


_NUMBERED = re.compile(r"(?:^|(?<=[\s.]))\[(\d{1,3})\]\s+(?=[A-Z\"“])")
_PUBLISHED = re.compile(
    r"\b(?:In (?:Proceedings|Proc\.|Advances|International|[A-Z]{3,})|arXiv|preprint|Proceedings of|Journal of|"
    r"Transactions on|Conference on|[Uu]niversity [Pp]ress|Springer|IEEE|pp?\.? ?\d+|pages \d+|https?://)"
)
_YEAR = re.compile(r"(?<![\d.-])(?:19|20)\d\d[a-z]?(?![\d-])")
_AUTHORS = re.compile(
    r"(?:[A-Z][\w.’'-]*,? ){1,4}?(?:[A-Z][\w.’'-]*)(?:,| and| et al| \()|[A-Z][\w’'-]+, (?:[A-Z]\. ?-?)+"
)
_LONGEST = 90


def entries(text: str) -> list[str]:
    """The entries that a passage consists of; none where it is no part of a bibliography.

    Numbered entries must follow each other by number; a single entry without a number names its authors, a year and
    where it was published.
    """
    marks = [*_NUMBERED.finditer(text)]
    if len(marks) > 1 and all(int(other[1]) == int(one[1]) + 1 for one, other in pairwise(marks)):
        cuts = [0, *(mark.start() for mark in marks if mark.start() > 0), len(text)]
        return [part for start, end in pairwise(cuts) if (part := text[start:end].strip())]
    bare = _NUMBERED.sub("", text).strip()
    single = len(bare.split()) <= _LONGEST and _AUTHORS.match(bare) and _YEAR.search(bare) and _PUBLISHED.search(bare)
    return [text.strip()] if single else []
