"""Formulas as one line of text: `lg((n − n_t)/n_t + K)`, `∑_{i=1}^N x_i`, `sqrt(x)`, `{x if x > 0; 0 else}`."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.document.pages import HorizontalRule
from ingest.pdf.lines import script_text
from ingest.pdf.words import Word

__all__ = ["OPERATORS", "FormulaPart", "join_delimiters", "linearize", "part_of", "read_formula"]


OPERATORS = frozenset("∑∏∫⋃⋂") | {"max", "min", "lim", "sup", "inf", "argmax", "argmin", "arg max", "arg min"}
_SIGNS = frozenset("∑∏∫⋃⋂")
_PIECES = {
    **dict.fromkeys("⎛⎜⎝", "("),
    **dict.fromkeys("⎞⎟⎠", ")"),
    **dict.fromkeys("⎡⎢⎣", "["),
    **dict.fromkeys("⎤⎥⎦", "]"),
    **dict.fromkeys("⎧⎨⎩", "{"),
    **dict.fromkeys("⎫⎬⎭", "}"),
    "⎪": "",
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FormulaPart:
    """A word, or several parts read into one; it spans `top` to `bottom`, its letters stand on `baseline`."""

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    top: float
    bottom: float

    @property
    def center(self) -> float:
        """The x of the middle."""
        return (self.x0 + self.x1) / 2

    @property
    def middle(self) -> float:
        """The y of the middle."""
        return (self.top + self.bottom) / 2


def part_of(word: Word) -> FormulaPart:
    """The word as a part, its mathematical letters as plain ones (𝑥 as x)."""
    text = "".join(_plain(letter) for letter in word.text)
    stretch = 0.35 * word.size if text in _SIGNS else 0.0
    return FormulaPart(
        text=text,
        x0=word.x0,
        x1=word.x1,
        baseline=word.baseline,
        size=word.size,
        top=word.y0 - stretch,
        bottom=word.y1 + stretch,
    )


def _plain(letter: str) -> str:
    styled = letter == "ℎ" or 0x1D400 <= ord(letter[0]) < 0x1D800
    return unicodedata.normalize("NFKC", letter) if styled else letter


def join_delimiters(parts: Sequence[FormulaPart]) -> list[FormulaPart]:
    """The parts with the pieces of a tall delimiter, one above the other, as one in their middle."""
    whole = [part for part in parts if part.text not in _PIECES]
    columns: list[list[FormulaPart]] = []
    for piece in sorted((part for part in parts if part.text in _PIECES), key=lambda part: part.baseline):
        column = next((column for column in columns if _goes_on(column[-1], piece)), None)
        if column is None:
            columns.append([piece])
        else:
            column.append(piece)
    for column in columns:
        text = max((_PIECES[piece.text] for piece in column), default="")
        top, bottom = min(piece.top for piece in column), max(piece.bottom for piece in column)
        if text:
            first = column[0]
            baseline = (column[0].baseline + column[-1].baseline) / 2
            whole.append(
                FormulaPart(
                    text=text, x0=first.x0, x1=first.x1, baseline=baseline, size=first.size, top=top, bottom=bottom
                )
            )
    return whole


def _goes_on(last: FormulaPart, piece: FormulaPart) -> bool:
    same = _PIECES[last.text] == _PIECES[piece.text] or not _PIECES[last.text] or not _PIECES[piece.text]
    return same and abs(last.x0 - piece.x0) < 1.5 and piece.baseline - last.baseline < 2.2 * piece.size


_SMALL = 0.85
_OPENING = frozenset("([{|‖⌊⌈⟨")
_CLOSING = frozenset(")]}|‖⌋⌉⟩")


def linearize(parts: Sequence[FormulaPart]) -> str:
    """Rows from top to bottom, scripts behind what they belong to, the rows of a matrix between its delimiters."""
    if not parts:
        return ""
    size = _full_size(parts)
    rows = _rows(parts, size=size)
    if len(rows) > 1:
        rows = _nested(rows, size=size)
    return " ".join(_row_text(row, size=size) for row in rows)


def _full_size(parts: Sequence[FormulaPart]) -> float:
    """The size of the largest letters; a sign may come from a larger font."""
    letters = [part.size for part in parts if any(letter.isalnum() for letter in part.text)]
    return max(letters or [part.size for part in parts])


def _rows(parts: Sequence[FormulaPart], *, size: float) -> list[list[FormulaPart]]:
    """Rows by baseline; scripts go to the row of the part before them."""
    rows: list[list[FormulaPart]] = []
    for part in sorted((part for part in parts if part.size >= _SMALL * size), key=lambda part: part.baseline):
        if rows and part.baseline - rows[-1][0].baseline < 0.45 * size:
            rows[-1].append(part)
        else:
            rows.append([part])
    for part in parts:
        if part.size < _SMALL * size:
            min(rows, key=lambda row: _distance(part, row)).append(part)
    return rows


def _distance(script: FormulaPart, row: Sequence[FormulaPart]) -> float:
    """How far a script stands from a row, most of all from the part just before it."""
    before = [part for part in row if part.size > script.size and part.x0 <= script.x0 + 0.5]
    host = max(before, key=lambda part: part.x0, default=row[0])
    gap = max(0.0, script.x0 - host.x1 - 4 * script.size)
    if host.top <= script.baseline <= host.bottom + script.size:
        return 0.1 * abs(host.baseline - script.baseline) + gap
    return abs(host.baseline - script.baseline) + gap


def _nested(rows: Sequence[Sequence[FormulaPart]], *, size: float) -> list[list[FormulaPart]]:
    """Fold what stands in several rows between two delimiters, or behind a brace, into the row of the delimiters."""
    left = [list(row) for row in rows]
    for index, row in enumerate(rows):
        for opening in sorted(row, key=lambda part: -part.x0):
            if opening not in left[index] or opening.text[-1] not in _OPENING:
                continue
            closing = _match(opening, left[index])
            if closing is None and opening.text[-1] != "{":
                continue
            inside = [[part for part in other if _within(part, opening, closing)] for other in left]
            filled = [
                number for number, cells in enumerate(inside) if any(part.size >= _SMALL * size for part in cells)
            ]
            if not filled or not filled[0] < index < filled[-1]:
                continue
            matrix = _matrix(opening, closing, [inside[number] for number in filled], size=size)
            gone = {part for cells in inside for part in cells} | {opening, closing}
            left = [[part for part in other if part not in gone] for other in left]
            left[index].append(matrix)
    return [row for row in left if row]


def _match(opening: FormulaPart, row: Sequence[FormulaPart]) -> FormulaPart | None:
    """The part that closes what a part opens."""
    depth = 0
    for part in sorted((part for part in row if part.x0 > opening.x0), key=lambda part: part.x0):
        if part.text[0] in _CLOSING and depth == 0:
            return part
        depth += part.text[-1] in _OPENING
        depth -= part.text[0] in _CLOSING
    return None


def _within(part: FormulaPart, opening: FormulaPart, closing: FormulaPart | None) -> bool:
    inside = opening.x1 - 1 <= part.x0 and (closing is None or part.x1 <= closing.x0 + 1)
    return inside and part is not opening and part is not closing


def _matrix(
    opening: FormulaPart, closing: FormulaPart | None, rows: Sequence[Sequence[FormulaPart]], *, size: float
) -> FormulaPart:
    cells = [part for row in rows for part in row]
    text = "; ".join(_row_text(row, size=size) for row in rows)
    return replace(
        opening,
        text=f"{opening.text}{text}{closing.text if closing else ''}",
        x1=closing.x1 if closing else max(part.x1 for part in cells),
        size=size,
        top=min(part.top for part in cells),
        bottom=max(part.bottom for part in cells),
    )


def _script(host: FormulaPart | None, parts: Sequence[FormulaPart]) -> str:
    """What stands lower than its host, then what stands higher."""
    if not parts:
        return ""
    size = max(part.size for part in parts)
    level = host.baseline if host else max(part.baseline for part in parts) + 0.1
    first = [part for part in parts if part.size >= _SMALL * size]
    sides: tuple[list[FormulaPart], list[FormulaPart]] = ([], [])
    for part in parts:
        # The script of a script goes with the one before it, however high it stands.
        before = [other for other in first if other.x0 <= part.x0 + 0.5 and part not in first]
        near = min(before, key=lambda other: abs(other.baseline - part.baseline) + part.x0 - other.x1, default=part)
        sides[near.baseline <= level].append(part)
    return _marked(linearize(sides[0]), raised=False) + _marked(linearize(sides[1]), raised=True)


def _marked(text: str, *, raised: bool) -> str:
    """`²`, `_i1`, `^{i+1}`; a prime or a star stands as it is."""
    shown = script_text(text, raised=raised)
    sign = "^" if raised else "_"
    if shown.startswith(f"{sign}(") or text.startswith(("(", "±")):
        return f"{sign}{{{text}}}"
    return shown


def _row_text(row: Sequence[FormulaPart], *, size: float) -> str:
    full = sorted((part for part in row if part.size >= _SMALL * size), key=lambda part: part.x0)
    scripts: dict[FormulaPart | None, list[FormulaPart]] = {}
    for part in row:
        if part.size < _SMALL * size:
            before = [host for host in full if host.x0 <= part.x0 + 0.5]
            scripts.setdefault(before[-1] if before else None, []).append(part)
    text = _script(None, scripts.get(None, []))
    right: float | None = None
    composed = False
    for host in full:
        own = scripts.get(host, [])
        runs_on = (
            (text[-1:].isalnum() or text[-1:] == "}") and host.text[0].isalnum() and (composed or _is_composed(host))
        )
        if runs_on or (right is not None and host.x0 - right > 0.12 * size):
            text += " "
        composed = bool(own) or _is_composed(host)
        text += host.text + _script(host, own)
        right = max([host.x1, *(part.x1 for part in own)])
    return text


def _is_composed(part: FormulaPart) -> bool:
    """Whether a part was read from several, so that a letter beside it would seem to belong to it."""
    return "/" in part.text or part.text.startswith("sqrt(")


_ADJACENT = 0.6
_OVERHANG = 1.6


def read_formula(words: Sequence[Word], bars: Sequence[HorizontalRule]) -> str:
    """The formula that words and bars (of fractions and roots) print; "" without words.

    Bars are folded from the narrowest on: what a fraction or a root holds is narrower than itself.
    """
    parts = join_delimiters([part_of(word) for word in words])
    parts = _with_limits(parts, bars)
    roots = _roots(parts, bars)
    for bar in sorted(bars, key=lambda bar: bar.x1 - bar.x0):
        others = [other for other in bars if other is not bar]
        parts = _with_root(parts, bar, roots[bar]) if bar in roots else _with_fraction(parts, bar, others)
    return linearize(parts)


def _roots(parts: Sequence[FormulaPart], bars: Sequence[HorizontalRule]) -> dict[HorizontalRule, FormulaPart]:
    """The sign of each bar that continues a root: of the bars that begin where a sign ends, the highest."""
    roots: dict[HorizontalRule, FormulaPart] = {}
    for sign in parts:
        if sign.text not in ("√", "⎷"):
            continue
        begun = [
            bar
            for bar in bars
            if abs(sign.x1 - bar.x0) < 0.2 * sign.size + 0.5
            and -0.3 * sign.size < sign.baseline - bar.y < 8 * sign.size
        ]
        if begun:
            roots[min(begun, key=lambda bar: bar.y)] = sign
    return roots


def _with_root(parts: Sequence[FormulaPart], bar: HorizontalRule, sign: FormulaPart) -> list[FormulaPart]:
    """The parts with a root as one."""
    strokes = {part for part in parts if part.text == "⎸" and sign.x0 - 2 < part.x0 < sign.x1 + 2}
    inside = _next_to(bar, [part for part in parts if part is not sign and part not in strokes], below=True)
    if not inside:
        return list(parts)
    text = linearize(inside)
    level = max(inside, key=lambda part: part.size)
    root = replace(
        level,
        text=f"sqrt({text})",
        x0=sign.x0,
        x1=bar.x1,
        top=bar.y,
        bottom=max(part.bottom for part in inside),
    )
    gone = {sign, *strokes, *inside}
    return [*(part for part in parts if part not in gone), root]


def _with_fraction(
    parts: Sequence[FormulaPart], bar: HorizontalRule, others: Sequence[HorizontalRule]
) -> list[FormulaPart]:
    """The parts with the fraction of the bar as one, unless nothing stands above or below it."""
    over = _next_to(bar, parts, below=False)
    under = _next_to(bar, parts, below=True)
    if not over or not under or any(_between(bar, other, over, under) for other in others):
        return list(parts)
    size = _size_at(bar, parts, max(part.size for part in (*over, *under)))
    fraction = FormulaPart(
        text=f"{_bracketed(linearize(over))}/{_bracketed(linearize(under))}",
        x0=bar.x0,
        x1=bar.x1,
        baseline=bar.y + 0.25 * size,
        size=size,
        top=min(part.top for part in over),
        bottom=max(part.bottom for part in under),
    )
    gone = {*over, *under}
    return [*(part for part in parts if part not in gone), fraction]


def _size_at(bar: HorizontalRule, parts: Sequence[FormulaPart], size: float) -> float:
    """The letter size of the row on whose axis a bar lies, else its own: a fraction may be set in smaller letters."""
    beside = [
        part.size
        for part in parts
        if abs(part.baseline - 0.25 * part.size - bar.y) < 0.1 * part.size
        and min(abs(part.x0 - bar.x1), abs(bar.x0 - part.x1)) < 3 * part.size
    ]
    return max([size, *beside])


def _next_to(bar: HorizontalRule, parts: Sequence[FormulaPart], *, below: bool) -> list[FormulaPart]:
    """The parts above or below a bar and within its ends, that stand next to it, and what stands beside them."""
    within = [part for part in parts if bar.x0 - _OVERHANG <= part.x0 and part.x1 <= bar.x1 + _OVERHANG]
    if below:
        side = [part for part in within if part.middle > bar.y]
        near = [part for part in side if part.top - bar.y < _ADJACENT * part.size]
    else:
        side = [part for part in within if part.middle < bar.y]
        near = [part for part in side if bar.y - part.bottom < _ADJACENT * part.size]
    found = {*near}
    while found:
        top, bottom = min(part.top for part in found), max(part.bottom for part in found)
        more = {part for part in side if min(part.bottom, bottom) - max(part.top, top) > 0.15 * part.size} | found
        if len(more) == len(found):
            break
        found = more
    return [part for part in parts if part in found]


def _between(
    bar: HorizontalRule, other: HorizontalRule, over: Sequence[FormulaPart], under: Sequence[FormulaPart]
) -> bool:
    """Whether another bar cuts a bar from the parts beside it: they are that one's."""
    if min(bar.x1, other.x1) - max(bar.x0, other.x0) < 0.5 * (bar.x1 - bar.x0):
        return False
    above = max(part.bottom for part in over)
    beneath = min(part.top for part in under)
    return above - 1 < other.y < bar.y - 0.5 or bar.y + 0.5 < other.y < beneath + 1


