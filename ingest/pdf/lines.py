"""Groups words into lines: one baseline, split at wide gaps and gutters, with superscripts and subscripts attached."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ingest.document.geometry import bounding_box
from ingest.document.pages import HorizontalRule
from ingest.document.text_direction import logical_order
from ingest.pdf.formula_layout import read_formula
from ingest.pdf.pdf_words import Word, split_row
from paperscope_core.text.formulas import script_text
from paperscope_core.types import Box

__all__ = ["Line", "fold_fractions", "line_of", "lines_of", "rejoined", "word_after"]

# In letter sizes unless said otherwise; chosen on the development papers.
_MIDDLE = 0.3  # See `Word.middle`.
_FULL_SIZE = 0.85  # Smaller letters are scripts: TeX sets them at 0.7, Word at 0.65, small capitals at 0.8.
_SCRIPT_SHIFT = 0.1  # A smaller word on the baseline is small capitals, not a script.
_MAX_GAP = 1.2  # A wider gap ends a line; spaces of justified text stay below it, cells of a table above.
_GUTTER_GAP = 0.5  # A gap at a gutter ends a line if it is wider than this.
_BASELINE_SHIFT, _BASELINE_POINTS = 0.15, 0.6  # Their sum is the largest difference in baseline within a line.
_SAME_ROW_SIZE = 0.75  # A smaller word starts its own row and is attached as a script later.
_SCRIPT_SIZE = 0.82  # Scripts are smaller than this, in sizes of the body, or tiny.
_TINY_WIDTH, _TINY_LETTERS = 2.2, 3
_MAX_SCRIPT_WIDTH = 120.0  # Points.
_HOST_SIZE = 1.1  # A host's letters are larger than its script's by at least this factor.
_HOST_ABOVE, _HOST_BELOW = 1.5, 2.5  # Points by which a script's baseline may be outside its host's box.
_HOST_BEFORE, _HOST_AFTER = 3.0, 5.0  # The largest horizontal distances, in points, between a script and its host.
_BAND_HEIGHT, _BANDS = 24.0, 600  # Points: some lines of text; 14,400 points are a page's largest height.
_JUSTIFIED_GAP = 3.5  # The widest space of justified text.
_OPEN_ROWS, _OPEN_LINES = 6, 4  # Rows and lines at about one height: those of all columns.
_WORD_SPACE = 0.14  # The same as for words in `words_of`.
_SIZE_CHANGE, _SPACE_AT_SIZE_CHANGE, _SPACE = 0.35, 0.06, 0.1  # A narrower gap before a script is a space.
_SAME_LEVEL = 0.6  # The largest shift of a script's baseline for this.

# Points, or letter sizes; chosen on the development papers.
_MAX_BAR = 200.0  # Points; a longer rule belongs to a table.
_MIN_TABLE_RULE = 60.0  # Points; a rule this wide that repeats with the same ends belongs to a table.
_OVERHANG = 1.5  # Points by which words may extend beyond their bar.
_SHORTFALL = 4.0  # Points by which the longer side may be shorter than its bar.
_REACH = 2.6  # The largest distance of numerators and denominators from their bar.
_ADJACENT = 1.6  # The largest distance of their lines next to the bar.
_ABOVE_BAR = 0.45  # The largest distance of the numerator's baseline above the bar.
_ON_RULE = 0.1  # Points or letter sizes; the rounding tolerance for a baseline above a rule.
_BELOW_BAR = 0.3  # The least distance of a denominator's baseline below the bar.
_FRACTION_BASELINE = 0.35  # The distance from the bar down to the baseline of the line.
_SAME_BASELINE, _SAME_SIZE = 0.3, 0.05  # Points, and the largest relative difference in size within a row.
_CELL_DISTANCE = 12.0  # The largest distance between cells of a row.
_HEADER_REACH = 3.0  # The largest distance of a rule in a header from the rules above and below.
_CELL_GAP = 1.0  # Words further apart on both sides of a rule are cells of a table.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Line:
    """Words that are read as one line; `bold`, `italic`, `math` are shares of its letters (0 to 1).

    Lines compare by identity, so that each stage can claim lines.
    """

    words: tuple[Word, ...]
    text: str
    box: Box
    baseline: float
    size: float
    font: str
    bold: float
    italic: float
    math: float

    @property
    def width(self) -> float:
        """The width from the first word to the last."""
        return self.box.width

    @property
    def center(self) -> float:
        """The x of the middle."""
        return self.box.center

    @property
    def middle(self) -> float:
        """The y of the middle of its letters."""
        return self.baseline - _MIDDLE * self.size


def line_of(words: Iterable[Word], *, size: float | None = None) -> Line:
    """Return a line of at least one word; its baseline is the baseline of its full-sized words.

    Full size is the size of most letters, or `size` if some word has it, since scripts may outnumber the other letters.
    """
    ordered = tuple(sorted(words, key=lambda word: word.x0))
    letters = sum(len(word.text) for word in ordered)
    if size is None or all(word.size < _FULL_SIZE * size for word in ordered):
        size = median(word.size for word in ordered for _ in word.text)
    baseline = median(word.baseline for word in ordered if word.size >= _FULL_SIZE * size)
    return Line(
        words=ordered,
        text=logical_order("".join(_texts(ordered, baseline=baseline, size=size))),
        box=bounding_box(word.box for word in ordered),
        baseline=baseline,
        size=size,
        font=Counter(word.font for word in ordered for _ in word.text).most_common(1)[0][0],
        bold=sum(len(word.text) for word in ordered if word.bold) / letters,
        italic=sum(len(word.text) for word in ordered if word.italic) / letters,
        math=sum(len(word.text) * word.math for word in ordered) / letters,
    )


def word_after(line: Line, end: int) -> Word | None:
    """Return the first word that begins at or after an index of the line's text."""
    at = 0
    for word, text in zip(line.words, _texts(line.words, baseline=line.baseline, size=line.size), strict=True):
        if at + text.startswith(" ") >= end:
            return word
        at += len(text)
    return None


