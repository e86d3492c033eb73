"""One value against another: comparisons, differences, gains over a baseline, ratios."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paperscope.types import Claim
from query.embedded.align import Mention
from query.embedded.extremes import ranked, superlative
from query.embedded.grid import Datum, Part
from query.embedded.numbers import number_text
from query.embedded.phrase import claim, column_name, listed, part_names, row_name, table_name
from query.embedded.polarity import better_direction
from query.embedded.question import Question
from query.embedded.select import Level, Selection
from query.embedded.words import likeness, tokens

__all__ = ["compare", "gain_extreme", "gains", "ratio"]

_MOST_PAIRS = 4
_LESS = re.compile(r"\b(?:lower|less|smaller|fewer|shorter|below)\b")
_QUALITY = re.compile(r"\b(?:better|worse|outperform\w*|beats?|surpass\w*)\b")
_WORSE = re.compile(r"\bworse\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    """Two values that differ in the names `one` and `other` only."""

    one: Datum
    other: Datum
    names: tuple[Part, Part]

    @property
    def difference(self) -> float:
        return _number(self.one) - _number(self.other)

    @property
    def decimals(self) -> int:
        return max(self.one.value.decimals, self.other.value.decimals)

    @property
    def scope(self) -> str:
        shared = [part for part in (*self.one.row, *self.one.column) if part in self.other.parts]
        return part_names(shared)

    def subtraction(self) -> str:
        """ "94.90 − 94.37 = 0.53": the smaller from the greater."""
        high, low = sorted((self.one, self.other), key=_number, reverse=True)
        shown = number_text(abs(self.difference), self.decimals)
        return f"{_plain(high)} − {_plain(low)} = {shown}"


def compare(question: Question, selection: Selection) -> Claim | None:
    """How the first of two named values stands to the second; None where no pair is named."""
    pairs = _pairs(question, selection)
    if not pairs or len(pairs) > _MOST_PAIRS:
        return None
    table = selection.view.table
    text = " ".join(f"In {table_name(table)}, {_comparison(pair)}" for pair in pairs)
    verdict = _verdict(question, pairs)
    return claim(f"{verdict}{text}", table, [datum for pair in pairs for datum in (pair.one, pair.other)])


def ratio(question: Question, selection: Selection) -> Claim | None:
    """The first of two named values divided by the second."""
    pairs = [pair for pair in _pairs(question, selection) if _number(pair.other)]
    if len(pairs) != 1:
        return None
    pair, table = pairs[0], selection.view.table
    value = number_text(_number(pair.one) / _number(pair.other), 2)
    one, other = pair.names
    scope = f" for {pair.scope}" if pair.scope else ""
    text = (
        f"In {table_name(table)}, the ratio of {one.text} to {other.text}{scope} is "
        f"{pair.one.value.text} / {pair.other.value.text} = {value}."
    )
    return claim(text, table, (pair.one, pair.other))


def gains(question: Question, selection: Selection) -> Claim | None:
    """The change that a cell prints, or the difference to the row whose name the asked one extends ("BERT+DSC")."""
    pairs = _pairs(question, selection)
    if pairs:
        return None
    said, data = [], list[Datum]()
    for datum in selection.data:
        if datum.value.change is not None:
            said.append(
                f"{row_name(datum)} changes {column_name(datum)} by {datum.value.change_text} (to {_plain(datum)})"
            )
            data.append(datum)
        elif (base := _base(datum, selection)) is not None:
            pair = _Pair(one=datum, other=base, names=(datum.row[-1], base.row[-1]))
            said.append(_comparison(pair).removesuffix("."))
            data.extend((datum, base))
    if not said or len(said) > _MOST_PAIRS or not selection.mentions:
        return None
    return claim(f"In {table_name(selection.view.table)}, {listed(said)}.", selection.view.table, data)


def gain_extreme(question: Question, selection: Selection) -> Claim | None:
    """Who gains most (or least): over the named baseline, else by the changes that the cells print."""
    baseline = _baseline(question, selection)
    if baseline is None:
        data = [datum for datum in selection.data if datum.value.change is not None]
        changes = [datum.value.change or 0.0 for datum in data]
        shown = {id(datum): f"{datum.value.change_text} (to {_plain(datum)})" for datum in data}
        bases: dict[int, Datum] = {}
    else:
        pairs = _against(baseline, selection)
        data, changes = [pair.one for pair in pairs], [round(pair.difference, 10) for pair in pairs]
        shown = {id(pair.one): _signed(pair) for pair in pairs}
        bases = {id(pair.one): pair.other for pair in pairs}
    if len(data) < 2:
        return None
    winners = ranked(question, data, changes, caption="")
    if not winners:
        return None
    over = f" over {baseline.part.text}" if baseline is not None else ""
    said = listed([f"{row_name(datum)} under {column_name(datum)}: {shown[id(datum)]}" for datum in winners])
    text = f"In {table_name(selection.view.table)}, the {superlative(question)} improvement{over} is that of {said}."
    rested = [datum for winner in winners for datum in (winner, bases.get(id(winner))) if datum is not None]
    return claim(text, selection.view.table, rested)


def _pairs(question: Question, selection: Selection) -> list[_Pair]:
    for level, mentions in selection.levels().items():
        names = list(dict.fromkeys(mention.part for mention in mentions))
        if len(names) == 2 and mentions[0].at != mentions[-1].at:
            one, other = names
            if question.baseline is not None and question.baseline <= mentions[0].first and _leads(question):
                one, other = other, one
            return _matched(one, other, level, selection.data)
    return []


def _leads(question: Question) -> bool:
    # "Compared to BERT, how much better is XLNet?" turns the order round.
    return question.baseline is not None and question.baseline <= 3


def _matched(one: Part, other: Part, level: Level, data: Sequence[Datum]) -> list[_Pair]:
    others = {_rest(datum, level): datum for datum in data if other in datum.parts}
    found = [(datum, others.get(_rest(datum, level))) for datum in data if one in datum.parts]
    return [
        _Pair(one=datum, other=match, names=(one, other))
        for datum, match in found
        if match is not None and datum.value.number is not None and match.value.number is not None
    ]


def _rest(datum: Datum, level: Level) -> frozenset[Part]:
    return frozenset(part for part in datum.parts if (part.axis, part.level) != level)


def _comparison(pair: _Pair) -> str:
    one, other = pair.names
    scope = f"for {pair.scope}, " if pair.scope else ""
    told = f"{scope}{one.text} has {pair.one.value.text} and {other.text} has {pair.other.value.text}"
    if pair.difference == 0:
        return f"{told}: they are equal."
    way = "higher" if pair.difference > 0 else "lower"
    amount = number_text(abs(pair.difference), pair.decimals)
    return f"{told}: {one.text} is {way} by {amount} ({pair.subtraction()})."


def _verdict(question: Question, pairs: Sequence[_Pair]) -> str:
    if len(pairs) != 1 or question.choices:
        return ""
    if not question.polar or not question.text.endswith("?"):
        return ""
    lower = question.text.casefold()
    wanted = -1 if _LESS.search(lower) or _WORSE.search(lower) else 1
    if _QUALITY.search(lower):
        wanted *= better_direction(pairs[0].one)
    return "Yes. " if pairs[0].difference * wanted > 0 else "No. "


def _baseline(question: Question, selection: Selection) -> Mention | None:
    after = [
        mention
        for mention in selection.mentions
        if question.baseline is not None and mention.first >= question.baseline and mention.part.level != "section"
    ]
    rows = [mention for mention in after if mention.part.axis == "row"]
    return rows[0] if rows else None


def _against(baseline: Mention, selection: Selection) -> list[_Pair]:
    """Every other row against the baseline, in the columns that the question mentions."""
    level = (baseline.part.axis, baseline.part.level)
    columns = {datum.column for datum in selection.data}
    data = [datum for datum in selection.view.data if datum.column in columns]
    names = dict.fromkeys(
        part for datum in data for part in datum.row if part.level == baseline.part.level and part != baseline.part
    )
    return [pair for name in names for pair in _matched(name, baseline.part, level, data)]


def _base(datum: Datum, selection: Selection) -> Datum | None:
    """The value in the same column of the row whose name stands before the last sign of this row's name."""
    if not datum.row or datum.value.number is None:
        return None
    stem, sign, _ = datum.row[-1].text.rpartition("+")
    for other in selection.view.data:
        same = other.row and other.column == datum.column and other.row[:-1] == datum.row[:-1]
        if sign and same and other.row[-1].text.strip().casefold() == stem.strip().casefold():
            return other
    return None


def _signed(pair: _Pair) -> str:
    sign = "+" if pair.difference > 0 else "−"
    printed = f", printed as {pair.one.value.change_text}" if pair.one.value.change_text else ""
    return f"{sign}{number_text(abs(pair.difference), pair.decimals)} ({pair.subtraction()}{printed})"


def _plain(datum: Datum) -> str:
    """The number as printed, without its annotation."""
    return datum.value.text.split(" (")[0].split("(")[0].strip()


def _number(datum: Datum) -> float:
    return datum.value.number if datum.value.number is not None else 0.0
