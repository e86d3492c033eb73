"""The lines of a bibliography, cut into its entries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest.document.references import Mark, entry_label, entry_year, mark_of
from ingest.pdf.paragraphs import FlowLine

__all__ = ["Entry", "bibliography_start", "find_entries"]


_BY_NUMBER = 0.5
_LEAST_MARKS = 3
_LEAST_UNTITLED = 5
_MOST_MISSING = 2
_LARGER = 1.06
_GAP = 1.6

ColumnKey = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entry:
    """The lines of one entry."""

    lines: tuple[FlowLine, ...]

    @property
    def text(self) -> str:
        """The lines side by side, their hyphens kept."""
        return " ".join(line.line.text for line in self.lines)

    @property
    def number(self) -> int:
        """The number in its mark, 0 if it has none."""
        mark = mark_of(self.lines[0].line.text)
        return (mark.number or 0) if mark else 0


def find_entries(lines: Sequence[FlowLine]) -> tuple[list[Entry], list[FlowLine]]:
    """The entries among the lines below the title of a bibliography, and the lines that belong to none.

    Entries begin at their marks (`[12]`, `12.`) where they have such, else at the left edge of a hanging indent, else
    after a gap or a line that ends early. None holds larger print, and the list ends where a gap opens in its last
    entry or where neither authors nor a year are named any more.
    """
    usual = median(line.line.size for line in lines) if lines else 0.0
    small = [line for line in lines if line.line.size <= _LARGER * usual]
    groups: list[list[FlowLine]] = []
    for line, start in zip(small, _starts(small), strict=True):
        if start or not groups:
            groups.append([line])
        else:
            groups[-1].append(line)
    if groups:
        groups[-1] = _up_to_gap(groups[-1], small)
    entries = [Entry(lines=tuple(group)) for group in groups]
    while entries and not entry_label(entries[-1].text) and entry_year(entries[-1].text) is None:
        entries.pop()
    listed = {id(line) for entry in entries for line in entry.lines}
    return entries, [line for line in lines if id(line) not in listed]


def _up_to_gap(group: list[FlowLine], lines: Sequence[FlowLine]) -> list[FlowLine]:
    """The lines of the last entry up to a gap that is wide for the bibliography."""
    pitches = [_pitch(last, line) for last, line in pairwise(lines)]
    usual = median(pitch for pitch in pitches if pitch > 0) if any(pitch > 0 for pitch in pitches) else 0.0
    for index, (last, line) in enumerate(pairwise(group), start=1):
        if usual and _pitch(last, line) > _GAP * usual:
            return group[:index]
    return group


def _pitch(last: FlowLine, line: FlowLine) -> float:
    """How far a line stands below the last one, 0 if they stand in different columns."""
    same = (last.page, last.column) == (line.page, line.column)
    return line.line.baseline - last.line.baseline if same else 0.0


def bibliography_start(lines: Sequence[FlowLine], *, after: int = 0) -> int | None:
    """Where among lines of text a bibliography without a title begins, or goes on `after` an entry; None if nowhere.

    It begins with `[1]`, or with any raised number (the first entries may pass for footnotes), and goes on in order,
    and most of its entries name a year.
    """
    for index, line in enumerate(lines):
        mark = mark_of(line.line.text)
        if mark and (mark.form == "raised" or (mark.form == "bracket" and mark.number == after + 1)):
            entries, _ = find_entries(lines[index:])
            dated = sum(entry_year(entry.text) is not None for entry in entries)
            if len(entries) >= (1 if after else _LEAST_UNTITLED) and 2 * dated > len(entries):
                return index
    return None


def _starts(lines: Sequence[FlowLine]) -> list[bool]:
    """Which lines open an entry."""
    marked = _marked(lines)
    if sum(marked) >= _LEAST_MARKS or sum(marked) > _BY_NUMBER * len(lines):
        return marked
    hang = _hang(lines)
    lefts = _lefts(lines, hang=hang)
    hanging = [line.line.box.x0 < lefts[line.page, line.column] + 3 for line in lines]
    if hang and sum(hanging) < 0.75 * len(lines):
        return hanging
    gaps = sum(_has_gap(last, line) for last, line in pairwise(lines)) >= 3
    return [_after_gap(lines, index, gaps=gaps) for index in range(len(lines))]


def _marked(lines: Sequence[FlowLine]) -> list[bool]:
    """Which lines begin with a mark; all are of one form, and numbers go on in order."""
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


def _follows(mark: Mark, last: int | None) -> bool:
    """Whether a mark may come next after the number `last`; a key (`[LCS20]`) always may."""
    if mark.number is None or last is None or mark.number == 1:
        return True
    return 0 < mark.number - last <= 1 + _MOST_MISSING


def _hang(lines: Sequence[FlowLine]) -> float:
    """How far the second lines of entries are indented, 0 if they aren't: the usual step between the two x at which
    most lines of a column begin."""
    steps: Counter[float] = Counter()
    for counts in _begins(lines).values():
        xs = sorted(x for x, count in counts.most_common(2) if count >= 2)
        if len(xs) == 2 and 4 < xs[1] - xs[0] < 60:
            steps[xs[1] - xs[0]] += counts[xs[0]] + counts[xs[1]]
    return steps.most_common(1)[0][0] if steps else 0.0


def _begins(lines: Sequence[FlowLine]) -> dict[ColumnKey, Counter[float]]:
    """At which x the lines of each column begin, and how often."""
    xs: dict[ColumnKey, Counter[float]] = {}
    for line in lines:
        xs.setdefault((line.page, line.column), Counter())[round(line.line.box.x0)] += 1
    return xs


def _lefts(lines: Sequence[FlowLine], *, hang: float) -> dict[ColumnKey, float]:
    """The x at which the entries of each column begin: the leftmost with lines that hang from it.

    A column without such has but one x; it is the left edge where the column has it on other pages.
    """
    begins = _begins(lines)
    lefts: dict[ColumnKey, float] = {}
    for key, counts in begins.items():
        hung = [x for x in counts if any(abs(other - x - hang) < 1.6 for other in counts)]
        if hung:
            lefts[key] = min(hung)
    for key in begins.keys() - lefts.keys():
        usual = [left for (_, column), left in lefts.items() if column == key[1]]
        near = [x for x in begins[key] if any(abs(x - left) < 3 for left in usual)]
        lefts[key] = min(near or usual or begins[key])
    return lefts


def _after_gap(lines: Sequence[FlowLine], index: int, *, gaps: bool) -> bool:
    """Whether a line opens an entry: with `gaps` after extra space, else after a line that ends early at a stop."""
    if index == 0:
        return True
    last, line = lines[index - 1], lines[index]
    if (last.page, last.column) != (line.page, line.column):
        return last.line.text.endswith(".")
    short = last.line.box.x1 < last.edges.right - 3 * last.line.size
    ended = short and last.line.text.endswith((".", "/")) and line.line.text[:1].isupper()
    return _has_gap(last, line) if gaps else ended


def _has_gap(last: FlowLine, line: FlowLine) -> bool:
    return (line.line.baseline - last.line.baseline) / last.line.size > 1.45
