"""Converts formulas to one line: `lg((n − n_t)/n_t + K)`, `∑_{i=1}^N x_i`, `sqrt(x)`, `{x if x > 0; 0 else}`."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ingest.document.geometry import runs_of
from ingest.document.pages import HorizontalRule
from ingest.pdf.pdf_words import Word
from paperscope_core.text.formulas import script_text

__all__ = ["read_formula"]

_LARGE_SIGNS = frozenset("∑∏∫⋃⋂")
_OPERATORS = _LARGE_SIGNS | {"max", "min", "lim", "sup", "inf", "argmax", "argmin", "arg max", "arg min"}
_DELIMITER_PIECES = {
    **dict.fromkeys("⎛⎜⎝", "("),
    **dict.fromkeys("⎞⎟⎠", ")"),
    **dict.fromkeys("⎡⎢⎣", "["),
    **dict.fromkeys("⎤⎥⎦", "]"),
    **dict.fromkeys("⎧⎨⎩", "{"),
    **dict.fromkeys("⎫⎬⎭", "}"),
    "⎪": "",
}
_OPENING = frozenset("([{|‖⌊⌈⟨")
_CLOSING = frozenset(")]}|‖⌋⌉⟩")

# In letter sizes unless said otherwise. TeX sets scripts at 0.7 of the size, raises them by 0.36 to 0.41, lowers them
# by 0.15 to 0.25, and centres fractions and large signs on an axis 0.25 above the baseline (The TeXbook, appendix G);
# the tolerances around that were chosen on the equations of the development papers.
_AXIS = 0.25  # The height of the axis above the baseline.
_SCRIPT_SIZE = 0.85  # Smaller parts are scripts.
_SIGN_STRETCH = 0.35  # The height of a large sign above and below its letters.
_ROW_SHIFT = 0.45  # The largest difference in baseline between parts of one row.
_PIECE_X, _PIECE_PITCH = 1.5, 2.2  # Pieces of a tall delimiter: offset (points) and distance of baselines.
_ADJACENT = 0.6  # The largest distance of numerators and denominators from their bar.
_OVERHANG = 1.6  # Points by which numerators and denominators may extend beyond their bar.
_ROOT_X = 0.2  # The largest distance of a root's bar from the end of its sign.
_ROOT_DEPTH = (-0.3, 8.0)  # The distance from a root's bar down to the foot of its sign.
_ON_AXIS, _BAR_DISTANCE = 0.1, 3.0  # A bar belongs to the row whose axis and parts are this close.
_LEVEL = 0.15  # Parts that overlap vertically by more than this are level.
_LIMIT_SIZE = 0.85  # The largest size of a limit, relative to its operator.
_LIMIT_DISTANCE = (0.45, 2.0)  # The distance of a limit above or below its operator.
_LIMIT_OFFSET = 0.35  # The largest offset of a limit from the centre of its operator.
_LIMIT_GAP = 0.5  # The widest gap within a limit.
# Limits become scripts: of TeX's script size, right after the operator's left end, raised or lowered by this many
# sizes.
_SCRIPT_SCALE, _SCRIPT_X, _RAISED, _LOWERED = 0.7, 0.3, 0.5, 0.4
_THIN_SPACE = 0.12  # A wider gap between parts is a space.
_SCRIPT_GAP = 4  # A script further from its host belongs to another row; in sizes of the script.
_WITHIN = 0.1  # A script within the height of a row is closer to it by this than its baseline shows.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Part:
    """A word, or several parts merged into one, from `top` to `bottom`."""

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    top: float
    bottom: float

    @property
    def center(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def read_formula(words: Sequence[Word], bars: Sequence[HorizontalRule]) -> str:
    """Return the text of a formula printed as words and bars (of fractions and roots); "" without words.

    Bars are folded from the narrowest to the widest, since the contents of a fraction or a root are narrower than it.
    """
    parts = _with_limits(_join_delimiters([_part_of(word) for word in words]), bars)
    roots = _roots(parts, bars)
    for bar in sorted(bars, key=lambda bar: bar.width):
        others = [other for other in bars if other is not bar]
        parts = _with_root(parts, bar, roots[bar]) if bar in roots else _with_fraction(parts, bar, others)
    return _linearize(parts)


def _part_of(word: Word) -> _Part:
    """Return the word as a part, with mathematical letters replaced by plain ones (𝑥 by x)."""
    text = "".join(_plain(letter) for letter in word.text)
    stretch = _SIGN_STRETCH * word.size if text in _LARGE_SIGNS else 0.0
    return _Part(
        text=text,
        x0=word.x0,
        x1=word.x1,
        baseline=word.baseline,
        size=word.size,
        top=word.box.y0 - stretch,
        bottom=word.box.y1 + stretch,
    )


def _plain(letter: str) -> str:
    styled = letter == "ℎ" or 0x1D400 <= ord(letter[0]) < 0x1D800  # Mathematical Alphanumeric Symbols.
    return unicodedata.normalize("NFKC", letter) if styled else letter


def _join_delimiters(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts with the stacked pieces of each tall delimiter merged into one part."""
    whole = [part for part in parts if part.text not in _DELIMITER_PIECES]
    columns: list[list[_Part]] = []
    for piece in sorted((part for part in parts if part.text in _DELIMITER_PIECES), key=lambda part: part.baseline):
        column = next((column for column in columns if _continues_delimiter(column[-1], piece)), None)
        if column is None:
            columns.append([piece])
        else:
            column.append(piece)
    for column in columns:
        text = max(_DELIMITER_PIECES[piece.text] for piece in column)
        if text:
            baseline = (column[0].baseline + column[-1].baseline) / 2
            whole.append(replace(_merged(column[0], column), text=text, baseline=baseline))
    return whole