def _texts(words: Sequence[Word], *, baseline: float, size: float) -> Iterator[str]:
    """Yield the text of each word, with the space before it and scripts marked; `baseline` and `size` belong to
    full-sized words."""
    previous: Word | None = None
    for word in words:
        shift = baseline - word.baseline
        script = word.size < _FULL_SIZE * size and abs(shift) > _SCRIPT_SHIFT * size
        space = " " if previous is not None and _has_space(previous, word) else ""
        yield space + (script_text(word.text, raised=shift > 0) if script else word.text)
        previous = word


def _has_space(left: Word, right: Word) -> bool:
    gap = right.x0 - left.x1
    size = max(left.size, right.size)
    if gap > _WORD_SPACE * size:
        return True
    resized = abs(right.size - left.size) > _SIZE_CHANGE * left.size
    level = abs(right.baseline - left.baseline) < _SAME_LEVEL * left.size
    return level and gap > (_SPACE_AT_SIZE_CHANGE if resized else _SPACE) * size


def lines_of(words: Sequence[Word], *, gutters: Sequence[float]) -> list[Line]:
    """Return the lines of a page from top to bottom; `gutters` are the x between its columns."""
    if not words:
        return []
    body = median(word.size for word in words for _ in word.text)
    pieces = [line_of(piece) for row in _rows(words) for piece in _cut(row, gutters=gutters)]
    return sorted(_attach_scripts(pieces, body=body, gutters=gutters), key=lambda line: (line.baseline, line.box.x0))


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Group words by baseline; rows may overlap vertically, since columns differ in height."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.baseline, word.x0)):
        for row in reversed(rows[-_OPEN_ROWS:]):
            first = row[0]
            shift = abs(first.baseline - word.baseline)
            if shift < _BASELINE_SHIFT * word.size + _BASELINE_POINTS and word.size > _SAME_ROW_SIZE * first.size:
                row.append(word)
                break
        else:
            rows.append([word])
    return rows


