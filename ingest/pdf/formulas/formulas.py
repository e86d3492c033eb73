"""Display formulas as one line of text: `lg((n − n_t)/n_t + K)`, `∑_{i=1}^N x_i`, `sqrt(x)`, `{x if x > 0; 0 else}`."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.formulas.parts import OPERATORS, Part, delimiters_joined, part_of
from ingest.pdf.formulas.rows import linear
from ingest.pdf.page.words import Word

__all__ = ["read_formula"]

_ADJACENT = 0.6
_OVERHANG = 1.6


def read_formula(words: Sequence[Word], bars: Sequence[HorizontalRule]) -> str:
    """The formula that words and bars (of fractions and roots) print; "" without words.

    Bars are folded from the narrowest on: what a fraction or a root holds is narrower than itself.
    """
    parts = delimiters_joined([part_of(word) for word in words])
    parts = _with_limits(parts, bars)
    roots = _roots(parts, bars)
    for bar in sorted(bars, key=lambda bar: bar.x1 - bar.x0):
        others = [other for other in bars if other is not bar]
        parts = _with_root(parts, bar, roots[bar]) if bar in roots else _with_fraction(parts, bar, others)
    return linear(parts)


def _roots(parts: Sequence[Part], bars: Sequence[HorizontalRule]) -> dict[HorizontalRule, Part]:
    """The sign of each bar that continues a root: of the bars that begin where a sign ends, the highest."""
    roots: dict[HorizontalRule, Part] = {}
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


def _with_root(parts: Sequence[Part], bar: HorizontalRule, sign: Part) -> list[Part]:
    """The parts with a root as one."""
    strokes = {part for part in parts if part.text == "⎸" and sign.x0 - 2 < part.x0 < sign.x1 + 2}
    inside = _next_to(bar, [part for part in parts if part is not sign and part not in strokes], below=True)
    if not inside:
        return list(parts)
    text = linear(inside)
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


def _with_fraction(parts: Sequence[Part], bar: HorizontalRule, others: Sequence[HorizontalRule]) -> list[Part]:
    """The parts with the fraction of the bar as one, unless nothing stands above or below it."""
    over = _next_to(bar, parts, below=False)
    under = _next_to(bar, parts, below=True)
    if not over or not under or any(_between(bar, other, over, under) for other in others):
        return list(parts)
    size = _size_at(bar, parts, max(part.size for part in (*over, *under)))
    fraction = Part(
        text=f"{_bracketed(linear(over))}/{_bracketed(linear(under))}",
        x0=bar.x0,
        x1=bar.x1,
        baseline=bar.y + 0.25 * size,
        size=size,
        top=min(part.top for part in over),
        bottom=max(part.bottom for part in under),
    )
    gone = {*over, *under}
    return [*(part for part in parts if part not in gone), fraction]


def _size_at(bar: HorizontalRule, parts: Sequence[Part], size: float) -> float:
    """The letter size of the row on whose axis a bar lies, else its own: a fraction may be set in smaller letters."""
    beside = [
        part.size
        for part in parts
        if abs(part.baseline - 0.25 * part.size - bar.y) < 0.1 * part.size
        and min(abs(part.x0 - bar.x1), abs(bar.x0 - part.x1)) < 3 * part.size
    ]
    return max([size, *beside])


def _next_to(bar: HorizontalRule, parts: Sequence[Part], *, below: bool) -> list[Part]:
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


def _between(bar: HorizontalRule, other: HorizontalRule, over: Sequence[Part], under: Sequence[Part]) -> bool:
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


def _with_limits(parts: Sequence[Part], bars: Sequence[HorizontalRule]) -> list[Part]:
    """The parts with the limits above and below large operators made scripts of them."""
    left = _with_arguments(parts)
    for operator in [part for part in left if part.text in OPERATORS]:
        for above in (False, True):
            run = _limit(operator, left, bars, above=above)
            if run:
                at = operator.x0 + 0.3
                text = linear(run)
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


def _with_arguments(parts: Sequence[Part]) -> list[Part]:
    """The parts with `arg` and the `max` or `min` behind it as one."""
    left = list(parts)
    for head in [part for part in parts if part.text == "arg"]:
        level = [part for part in left if abs(part.baseline - head.baseline) < 1 and part.x0 >= head.x1]
        tail = min(level, key=lambda part: part.x0, default=head)
        if tail.text in ("max", "min"):
            left = [part for part in left if part not in (head, tail)]
            left.append(replace(head, text=f"arg {tail.text}", x1=tail.x1))
    return left


def _limit(operator: Part, parts: Sequence[Part], bars: Sequence[HorizontalRule], *, above: bool) -> list[Part]:
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
    runs: list[list[Part]] = []
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