def _continues_delimiter(last: _Part, piece: _Part) -> bool:
    delimiters = {_DELIMITER_PIECES[last.text], _DELIMITER_PIECES[piece.text]} - {""}
    pitch = piece.baseline - last.baseline
    return len(delimiters) < 2 and abs(last.x0 - piece.x0) < _PIECE_X and pitch < _PIECE_PITCH * piece.size


def _merged(model: _Part, parts: Sequence[_Part]) -> _Part:
    """Return a part with the height of several parts, and otherwise like `model`."""
    return replace(model, top=min(part.top for part in parts), bottom=max(part.bottom for part in parts))


def _roots(parts: Sequence[_Part], bars: Sequence[HorizontalRule]) -> dict[HorizontalRule, _Part]:
    """Return the radical sign of each root's bar: the highest of the bars that begin where a sign ends."""
    roots: dict[HorizontalRule, _Part] = {}
    for sign in parts:
        if sign.text not in ("√", "⎷"):
            continue
        begun = [
            bar
            for bar in bars
            if abs(sign.x1 - bar.x0) < _ROOT_X * sign.size + 0.5
            and _ROOT_DEPTH[0] * sign.size < sign.baseline - bar.y < _ROOT_DEPTH[1] * sign.size
        ]
        if begun:
            roots[min(begun, key=lambda bar: bar.y)] = sign
    return roots


def _with_root(parts: Sequence[_Part], bar: HorizontalRule, sign: _Part) -> list[_Part]:
    """Return the parts with the root of the bar as one part."""
    strokes = {part for part in parts if part.text == "⎸" and sign.x0 - 2 < part.x0 < sign.x1 + 2}
    inside = _next_to(bar, [part for part in parts if part is not sign and part not in strokes], below=True)
    if not inside:
        return list(parts)
    largest = max(inside, key=lambda part: part.size)
    text = f"sqrt({_linearize(inside)})"
    root = replace(_merged(largest, inside), text=text, x0=sign.x0, x1=bar.x1, top=bar.y)
    gone = {sign, *strokes, *inside}
    return [*(part for part in parts if part not in gone), root]