def _cut(row: Sequence[Word], *, gutters: Sequence[float]) -> list[list[Word]]:
    def joins(right: float, word: Word) -> bool:
        between = any(right <= gutter + 1 and word.x0 >= gutter - 1 for gutter in gutters)
        return word.x0 - right <= (_GUTTER_GAP if between else _MAX_GAP) * word.size

    return split_row(row, joins=joins)


def _attach_scripts(pieces: Sequence[Line], *, body: float, gutters: Sequence[float]) -> list[Line]:
    kept: list[Line] = []
    # The positions of the lines that may be hosts of a baseline within the band, so that not every line is tried.
    bands: defaultdict[int, set[int]] = defaultdict(set)

    def register(position: int) -> None:
        box = kept[position].box
        for band in range(_band(box.y0 - _HOST_ABOVE), _band(box.y1 + _HOST_BELOW) + 1):
            bands[band].add(position)

    for piece in sorted(pieces, key=lambda piece: -piece.size):
        tiny = piece.width < _TINY_WIDTH * piece.size and len(piece.text) <= _TINY_LETTERS
        if piece.size < _SCRIPT_SIZE * body or tiny:
            near = bands[_band(piece.baseline)]
            hosts = [position for position in near if _is_host(kept[position], piece, gutters=gutters)]
            if hosts:
                nearest = min(hosts, key=lambda position: (abs(kept[position].baseline - piece.baseline), position))
                host = kept[nearest]
                kept[nearest] = line_of(host.words + piece.words, size=host.size)
                register(nearest)
                continue
        kept.append(piece)
        register(len(kept) - 1)
    return kept


