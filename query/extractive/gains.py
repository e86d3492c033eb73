"""Improvements: those that cells print, and those over a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

from paperscope_core.types import Claim
from query.extractive.align import Mention
from query.extractive.extremes import ranked, superlative
from query.extractive.grid import Datum
from query.extractive.numbers import number_text
from query.extractive.pairs import Pair, matched, named_pairs, plain, rest
from query.extractive.phrase import claim, column_name, listed, row_name, table_name
from query.extractive.question import Question
from query.extractive.select import Selection

__all__ = ["gain_extreme", "gains"]


_MOST_GAINS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gain:
    """By how much a value lies above its baseline; `shown` says it in words, `data` are the cells it rests on."""

    amount: float
    shown: str
    data: tuple[Datum, ...]

    @property
    def name(self) -> str:
        """Whose gain it is, and in what."""
        return f"{row_name(self.data[0])} under {column_name(self.data[0])}"


def gains(question: Question, selection: Selection) -> Claim | None:
    """The gains of the selected values: as printed, else over the row whose name theirs extends ("BERT+DSC").

    None where the question names two values to compare, or the values have no gain.
    """
    if named_pairs(question, selection) or not selection.mentions:
        return None
    found = [gain for datum in selection.data if (gain := _printed(datum) or _extended(datum, selection)) is not None]
    if not 0 < len(found) <= _MOST_GAINS:
        return None
    said = listed([f"{gain.name} changes by {gain.shown}" for gain in found])
    table = selection.view.table
    return claim(f"In {table_name(table)}, {said}.", table, [datum for gain in found for datum in gain.data])


def gain_extreme(question: Question, selection: Selection) -> Claim | None:
    """Who gains most, or least: over the baseline that the question names, else by the changes that cells print."""
    baseline = _baseline(question, selection)
    printed = [gain for datum in selection.data if (gain := _printed(datum)) is not None]
    found = printed if baseline is None else _over(baseline, selection)
    if len(found) < 2:
        return None
    direction = question.direction or (1 if question.best else -1)
    winners = ranked(found, [gain.amount for gain in found], direction=direction, rank=question.rank)
    if not winners:
        return None
    over = f" over {baseline.part.text}" if baseline is not None else ""
    said = listed([f"{gain.name}: {gain.shown}" for gain in winners])
    table = selection.view.table
    text = f"In {table_name(table)}, the {superlative(question)} improvement{over} is that of {said}."
    return claim(text, table, [datum for gain in winners for datum in gain.data])


def _printed(datum: Datum) -> _Gain | None:
    change = datum.value.change
    if change is None:
        return None
    return _Gain(amount=change, shown=f"{datum.value.change_text} (to {plain(datum)})", data=(datum,))


def _computed(pair: Pair) -> _Gain:
    sign = "+" if pair.difference >= 0 else "−"
    shown = f"{sign}{number_text(abs(pair.difference), pair.decimals)} ({pair.subtraction()})"
    return _Gain(amount=pair.difference, shown=shown, data=(pair.one, pair.other))


def _extended(datum: Datum, selection: Selection) -> _Gain | None:
    """The gain over the row whose name stands before the last sign of this row's name."""
    names = [part for part in datum.row if not part.note]
    if not names or datum.value.number is None:
        return None
    part = names[-1]
    stem, _, addition = part.text.rpartition("+")
    level = (part.axis, part.level)
    peers = [other for other in selection.view.parts if (other.axis, other.level) == level and addition]
    bases = [other for other in peers if other.text.strip().casefold() == stem.strip().casefold()]
    pairs = [pair for base in bases for pair in matched(part, base, level, selection.view.data) if pair.one is datum]
    return _computed(pairs[0]) if pairs else None


def _baseline(question: Question, selection: Selection) -> Mention | None:
    """The first row that the question names as standard of comparison."""
    start = question.baseline
    rows = [mention for mention in selection.mentions if mention.part.axis == "row" and mention.part.level != "section"]
    behind = [mention for mention in rows if start is not None and mention.first >= start]
    return min(behind, key=lambda mention: mention.first, default=None)


def _over(baseline: Mention, selection: Selection) -> Sequence[_Gain]:
    """The gains of all other rows over the baseline's, in the columns and sections that the question mentions."""
    level = (baseline.part.axis, baseline.part.level)
    rests = {rest(datum, level) for datum in selection.data}
    data = [datum for datum in selection.view.data if rest(datum, level) in rests]
    names = dict.fromkeys(part for datum in data for part in datum.row if (part.axis, part.level) == level)
    pairs = [pair for name in names if name != baseline.part for pair in matched(name, baseline.part, level, data)]
    return [_computed(pair) for pair in pairs]