def _with_fraction(parts: Sequence[_Part], bar: HorizontalRule, others: Sequence[HorizontalRule]) -> list[_Part]:
    """Return the parts with the fraction of the bar as one part, unless nothing is above or below it."""
    over = _next_to(bar, parts, below=False)
    under = _next_to(bar, parts, below=True)
    if not over or not under or any(_separates(other, bar, over, under) for other in others):
        return list(parts)
    size = _size_at(bar, parts, max(part.size for part in (*over, *under)))
    fraction = _Part(
        text=f"{_bracketed(_linearize(over))}/{_bracketed(_linearize(under))}",
        x0=bar.x0,
        x1=bar.x1,
        baseline=bar.y + _AXIS * size,
        size=size,
        top=min(part.top for part in over),
        bottom=max(part.bottom for part in under),
    )
    gone = {*over, *under}
    return [*(part for part in parts if part not in gone), fraction]


def _size_at(bar: HorizontalRule, parts: Sequence[_Part], size: float) -> float:
    """Return the letter size of the row on whose axis a bar is, otherwise the bar's own; a fraction may be smaller."""
    beside = [
        part.size
        for part in parts
        if abs(part.baseline - _AXIS * part.size - bar.y) < _ON_AXIS * part.size
        and min(abs(part.x0 - bar.x1), abs(bar.x0 - part.x1)) < _BAR_DISTANCE * part.size
    ]
    return max([size, *beside])


def _next_to(bar: HorizontalRule, parts: Sequence[_Part], *, below: bool) -> list[_Part]:
    """Return the parts within the ends of a bar that are directly above or below it, and those level with them."""
    within = [part for part in parts if bar.x0 - _OVERHANG <= part.x0 and part.x1 <= bar.x1 + _OVERHANG]
    side = [part for part in within if (part.middle > bar.y if below else part.middle < bar.y)]
    found = {part for part in side if (part.top - bar.y if below else bar.y - part.bottom) < _ADJACENT * part.size}
    while found:
        top, bottom = min(part.top for part in found), max(part.bottom for part in found)
        more = {part for part in side if min(part.bottom, bottom) - max(part.top, top) > _LEVEL * part.size} | found
        if len(more) == len(found):
            break
        found = more
    return [part for part in parts if part in found]


def _separates(other: HorizontalRule, bar: HorizontalRule, over: Sequence[_Part], under: Sequence[_Part]) -> bool:
    """Return whether another bar is between a bar and the parts next to it, which then belong to that bar."""
    if min(bar.x1, other.x1) - max(bar.x0, other.x0) < 0.5 * bar.width:
        return False
    above = max(part.bottom for part in over)
    beneath = min(part.top for part in under)
    return above - 1 < other.y < bar.y - 0.5 or bar.y + 0.5 < other.y < beneath + 1


def _bracketed(text: str) -> str:
    """Return the text, in parentheses unless it is one factor: a name, a number or a function's value."""
    head, bracket, _ = text.partition("(")
    plain = head.translate(str.maketrans("", "", "_^{}′."))
    if plain.isalnum() and "/" not in text and (not bracket or _closes_last(text, len(head))):
        return text
    return text if len(text) == 1 else f"({text})"


def _closes_last(text: str, start: int) -> bool:
    """Return whether the parenthesis that opens at `start` is closed by the text's last letter."""
    *depths, last = accumulate((letter == "(") - (letter == ")") for letter in text[start:])
    return last == 0 and 0 not in depths


def _with_limits(parts: Sequence[_Part], bars: Sequence[HorizontalRule]) -> list[_Part]:
    """Return the parts with the limits above and below large operators turned into scripts."""
    left = _with_arguments(parts)
    for operator in [part for part in left if part.text in _OPERATORS]:
        for above in (False, True):
            run = _limit(operator, left, bars, above=above)
            if run:
                size = min(_SCRIPT_SCALE * operator.size, run[0].size)
                script = replace(
                    _merged(operator, run),
                    text=_linearize(run),
                    x0=operator.x0 + _SCRIPT_X,
                    x1=operator.x0 + _SCRIPT_X,
                    size=size,
                    baseline=operator.baseline + (-_RAISED if above else _LOWERED) * size,
                )
                left = [*(part for part in left if part not in run), script]
    return left


