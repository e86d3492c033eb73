"""Finds the lines of a paper's title and authors."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from operator import itemgetter

from ingest.document.bylines import author_names, is_byline
from ingest.document.caption_wording import FIXED_TITLE, NUMBER
from ingest.document.geometry import bounding_box, overlap_x, overlap_y, runs_of
from ingest.pdf.headings import style_of
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of

__all__ = ["author_lines", "author_rows", "title_lines"]

_CHAPTER = re.compile(r"(?:chapter|part|appendix|lecture)\s+(?:\d{1,3}|[IVXL]+|[A-Z])[.:]?", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_AFFILIATION_MARK = re.compile(r"(?<=[^\W\d_])(?:[¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§∗]|\^[(\w])")
_ADDRESS = re.compile(r"https?://|\bwww\.")
_WORD = re.compile(r"[^\W\d_]{3}|[^\W\d_a-zA-Z]{2}")  # A formula has none.
_OPENING = frozenset("“\"'‘([¿¡$")

# Chosen on the development papers.
_UPPER_SHARE = 0.6  # The share of the first page's height that contains the title.
_LARGER = 1.0  # Points by which a title is larger than the body.
_SAME_SIZE = 0.3  # Points; the largest difference in size.
_LEADING = 2.0  # Letter sizes; the largest distance between lines of a title.
_BELOW_MASTHEAD = 5.0  # Letter sizes; the least distance of a title from a name above it. Authors are closer.
_REPEATED = 15  # Letters; shorter lines are repeated by chance.
_FEW_WORDS = 2  # A title in the metadata has more words, unless a program wrote it.
_ALIKE = 0.9  # The least similarity of a printed title to the one in the metadata, which may lack signs and accents.
_MAX_RUNS = 60  # Runs of lines in one style in the upper part of a page that are compared with it.
_OFF_CENTRE = 0.03  # The tolerance of centring, as a share of the page's width.
# Justified paragraphs between title and abstract, such as a notice.
_MIN_LINES = 4  # Lines of a paragraph.
_PITCH = 1.5  # The largest distance between its lines, in letter sizes.
_MAX_INDENT = 15.0  # The largest indent, in points.
_RAGGED = 2.0  # The largest deviation of line ends, in points.
_MIN_WORDS = 6  # Words in each line.
_FULL_WIDTH = (0.8, 1.1)  # The width of a full line, relative to the column.
_BODY_SIZE = 0.6  # The largest difference from the body's size, in points.
_RAISED = 0.8  # The largest relative size of marks that are raised.
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
    if stated := _stated_lines(upper, named):
        return stated
    larger = [line for line in upper if line.size >= layout.body.size + _LARGER]
    if not larger:
        return _centred_lines(upper, layout)
    top = _largest_run(larger)
    # The kind of an article, or a journal's name, may be one large word.
    rest = [line for line in larger if line not in top and not NUMBER.match(line.text) and not is_byline(line.text)]
    if rest and len(top) == len(top[0].words) == 1 and sum(len(line.words) for line in _largest_run(rest)) > _FEW_WORDS:
        top = _largest_run(rest)
    return next(_titles_below(top, upper, layout, printed, named), top)


def _largest_run(lines: Sequence[Line]) -> list[Line]:
    """Return the first run of the largest lines."""
    largest = max(line.size for line in lines)
    large = [line for line in lines if line.size >= largest - _SAME_SIZE]
    return runs_of(large, joins=lambda run, line: line.baseline - run[-1].baseline <= _LEADING * largest)[0]


def _stated_lines(upper: Sequence[Line], named: str) -> list[Line]:
    """Return the run of lines in one style that the file's metadata name as the title, [] if none is."""
    stated = _letters_of(named)
    if len(stated) < _REPEATED or len(named.split()) <= _FEW_WORDS:
        return []
    runs = runs_of(
        sorted(upper, key=lambda line: (style_of(line).rank, line.baseline)),
        joins=lambda run, line: (
            style_of(line) == style_of(run[-1]) and line.baseline - run[-1].baseline <= _LEADING * line.size
        ),
    )
    alike = ((SequenceMatcher(None, stated, _letters(run), autojunk=False).ratio(), run) for run in runs[:_MAX_RUNS])
    ratio, found = max(alike, key=itemgetter(0), default=(0.0, []))
    return found if ratio >= _ALIKE else []


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
        line.box.y1 < _UPPER_SHARE * layout.printed_height
        and len(line.text) > 3
        and bool(_WORD.search(line.text))
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
    have marks of affiliations. If these lack names that are right below the title in reading order, return those.

    Args:
        layout: The page; full lines of its body in one of several columns are running text.
        free: Its lines in reading order.
        title: The lines of the title.
        end: The first heading, or the line that begins the abstract; None if there is none.
    """
    if not title:
        return []
    named = _byline(free, title=title)
    if end is None:
        below = _below_title(layout, free, title=title)
        return below if set(named) <= set(below) else named
    between = [line for line in free if title[-1].baseline < line.baseline < end.baseline]
    justified = _justified(between)
    low, high = (share * (layout.edges[0].width if layout.columns > 1 else 0.0) for share in _FULL_WIDTH)
    found = [
        line
        for line in between
        if line not in title
        and line not in justified
        and not (
            abs(line.size - layout.body.size) < _BODY_SIZE and len(line.words) >= _MIN_WORDS and low < line.width < high
        )
    ]
    names, others = (author_names(author_rows(lines), metadata="") for lines in (named, found))
    return named if set(names) - set(others) else found


def _byline(flow: Sequence[Line], *, title: Sequence[Line]) -> list[Line]:
    """Return the lines of names in one size right below the title, of lines in reading order."""
    around = bounding_box(line.box for line in title)
    below = [line for line in flow if line.baseline > around.y1 and overlap_x(line.box, around) > 0]
    if not below:
        return []

    def continues(line: Line) -> bool:
        marks = not any(map(str.isalpha, line.text))
        return abs(line.size - below[0].size) < _SAME_SIZE and (marks or is_byline(author_text(line)))

    return list(takewhile(continues, below))


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


def author_rows(lines: Sequence[Line]) -> list[str]:
    """Return the text of the authors' rows from top to bottom; in a row, raised letters are marks, and two spaces are
    where a wide gap separates names without a comma."""
    rows = runs_of(
        sorted(lines, key=lambda line: line.middle),
        joins=lambda row, line: 2 * overlap_y(row[-1].box, line.box) > min(row[-1].box.height, line.box.height),
    )
    return [_row_text(sorted(row, key=lambda line: line.box.x0)) for row in rows]


def _row_text(row: Sequence[Line]) -> str:
    size = max(line.size for line in row)
    text, end = "", row[0].box.x0
    for line in row:
        raised = line.size < _RAISED * size and max(map(len, _LETTERS.findall(line.text)), default=0) < 2
        gap = "  " if line.box.x0 - end > _NAME_GAP * size else ""
        text += f"{gap}^({line.text.strip(' ,')})" if raised else gap + author_text(line)
        end = line.box.x1
    return text


def author_text(line: Line) -> str:
    """Return a line of the authors, with two spaces where a wide gap separates names without a comma."""
    groups = runs_of(line.words, joins=lambda group, word: word.x0 - group[-1].x1 <= _NAME_GAP * line.size)
    return "  ".join(line_of(group, size=line.size).text for group in groups)
