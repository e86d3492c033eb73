"""Finds the lines of a paper's title and authors."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from ingest.document.caption_wording import FIXED_TITLE, NUMBER
from ingest.document.geometry import runs_of
from ingest.pdf.headings import style_of
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of

__all__ = ["author_lines", "author_text", "title_lines"]

_CHAPTER = re.compile(r"(?:chapter|part|appendix|lecture)\s+(?:\d{1,3}|[IVXL]+|[A-Z])[.:]?", re.IGNORECASE)
_AFFILIATION_MARK = re.compile(r"(?<=[^\W\d_])(?:[¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§∗]|\^[(\w])")
_ADDRESS = re.compile(r"https?://|\bwww\.")
_OPENING = frozenset("“\"'‘([¿¡$")

# Chosen on the development papers.
_UPPER_SHARE = 0.6  # The share of the first page's height that contains the title.
_LARGER = 1.0  # Points by which a title is larger than the body.
_SAME_SIZE = 0.3  # Points; the largest difference in size.
_LEADING = 2.0  # Letter sizes; the largest distance between lines of a title.
_BELOW_MASTHEAD = 5.0  # Letter sizes; the least distance of a title from a name above it. Authors are closer.
_REPEATED = 15  # Letters; shorter lines are repeated by chance.
_OFF_CENTRE = 0.03  # The tolerance of centring, as a share of the page's width.
# Justified paragraphs between title and abstract, such as a notice.
_MIN_LINES = 4  # Lines of a paragraph.
_PITCH = 1.5  # The largest distance between its lines, in letter sizes.
_MAX_INDENT = 15.0  # The largest indent, in points.
_RAGGED = 2.0  # The largest deviation of line ends, in points.
_MIN_WORDS = 6  # Words in each line.
_FULL_WIDTH = (0.8, 1.1)  # The width of a full line, relative to the column.
_BODY_SIZE = 0.6  # The largest difference from the body's size, in points.
_NAME_GAP = 0.7  # Letter sizes; a wider gap separates two names.


def title_lines(
    layout: PageLayout, free: Sequence[Line], *, printed: Iterable[Line] = (), named: str = ""
) -> list[Line]:
    """Return the run of the largest lines in the upper part of the first page, without a chapter number.

    If nothing is larger than the body, return the centred lines in bold or capitals at the top of the page. Empty if
    there are none. A journal or an archive may print its name as large above the title: a longer run of large lines far
    below is the title if the document repeats it, in a citation or as a running head, if its metadata name it, or if a
    web address is between the two.

    Args:
        layout: The first page.
        free: Its lines.
        printed: The lines of all pages.
        named: The title in the file's metadata.
    """
    upper = sorted((line for line in free if _may_be_title(line, layout)), key=lambda line: line.baseline)
    largest = max((line.size for line in upper), default=0.0)
    if largest < layout.body.size + _LARGER:
        return _centred_lines(upper, layout)
    large = [line for line in upper if line.size >= largest - _SAME_SIZE]
    top = runs_of(large, joins=lambda run, line: line.baseline - run[-1].baseline <= _LEADING * largest)[0]
    return next(_titles_below(top, upper, layout, printed, named), top)


def _titles_below(
    top: Sequence[Line], upper: Sequence[Line], layout: PageLayout, printed: Iterable[Line], named: str
) -> Iterator[list[Line]]:
    """Yield the longer runs of large lines far below the largest ones that are the title by one of three signs."""

    def joins(run: list[Line], line: Line) -> bool:
        return style_of(line) == style_of(run[-1]) and line.baseline - run[-1].baseline <= _LEADING * line.size

    below = [line for line in upper if line.baseline > top[-1].baseline and line.size >= layout.body.size + _LARGER]
    for run in runs_of(below, joins=joins):
        far = run[0].baseline - top[-1].baseline > _BELOW_MASTHEAD * run[0].size
        if far and len(_letters(run)) > len(_letters(top)) and not NUMBER.match(run[0].text):
            letters, rest = _letters(run), [line for line in printed if line not in run]
            repeated = len(letters) >= _REPEATED and letters in _letters(rest)
            # A journal prints its address below its name.
            between = [line for line in upper if top[-1].baseline < line.baseline < run[0].baseline]
            if repeated or letters == _letters_of(named) or any(_ADDRESS.search(line.text) for line in between):
                yield run


def _letters(lines: Iterable[Line]) -> str:
    return "".join(_letters_of(line.text) for line in lines)


def _letters_of(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _may_be_title(line: Line, layout: PageLayout) -> bool:
    first = line.text[0]
    return (
        line.box.y1 < _UPPER_SHARE * layout.content.height
        and len(line.text) > 3
        and (first.isalpha() or first.isdecimal() or first in _OPENING)
        and not _CHAPTER.fullmatch(line.text)
    )


def _centred_lines(upper: Sequence[Line], layout: PageLayout) -> list[Line]:
    """Return the first lines of a page if they are centred, in one style of bold letters or capitals."""
    style = style_of(upper[0]) if upper else None
    if style is None or not (style.bold or style.capitals) or FIXED_TITLE.fullmatch(upper[0].text):
        return []
    run: list[Line] = []
    for line in upper:
        centred = abs(line.center - layout.content.width / 2) < _OFF_CENTRE * layout.content.width
        follows = not run or line.baseline - run[-1].baseline < _LEADING * line.size
        if not centred or not follows or style_of(line) != style:
            break
        run.append(line)
    return run


def author_lines(layout: PageLayout, free: Sequence[Line], *, title: Sequence[Line], end: Line | None) -> list[Line]:
    """Return the lines between the title and the abstract on the first page, without running text.

    If neither begins on the first page, return the smaller lines right below the title that are centred as it is, or
    have marks of affiliations.

    Args:
        layout: The page; full lines of its body in one of several columns are running text.
        free: Its lines in reading order.
        title: The lines of the title.
        end: The first heading, or the line that begins the abstract; None if there is none.
    """
    if not title:
        return []
    if end is None:
        return _below_title(layout, free, title=title)
    between = [line for line in free if title[-1].baseline < line.baseline < end.baseline]
    justified = _justified(between)
    low, high = (share * (layout.edges[0].width if layout.columns > 1 else 0.0) for share in _FULL_WIDTH)
    return [
        line
        for line in between
        if line not in title
        and line not in justified
        and not (
            abs(line.size - layout.body.size) < _BODY_SIZE and len(line.words) >= _MIN_WORDS and low < line.width < high
        )
    ]


def _below_title(layout: PageLayout, free: Sequence[Line], *, title: Sequence[Line]) -> list[Line]:
    """Return the lines right below the title until one is neither centred nor marked, or begins running text."""

    def continues(line: Line) -> bool:
        centred = abs(line.center - title[-1].center) < _OFF_CENTRE * layout.content.width
        text = len(line.words) >= _MIN_WORDS and abs(line.size - layout.body.size) < _BODY_SIZE and line.bold < 0.5
        return (centred and not text) or bool(_AFFILIATION_MARK.search(line.text))

    below = sorted((line for line in free if line.baseline > title[-1].baseline), key=lambda line: line.baseline)
    return [line for line in takewhile(continues, below) if line.size < title[-1].size - _SAME_SIZE]


def _justified(lines: Sequence[Line]) -> set[Line]:
    """Return the lines of justified paragraphs among lines in reading order."""

    def joins(run: list[Line], line: Line) -> bool:
        last = run[-1]
        pitch = (line.baseline - last.baseline) / line.size
        return 0 < pitch < _PITCH and abs(line.size - last.size) < 0.5 and abs(line.box.x0 - last.box.x0) < _MAX_INDENT

    return {line for run in runs_of(lines, joins=joins) if _is_justified(run) for line in run}


def _is_justified(run: Sequence[Line]) -> bool:
    ends = [line.box.x1 for line in run[:-1]]
    full = all(len(line.words) >= _MIN_WORDS for line in run[:-1])
    return len(run) >= _MIN_LINES and max(ends) - min(ends) < _RAGGED and full


def author_text(line: Line) -> str:
    """Return a line of the authors, with two spaces where a wide gap separates names without a comma."""
    groups = runs_of(line.words, joins=lambda group, word: word.x0 - group[-1].x1 <= _NAME_GAP * line.size)
    return "  ".join(line_of(group, size=line.size).text for group in groups)