def _with_arguments(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts with `arg` and the following `max` or `min` as one part."""
    left = list(parts)
    for head in [part for part in parts if part.text == "arg"]:
        level = [part for part in left if abs(part.baseline - head.baseline) < 1 and part.x0 >= head.x1]
        tail = min(level, key=lambda part: part.x0, default=head)
        if tail.text in ("max", "min"):
            left = [part for part in left if part not in (head, tail)]
            left.append(replace(head, text=f"arg {tail.text}", x1=tail.x1))
    return left


def _limit(operator: _Part, parts: Sequence[_Part], bars: Sequence[HorizontalRule], *, above: bool) -> list[_Part]:
    """Return the run of small parts centred above or below an operator, on its side of every bar."""
    cuts = [bar.y for bar in bars if bar.x0 < operator.center < bar.x1]
    low, high = _LIMIT_DISTANCE
    near = [
        part
        for part in parts
        if part.size < _LIMIT_SIZE * operator.size
        and low < (1 if above else -1) * (operator.baseline - part.baseline) / operator.size < high
        and not any(min(operator.middle, part.middle) < cut < max(operator.middle, part.middle) for cut in cuts)
    ]
    for run in runs_of(
        sorted(near, key=lambda part: part.x0),
        joins=lambda run, part: part.x0 - max(other.x1 for other in run) < _LIMIT_GAP * part.size,
    ):
        center = (min(part.x0 for part in run) + max(part.x1 for part in run)) / 2
        wide = operator.text.startswith("arg ") and operator.x0 < center < operator.x1
        if wide or abs(center - operator.center) < _LIMIT_OFFSET * operator.size:
            return run
    return []


def _linearize(parts: Sequence[_Part]) -> str:
    """Return the text: rows from top to bottom, scripts after their hosts, matrices between their delimiters."""
    if not parts:
        return ""
    # A sign may come from a larger font.
    letters = [part.size for part in parts if any(letter.isalnum() for letter in part.text)]
    size = max(letters or [part.size for part in parts])
    rows = _rows(parts, size=size)
    if len(rows) > 1:
        rows = _with_matrices(rows, size=size)
    return " ".join(_row_text(row, size=size) for row in rows)


def _rows(parts: Sequence[_Part], *, size: float) -> list[list[_Part]]:
    """Return rows by baseline; scripts belong to the row of their host."""
    rows = runs_of(
        sorted((part for part in parts if part.size >= _SCRIPT_SIZE * size), key=lambda part: part.baseline),
        joins=lambda row, part: part.baseline - row[0].baseline < _ROW_SHIFT * size,
    )
    for part in parts:
        if part.size < _SCRIPT_SIZE * size:
            min(rows, key=lambda row: _distance(part, row)).append(part)
    return rows


def _distance(script: _Part, row: Sequence[_Part]) -> float:
    """Return the distance of a script from a row, mainly from the part directly before it."""
    before = [part for part in row if part.size > script.size and part.x0 <= script.x0 + 0.5]
    host = max(before, key=lambda part: part.x0, default=row[0])
    gap = max(0.0, script.x0 - host.x1 - _SCRIPT_GAP * script.size)
    within = host.top <= script.baseline <= host.bottom + script.size
    return (_WITHIN if within else 1.0) * abs(host.baseline - script.baseline) + gap


def _with_matrices(rows: Sequence[Sequence[_Part]], *, size: float) -> list[list[_Part]]:
    """Return the rows with each group of rows between two delimiters, or after a brace, as one part."""
    left = [list(row) for row in rows]
    for index, row in enumerate(rows):
        for opening in sorted(row, key=lambda part: -part.x0):
            if opening not in left[index] or opening.text[-1] not in _OPENING:
                continue
            closing = _match(opening, left[index])
            if closing is None and opening.text[-1] != "{":
                continue
            inside = [[part for part in other if _is_between(part, opening, closing)] for other in left]
            filled = [
                number for number, cells in enumerate(inside) if any(part.size >= _SCRIPT_SIZE * size for part in cells)
            ]
            if not filled or not filled[0] < index < filled[-1]:
                continue
            matrix = _matrix(opening, closing, [inside[number] for number in filled], size=size)
            gone = {part for cells in inside for part in cells} | {opening, closing}
            left = [[part for part in other if part not in gone] for other in left]
            left[index].append(matrix)
    return [row for row in left if row]


def _match(opening: _Part, row: Sequence[_Part]) -> _Part | None:
    """Return the delimiter that closes a part."""
    depth = 0
    for part in sorted((part for part in row if part.x0 > opening.x0), key=lambda part: part.x0):
        if part.text[0] in _CLOSING and depth == 0:
            return part
        depth += part.text[-1] in _OPENING
        depth -= part.text[0] in _CLOSING
    return None


def _is_between(part: _Part, opening: _Part, closing: _Part | None) -> bool:
    inside = opening.x1 - 1 <= part.x0 and (closing is None or part.x1 <= closing.x0 + 1)
    return inside and part is not opening and part is not closing


def _matrix(opening: _Part, closing: _Part | None, rows: Sequence[Sequence[_Part]], *, size: float) -> _Part:
    cells = [part for row in rows for part in row]
    text = "; ".join(_row_text(row, size=size) for row in rows)
    return replace(
        _merged(opening, cells),
        text=f"{opening.text}{text}{closing.text if closing else ''}",
        x1=closing.x1 if closing else max(part.x1 for part in cells),
        size=size,
    )


def _row_text(row: Sequence[_Part], *, size: float) -> str:
    full = sorted((part for part in row if part.size >= _SCRIPT_SIZE * size), key=lambda part: part.x0)
    scripts: dict[_Part | None, list[_Part]] = {None: []}
    for part in row:
        if part.size < _SCRIPT_SIZE * size:
            before = [host for host in full if host.x0 <= part.x0 + 0.5]
            scripts.setdefault(before[-1] if before else None, []).append(part)
    text = _script(None, scripts[None])
    right: float | None = None
    composed = False
    for host in full:
        own = scripts.get(host, [])
        touches = (text[-1:].isalnum() or text[-1:] == "}") and host.text[0].isalnum()
        if (touches and (composed or _is_composed(host))) or (
            right is not None and host.x0 - right > _THIN_SPACE * size
        ):
            text += " "
        composed = bool(own) or _is_composed(host)
        text += host.text + _script(host, own)
        right = max([host.x1, *(part.x1 for part in own)])
    return text


def _is_composed(part: _Part) -> bool:
    """Return whether a part was merged from several, so that an adjacent letter would appear to belong to it."""
    return "/" in part.text or part.text.startswith("sqrt(")


def _script(host: _Part | None, parts: Sequence[_Part]) -> str:
    """Return the subscript of a host, then its superscript."""
    if not parts:
        return ""
    size = max(part.size for part in parts)
    level = host.baseline if host else max(part.baseline for part in parts) + 0.1
    first = [part for part in parts if part.size >= _SCRIPT_SIZE * size]
    lowered: list[_Part] = []
    raised: list[_Part] = []
    for part in parts:
        # A nested script follows the script before it at any height.
        before = [other for other in first if other.x0 <= part.x0 + 0.5 and part not in first]
        near = min(before, key=lambda other: abs(other.baseline - part.baseline) + part.x0 - other.x1, default=part)
        (raised if near.baseline <= level else lowered).append(part)
    return _marked(_linearize(lowered), raised=False) + _marked(_linearize(raised), raised=True)


def _marked(text: str, *, raised: bool) -> str:
    """`²`, `_i1`, `^{i+1}`; a prime or a star stays as it is."""
    shown = script_text(text, raised=raised)
    sign = "^" if raised else "_"
    if shown.startswith(f"{sign}(") or text.startswith(("(", "±")):
        return f"{sign}{{{text}}}"
    return shown