def _band(y: float) -> int:
    """Return the number of the band of a height; no page is higher than the bands together."""
    return int(min(max(y // _BAND_HEIGHT, 0), _BANDS))


def _is_host(host: Line, script: Line, *, gutters: Sequence[float]) -> bool:
    """Return whether a short script is next to a line of larger letters, on the same side of every gutter."""
    left, top, right, bottom = host.box
    return (
        host.size > script.size * _HOST_SIZE
        and top - _HOST_ABOVE <= script.baseline <= bottom + _HOST_BELOW
        and left - script.width - _HOST_BEFORE <= script.box.x0 <= right + _HOST_AFTER
        and script.width < _MAX_SCRIPT_WIDTH
        and all(left < gutter < right or (left < gutter) == (script.box.x0 < gutter) for gutter in gutters)
    )


def rejoined(lines: Sequence[Line], *, column: Callable[[Line], int]) -> list[Line]:
    """Return lines of running text, rejoined at the wide spaces of justified text.

    A single word in parentheses stays separate, since it may be the number of an equation.
    """
    joined: list[Line] = []
    for line in sorted(lines, key=lambda line: (round(line.baseline), line.box.x0)):
        left = next(
            (other for other in reversed(joined[-_OPEN_LINES:]) if _continues(other, line, column=column)), None
        )
        if left:
            joined[joined.index(left)] = line_of((*left.words, *line.words), size=left.size)
        else:
            joined.append(line)
    return joined


def _continues(left: Line, right: Line, *, column: Callable[[Line], int]) -> bool:
    return (
        abs(left.baseline - right.baseline) < 0.5
        and not (right.text[0] == "(" and right.text[-1] == ")" and len(right.words) == 1)
        and 0 < right.box.x0 - left.box.x1 < _JUSTIFIED_GAP * left.size
        and abs(left.size - right.size) < 0.5
        and column(left) == column(right)
    )


def fold_fractions(words: Sequence[Word], rules: Sequence[HorizontalRule], *, below: float) -> list[Word]:
    """Replace the words above and below each fraction bar by one word, narrow bars first.

    Only letters smaller than `below` are folded: the letters of fractions within a line. A rule that does not end with
    its longer side, or a wide rule with the same ends as another, belongs to a table.
    """
    left = list(words)
    for rule in sorted(rules, key=lambda rule: rule.width):
        if rule.width <= _MAX_BAR and not _is_repeated(rule, rules) and not _underlines_cell(rule, left, rules):
            left = _fold(left, rule, below=below)
    return left


def _is_repeated(rule: HorizontalRule, rules: Sequence[HorizontalRule]) -> bool:
    return rule.width > _MIN_TABLE_RULE and any(
        abs(other.x0 - rule.x0) < 1 and abs(other.x1 - rule.x1) < 1 and abs(other.y - rule.y) > 1.5 for other in rules
    )


def _underlines_cell(rule: HorizontalRule, words: Sequence[Word], rules: Sequence[HorizontalRule]) -> bool:
    """Return whether words of the same size, without bars above or below them, are level with the word above the rule
    and with the word below it: the rule underlines a cell, and the word below belongs to the next row.

    Under the title of a group of columns, between the wider rules of a header, only the word below has such words.
    """
    inside = [word for word in words if _is_within(word, rule)]
    above = [word for word in inside if word.baseline <= rule.y + _ON_RULE]
    beneath = [word for word in inside if word.baseline > rule.y + _ON_RULE]
    if not above or not beneath:
        return False
    over, under = max(above, key=lambda word: word.baseline), min(beneath, key=lambda word: word.baseline)
    bars = [other for other in rules if abs(other.y - rule.y) < 0.5]
    free = [word for word in words if not any(bar.x0 - 2 <= word.center <= bar.x1 + 2 for bar in bars)]
    level_over, level_under = (
        any(
            abs(word.baseline - cell.baseline) < _SAME_BASELINE
            and abs(word.size - cell.size) < _SAME_SIZE * cell.size
            and abs(word.center - rule.x0) < _CELL_DISTANCE * cell.size
            for word in free
        )
        for cell in (over, under)
    )
    return level_under and (level_over or _is_in_header(rule, rules, size=over.size))


def _is_in_header(rule: HorizontalRule, rules: Sequence[HorizontalRule], *, size: float) -> bool:
    """Return whether wider rules are close above and below."""
    wider = [
        other.y - rule.y for other in rules if other.x0 <= rule.x0 < rule.x1 <= other.x1 and other.width > rule.width
    ]
    reach = _HEADER_REACH * size
    return any(-reach < distance < -1 for distance in wider) and any(1 < distance < reach for distance in wider)


def _fold(words: list[Word], rule: HorizontalRule, *, below: float) -> list[Word]:
    beside = [
        word
        for word in words
        if _is_within(word, rule) and word.size < below and abs(word.baseline - rule.y) < _ADJACENT * word.size
    ]
    if not beside:
        return words
    size = median(word.size for word in beside)
    over = [word for word in beside if rule.y - _REACH * size < word.baseline <= rule.y + _ON_RULE * size]
    under = [word for word in beside if rule.y + _BELOW_BAR * size < word.baseline < rule.y + _REACH * size]
    if not over or not under or rule.y - max(word.baseline for word in over) > _ABOVE_BAR * size:
        return words
    if not (_fills(over, rule) or _fills(under, rule)) or (
        _are_cells(over, size=size) and _are_cells(under, size=size)
    ):
        return words
    largest = max([*over, *under], key=lambda word: word.size)
    fraction = replace(
        largest,
        text=read_formula([*over, *under], [rule]),
        x0=rule.x0,
        x1=rule.x1,
        baseline=rule.y + _FRACTION_BASELINE * largest.size,
        math=1.0,
    )
    folded = {*over, *under}
    return [*(word for word in words if word not in folded), fraction]


def _is_within(word: Word, rule: HorizontalRule) -> bool:
    return rule.x0 - _OVERHANG <= word.x0 and word.x1 <= rule.x1 + _OVERHANG


def _are_cells(words: Sequence[Word], *, size: float) -> bool:
    """Return whether words are far apart, as the cells above and below a table's rule are."""
    return len(split_row(words, joins=lambda right, word: word.x0 - right <= _CELL_GAP * size)) > 1


def _fills(words: Sequence[Word], rule: HorizontalRule) -> bool:
    """Return whether the words are about as wide as the bar."""
    left, right = min(word.x0 for word in words), max(word.x1 for word in words)
    return left - rule.x0 < _SHORTFALL and rule.x1 - right < _SHORTFALL
