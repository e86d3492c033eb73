"""Splits the lines of a bibliography into its entries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median

from ingest.document.geometry import runs_of
from ingest.document.references import EntryMark, entry_label, entry_year, mark_of
from ingest.pdf.paragraphs import FlowLine

__all__ = ["Entry", "bibliography_start", "find_entries"]

# Chosen on the development papers.
_MARKED_SHARE = 0.5  # The least share of lines that begin with a mark, where entries are short.
_MIN_MARKS = 3  # The least number of marks in longer bibliographies.
_MAX_STARTS = 40  # For each line that may begin a bibliography without a title, all lines after it are read.
_MIN_UNTITLED = 5  # The least number of entries in a bibliography without a title; fewer may be a list.
_MAX_MISSING = 2  # The most entry numbers that may be missing between successive entries.
_LARGER = 1.06  # Usual letter sizes; larger print is not an entry.
_END_GAP = 1.6  # Usual pitches; a wider gap ends the bibliography.
_ENTRY_GAP = 1.45  # The least distance between the baselines of two entries, in letter sizes.
_MIN_GAPS = 3  # The least number of gaps that show that the bibliography separates its entries by them.
_HANGS = (4.0, 60.0)  # The indent of second lines, in points.
_SAME_X = 3.0  # Points; the starts of aligned lines differ by at most this.
_SAME_HANG = 1.6  # Points; tolerates two x rounded to whole points.
_MAX_HANGING_SHARE = 0.75  # If more lines begin at the left edge, the edge doesn't separate entries.
_SHORT = 3.0  # Letter sizes; the least distance from the end of an entry's last line to the end of the column.

ColumnKey = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entry:
    """The lines of one entry."""

    lines: tuple[FlowLine, ...]

    @property
    def text(self) -> str:
        """The lines side by side, with their hyphens."""
        return " ".join(line.line.text for line in self.lines)

    @property
    def number(self) -> int:
        """The number in its mark, 0 if it has none."""
        mark = mark_of(self.lines[0].line.text)
        return (mark.number or 0) if mark else 0


def bibliography_start(lines: Sequence[FlowLine], *, after: int = 0) -> int | None:
    """Return the index of the line at which a bibliography without a title begins, or continues `after` an entry.

    It begins with `[1]` or with any raised number (the first entries may have been taken for footnotes), its numbers
    increase, and most of its entries contain a year. None if there is none.
    """
    marked = ((index, mark) for index, line in enumerate(lines) if (mark := mark_of(line.line.text)))
    starts = (
        index
        for index, mark in marked
        if mark.form == "raised" or (mark.form == "bracket" and mark.number == after + 1)
    )
    for index in islice(starts, _MAX_STARTS):
        entries, _ = find_entries(lines[index:])
        dated = sum(entry_year(entry.text) is not None for entry in entries)
        if len(entries) >= (1 if after else _MIN_UNTITLED) and 2 * dated > len(entries):
            return index
    return None


def find_entries(lines: Sequence[FlowLine]) -> tuple[list[Entry], list[FlowLine]]:
    """Find the entries among the lines below the title of a bibliography.

    Entries begin at their marks (`[12]`, `12.`), otherwise at the left edge of a hanging indent, otherwise after a gap
    or a short line. Larger print is not an entry, and the list ends at a gap in its last entry or where entries no
    longer contain authors or a year.

    Returns:
        The entries, and the lines that belong to none.
    """
    usual = median(line.line.size for line in lines) if lines else 0.0
    small = [line for line in lines if line.line.size <= _LARGER * usual]
    starts = {id(line) for line, start in zip(small, _starts(small), strict=True) if start}
    groups = runs_of(small, joins=lambda _, line: id(line) not in starts)
    if groups:
        groups[-1] = _up_to_gap(groups[-1], small)
    entries = [Entry(lines=tuple(group)) for group in groups]
    while entries and not entry_label(entries[-1].text) and entry_year(entries[-1].text) is None:
        entries.pop()
    listed = {id(line) for entry in entries for line in entry.lines}
    return entries, [line for line in lines if id(line) not in listed]


def _up_to_gap(group: list[FlowLine], lines: Sequence[FlowLine]) -> list[FlowLine]:
    """Return the lines of the last entry up to a gap that is wide for this bibliography."""
    pitches = [pitch for last, line in pairwise(lines) if (pitch := _pitch(last, line)) > 0]
    limit = _END_GAP * median(pitches) if pitches else float("inf")
    for index, (last, line) in enumerate(pairwise(group), start=1):
        if _pitch(last, line) > limit:
            return group[:index]
    return group


def _pitch(last: FlowLine, line: FlowLine) -> float:
    """Return the distance of a line below the previous one, 0 if they are in different columns."""
    return line.line.baseline - last.line.baseline if last.shares_column(line) else 0.0


def _starts(lines: Sequence[FlowLine]) -> list[bool]:
    """Return whether each line begins an entry."""
    marked = _marked(lines)
    if sum(marked) >= _MIN_MARKS or sum(marked) > _MARKED_SHARE * len(lines):
        return marked
    hang = _hang(lines)
    lefts = _lefts(lines, hang=hang)
    hanging = [line.line.box.x0 < lefts[line.page, line.column] + _SAME_X for line in lines]
    if hang and sum(hanging) < _MAX_HANGING_SHARE * len(lines):
        return hanging
    gaps = sum(_has_gap(last, line) for last, line in pairwise(lines)) >= _MIN_GAPS
    return [True, *(_is_after_end(last, line, gaps=gaps) for last, line in pairwise(lines))][: len(lines)]


def _marked(lines: Sequence[FlowLine]) -> list[bool]:
    """Return whether each line begins with a mark; all marks have one form, and numbers are in order."""
    marks = [mark_of(line.line.text) for line in lines]
    forms = Counter(mark.form for mark in marks if mark)
    form = forms.most_common(1)[0][0] if forms else ""
    marked: list[bool] = []
    last: int | None = None
    for mark in marks:
        follows = mark is not None and mark.form == form and _follows(mark, last)
        marked.append(follows)
        if mark and follows and mark.number is not None:
            last = mark.number
    return marked


def _follows(mark: EntryMark, last: int | None) -> bool:
    """Return whether a mark may follow the number `last`; a key (`[LCS20]`) always may."""
    if mark.number is None or last is None or mark.number == 1:
        return True
    return 0 < mark.number - last <= 1 + _MAX_MISSING


def _hang(lines: Sequence[FlowLine]) -> float:
    """Return the indent of the second lines of entries, 0 if they aren't indented.

    It is the usual distance between the two x at which most lines of a column begin.
    """
    low, high = _HANGS
    steps: Counter[float] = Counter()
    for counts in _begins(lines).values():
        xs = sorted(x for x, count in counts.most_common(2) if count >= 2)
        if len(xs) == 2 and low < xs[1] - xs[0] < high:
            steps[xs[1] - xs[0]] += counts[xs[0]] + counts[xs[1]]
    return steps.most_common(1)[0][0] if steps else 0.0


def _begins(lines: Sequence[FlowLine]) -> dict[ColumnKey, Counter[float]]:
    """Return the x at which the lines of each column begin, with their counts."""
    xs: dict[ColumnKey, Counter[float]] = {}
    for line in lines:
        xs.setdefault((line.page, line.column), Counter())[round(line.line.box.x0)] += 1
    return xs


def _lefts(lines: Sequence[FlowLine], *, hang: float) -> dict[ColumnKey, float]:
    """Return the x at which the entries of each column begin: the leftmost x with hanging lines.

    A column without such lines has one x only; it is the left edge if the column has it on other pages.
    """
    begins = _begins(lines)
    lefts: dict[ColumnKey, float] = {}
    for key, counts in begins.items():
        hung = [x for x in counts if any(abs(other - x - hang) < _SAME_HANG for other in counts)]
        if hung:
            lefts[key] = min(hung)
    for key in begins.keys() - lefts.keys():
        usual = [left for (_, column), left in lefts.items() if column == key[1]]
        near = [x for x in begins[key] if any(abs(x - left) < _SAME_X for left in usual)]
        lefts[key] = min(near or usual or begins[key])
    return lefts


def _is_after_end(last: FlowLine, line: FlowLine, *, gaps: bool) -> bool:
    """Return whether a line begins an entry: with `gaps` after extra space, otherwise after a short line with a
    stop."""
    if not last.shares_column(line):
        return last.line.text.endswith(".")
    short = last.line.box.x1 < last.edges.right - _SHORT * last.line.size
    ended = short and last.line.text.endswith((".", "/")) and line.line.text[:1].isupper()
    return _has_gap(last, line) if gaps else ended


def _has_gap(last: FlowLine, line: FlowLine) -> bool:
    return line.pitch(last) > _ENTRY_GAP