def _bracketed(text: str) -> str:
    """The text, in parentheses unless it is one factor: a name, a number or a function's value."""
    head, bracket, _ = text.partition("(")
    plain = head.replace("_", "").replace("^", "").replace("{", "").replace("}", "").replace("′", "").replace(".", "")
    if plain.isalnum() and "/" not in text and (not bracket or _closes_last(text, len(head))):
        return text
    return text if len(text) == 1 else f"({text})"


def _closes_last(text: str, start: int) -> bool:
    """Whether the parenthesis that opens at `start` is closed by the text's last letter."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _with_limits(parts: Sequence[FormulaPart], bars: Sequence[HorizontalRule]) -> list[FormulaPart]:
    """The parts with the limits above and below large operators made scripts of them."""
    left = _with_arguments(parts)
    for operator in [part for part in left if part.text in OPERATORS]:
        for above in (False, True):
            run = _limit(operator, left, bars, above=above)
            if run:
                at = operator.x0 + 0.3
                text = linearize(run)
                size = min(0.7 * operator.size, run[0].size)
                left = [part for part in left if part not in run]
                left.append(
                    replace(
                        operator,
                        text=text,
                        x0=at,
                        x1=at,
                        size=size,
                        baseline=operator.baseline + (-0.5 if above else 0.4) * size,
                        top=min(part.top for part in run),
                        bottom=max(part.bottom for part in run),
                    )
                )
    return left


def _with_arguments(parts: Sequence[FormulaPart]) -> list[FormulaPart]:
    """The parts with `arg` and the `max` or `min` behind it as one."""
    left = list(parts)
    for head in [part for part in parts if part.text == "arg"]:
        level = [part for part in left if abs(part.baseline - head.baseline) < 1 and part.x0 >= head.x1]
        tail = min(level, key=lambda part: part.x0, default=head)
        if tail.text in ("max", "min"):
            left = [part for part in left if part not in (head, tail)]
            left.append(replace(head, text=f"arg {tail.text}", x1=tail.x1))
    return left


def _limit(
    operator: FormulaPart, parts: Sequence[FormulaPart], bars: Sequence[HorizontalRule], *, above: bool
) -> list[FormulaPart]:
    """The run of small parts centred above or below an operator, on its side of every bar."""
    cuts = [bar.y for bar in bars if bar.x0 < operator.center < bar.x1]
    near = [
        part
        for part in parts
        if part.size < 0.85 * operator.size
        and 0.45
        < (operator.baseline - part.baseline if above else part.baseline - operator.baseline) / operator.size
        < 2
        and not any(min(operator.middle, part.middle) < cut < max(operator.middle, part.middle) for cut in cuts)
    ]
    runs: list[list[FormulaPart]] = []
    for part in sorted(near, key=lambda part: part.x0):
        if runs and part.x0 - max(other.x1 for other in runs[-1]) < 0.5 * part.size:
            runs[-1].append(part)
        else:
            runs.append([part])
    for run in runs:
        center = (min(part.x0 for part in run) + max(part.x1 for part in run)) / 2
        wide = operator.text.startswith("arg ") and operator.x0 < center < operator.x1
        if wide or abs(center - operator.center) < 0.35 * operator.size:
            return run
    return []
