"""Words to lines, with superscripts and subscripts attached."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from ingest.pdf.words import Word
from paperscope_core.types import Box

__all__ = ["Line", "bounding_box", "joined_text", "line_of", "lines_of", "rejoined", "script_text"]


_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_RAISABLE = frozenset("0123456789+-−=()ni")
_LOWERABLE = frozenset("0123456789+-−=()")


def joined_text(words: Sequence[Word], *, baseline: float, size: float) -> str:
    """The words from left to right; `baseline` and `size` are those of the full-sized ones."""
    parts: list[str] = []
    previous: Word | None = None
    for word in words:
        if previous is not None and _apart(previous, word):
            parts.append(" ")
        shift = baseline - word.baseline
        small = word.size < 0.85 * size
        if small and abs(shift) > 0.1 * size:
            parts.append(script_text(word.text, raised=shift > 0))
        else:
            parts.append(word.text)
        previous = word
    return "".join(parts)


def script_text(text: str, *, raised: bool) -> str:
    """`²` and `₁` where Unicode has the letters, else `^k`, `_ij`, `^(k,l)`; marks such as † stand as they are."""
    if all(letter in (_RAISABLE if raised else _LOWERABLE) for letter in text):
        return text.translate(_RAISED if raised else _LOWERED)
    if not any(letter.isalnum() for letter in text) or text[0] in "±(":
        return text
    sign = "^" if raised else "_"
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"


def _apart(left: Word, right: Word) -> bool:
    """Whether a space stands between two words; a change of size marks one at a smaller gap."""
    gap = right.x0 - left.x1
    size = max(left.size, right.size)
    if gap > 0.14 * size:
        return True
    resized = abs(right.size - left.size) > 0.35 * left.size
    level = abs(right.baseline - left.baseline) < 0.6 * left.size
    return level and gap > (0.06 if resized else 0.1) * size


_WIDE_GAP = 1.2
_SMALL = 0.82


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Line:
    """Words that are read as one line; `bold`, `italic`, `math` are shares of its letters (0 to 1).

    Lines compare by identity, so that a stage can claim the lines that it used.
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
        """From the first word's left end to the last one's right end."""
        return self.box.x1 - self.box.x0

    @property
    def center(self) -> float:
        """The x of the middle."""
        return (self.box.x0 + self.box.x1) / 2


def bounding_box(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all of at least one box."""
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return Box(min(x0s), min(y0s), max(x1s), max(y1s))


def line_of(words: Iterable[Word], *, size: float | None = None) -> Line:
    """Make a line of at least one word; its baseline is that of its full-sized words.

    Full size is that of most letters, or `size` where scripts may outnumber them and some word has that size.
    """
    ordered = tuple(sorted(words, key=lambda word: word.x0))
    letters = sum(len(word.text) for word in ordered)
    if size is None or all(word.size < 0.85 * size for word in ordered):
        size = median(word.size for word in ordered for _ in word.text)
    full = [word for word in ordered if word.size >= 0.85 * size]
    baseline = median(word.baseline for word in full)
    return Line(
        words=ordered,
        text=joined_text(ordered, baseline=baseline, size=size),
        box=bounding_box(word.box for word in ordered),
        baseline=baseline,
        size=size,
        font=Counter(word.font for word in ordered for _ in word.text).most_common(1)[0][0],
        bold=sum(len(word.text) for word in ordered if word.bold) / letters,
        italic=sum(len(word.text) for word in ordered if word.italic) / letters,
        math=sum(len(word.text) * word.math for word in ordered) / letters,
    )


def lines_of(words: Sequence[Word], *, gutters: Sequence[float]) -> list[Line]:
    """The lines of a page from top to bottom; `gutters` are the x between its columns."""
    if not words:
        return []
    body = median(word.size for word in words for _ in word.text)
    pieces: list[Line] = []
    for row in _rows(words):
        pieces.extend(line_of(piece) for piece in _cut(row, gutters=gutters))
    return sorted(_attach_scripts(pieces, body=body, gutters=gutters), key=lambda line: (line.baseline, line.box.x0))


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.baseline, word.x0)):
        for row in reversed(rows[-6:]):
            first = row[0]
            if abs(first.baseline - word.baseline) < 0.15 * word.size + 0.6 and word.size > 0.75 * first.size:
                row.append(word)
                break
        else:
            rows.append([word])
    return rows


def _cut(row: list[Word], *, gutters: Sequence[float]) -> list[list[Word]]:
    row.sort(key=lambda word: word.x0)
    pieces = [[row[0]]]
    right = row[0].x1
    for word in row[1:]:
        gap = word.x0 - right
        between = any(right <= gutter + 1 and word.x0 >= gutter - 1 for gutter in gutters)
        at_gutter = between and gap > 0.5 * word.size
        if gap > _WIDE_GAP * word.size or at_gutter:
            pieces.append([word])
        else:
            pieces[-1].append(word)
        right = max(right, word.x1)
    return pieces


def _attach_scripts(pieces: Sequence[Line], *, body: float, gutters: Sequence[float]) -> list[Line]:
    kept: list[Line] = []
    for piece in sorted(pieces, key=lambda piece: -piece.size):
        tiny = piece.width < 2.2 * piece.size and len(piece.text) <= 3
        if piece.size < _SMALL * body or tiny:
            hosts = [host for host in kept if _hosts(host, piece, gutters=gutters)]
            if hosts:
                host = min(hosts, key=lambda host: abs(host.baseline - piece.baseline))
                kept[kept.index(host)] = line_of(host.words + piece.words, size=host.size)
                continue
        kept.append(piece)
    return kept


def _hosts(host: Line, script: Line, *, gutters: Sequence[float]) -> bool:
    """Whether a script of at most 120 pt stands at a line of larger letters, on its side of a gutter."""
    left, top, right, bottom = host.box
    return (
        host.size > script.size * 1.1
        and top - 1.5 <= script.baseline <= bottom + 2.5
        and left - script.width - 3 <= script.box.x0 <= right + 5
        and script.width < 120
        and all(left < gutter < right or (left < gutter) == (script.box.x0 < gutter) for gutter in gutters)
    )


def rejoined(lines: Sequence[Line], *, column: Callable[[Line], int]) -> list[Line]:
    """Running text without the cuts at wide gaps: a justified line may stretch its spaces to 3.5 letter sizes.

    A single word in parentheses stays apart: it may be the number of an equation.
    """
    joined: list[Line] = []
    for line in sorted(lines, key=lambda line: (round(line.baseline), line.box.x0)):
        mate = next((other for other in reversed(joined[-4:]) if _mates(other, line, column=column)), None)
        if mate:
            joined[joined.index(mate)] = line_of((*mate.words, *line.words), size=mate.size)
        else:
            joined.append(line)
    return joined


def _mates(left: Line, right: Line, *, column: Callable[[Line], int]) -> bool:
    return (
        abs(left.baseline - right.baseline) < 0.5
        and not (right.text[0] == "(" and right.text[-1] == ")" and len(right.words) == 1)
        and 0 < right.box.x0 - left.box.x1 < 3.5 * left.size
        and abs(left.size - right.size) < 0.5
        and column(left) == column(right)
    )
