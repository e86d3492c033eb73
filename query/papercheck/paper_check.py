"""Checks the numbers of a paper against each other: in tables, between text and tables, and in reported tests.

P-values are recomputed from the test statistics beside them, as statcheck does: Nuijten et al., "The prevalence of
statistical reporting errors in psychology", Behavior Research Methods 48 (2016): a result is "t(28) = 2.20, p = .036".
Its p-value is wrong if no statistic that rounds to the printed one has it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import groupby

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Cell, Evidence, Paper, Passage, Table, places_of
from query.cells import CellNames, Statement
from query.number_grid import NumberGrid, sound_tables
from query.numbers import Number, numbers_in
from query.papercheck.table_checks import Discrepancy, find_broken_identities, find_wrong_bold
from query.verification.number_checks import NumberMention, find_mentions

__all__ = ["check_paper"]


def check_paper(paper: Paper) -> tuple[Discrepancy, ...]:
    """Return the numbers of a paper that do not fit together, tables first. It calls no model."""
    return tuple(_discrepancies(paper))


def _discrepancies(paper: Paper) -> Iterator[Discrepancy]:
    tables = {table.id: table for table in sound_tables(paper)}
    for table in tables.values():
        grid = NumberGrid(table)
        yield from find_broken_identities(grid)
        yield from find_wrong_bold(grid)
    yield from find_wrong_citations(paper, tables)
    yield from find_wrong_p_values(paper)


# Shorter numbers are alike by chance; of this length, too, if the sentence leaves several cells open.
_LEAST_DIGITS = 3


def find_wrong_citations(paper: Paper, tables: Mapping[str, Table]) -> Iterator[Discrepancy]:
    """Yield the values of the text that a cell prints with one other digit, or with two digits exchanged.

    The text must name the table, and one cell of it, or several of which it states others; the value must not be
    printed in any table of the paper.

    Args:
        tables: Its tables whose grids are certain, by id.
    """
    elements = {element.id: element for element in paper.elements}
    printed = {
        number.value
        for table in paper.elements
        if isinstance(table, Table)
        for text in (table.caption, *(cell.text for cell in table.cells))
        for number in numbers_in(text)
    }
    names = {table: CellNames(tables[table]) for table in tables}
    for source, links in groupby(sorted(paper.links, key=lambda link: link.source), key=lambda link: link.source):
        passage = elements.get(source)
        cited = {link.target for link in links if isinstance(elements.get(link.target), Table)}
        if isinstance(passage, Passage) and len(cited) == 1 and (table := cited.pop()) in tables:
            for sentence in split_sentences(passage.text):
                for mention, cell in _differing(sentence, names[table]):
                    if mention.number.value not in printed:
                        yield _discrepancy(passage, sentence, mention, tables[table], cell)


def _differing(sentence: str, names: CellNames) -> Iterator[tuple[NumberMention, Cell]]:
    """Yield the numbers of a sentence, each with the one cell that it names and that prints a similar number."""
    mentions = list(find_mentions(sentence, telling=names.telling, names=names.forms))
    for mention in mentions:
        number = mention.number
        digits = len(re.sub(r"\D", "", number.text))
        if number.unit >= 1 or number.sign or digits < _LEAST_DIGITS:
            continue
        named = names.named(Statement.of(mention.named or sentence))
        values = {cell: found for cell in named if (found := next(numbers_in(cell.text), None)) is not None}
        others = {one.number.value for one in mentions if one is not mention}
        left = {cell: found for cell, found in values.items() if found.value not in others}
        alike = [cell for cell, found in left.items() if _differs_slightly(number, found)]
        beside = len(left) < len(values) and (digits > _LEAST_DIGITS or len(left) == 1)
        if len(alike) == 1 and (len(named) == 1 or beside):
            yield mention, alike[0]


def _differs_slightly(one: Number, other: Number) -> bool:
    """Return whether two numbers of as many decimals differ in one digit, or in the order of two neighbours."""
    first, second = str(one.value), str(other.value)
    if len(first) != len(second) or one.unit != other.unit:
        return False
    places = [at for at, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]]
    if len(places) == 1:
        return True
    exchanged = [first[at] for at in reversed(places)] == [second[at] for at in places]
    return len(places) == 2 and exchanged


def _discrepancy(passage: Passage, sentence: str, mention: NumberMention, table: Table, cell: Cell) -> Discrepancy:
    place, *more = places_of(passage, sentence)
    stated = Evidence(element=passage.id, place=place, quote=sentence, more_places=tuple(more))
    return Discrepancy(
        kind="cited_value",
        arithmetic=f"{mention.number.text} in the text, {cell.text} in {table.label or 'the table'}",
        evidence=(stated, Evidence(element=table.id, place=cell.place, quote=cell.text)),
    )


_DECIMAL = r"\d{0,6}\.?\d{1,6}"
_RESULT = re.compile(
    rf"(?<![\w.])(?P<name>[tFrzZ]|[\u03c7X\u03a7]\s?\^?\(?2\)?)\s?"
    rf"(?:\(\s?(?P<first>{_DECIMAL})\s?(?:,\s?(?:[Nn]\s?=\s?)?(?P<second>(?:\d{{1,3}},)*+{_DECIMAL})\s?)?\))?\s?=\s?"
    rf"(?P<sign>-?)\s?(?P<value>{_DECIMAL})\s?[,;]\s?p\s?(?P<relation>[<>=])\s?(?P<p>0?\.\d{{1,6}}|0|1(?:\.0+)?)(?!\d)"
)
# The p-value of one of several comparisons may be multiplied by their number.
_CORRECTED = re.compile(r"(?i)bonferroni|holm|tukey|\bFDR\b|\b(?:un)?corrected|\badjusted")
_MINUS = re.compile(r"[\u2010-\u2013\u2212]")


def find_wrong_p_values(paper: Paper) -> Iterator[Discrepancy]:
    """Yield the p-values of the text that do not belong to their test statistics."""
    for passage in paper.elements:
        if isinstance(passage, Passage) and passage.role in ("abstract", "paragraph", "list", "footnote"):
            if _CORRECTED.search(passage.text) or passage.place.page in paper.doubtful_pages:
                continue
            # Each replacement is of one character, so that the places in the text stay.
            text = _MINUS.sub("-", "".join(map(_plain, passage.text)))
            for match in _RESULT.finditer(text):
                if shown := _contradiction(match):
                    quote = passage.text[match.start() : match.end()]
                    statistic = " ".join(passage.text[match.start() : match.end("value")].split())
                    place, *more = places_of(passage, quote)
                    evidence = Evidence(element=passage.id, place=place, quote=quote, more_places=tuple(more))
                    yield Discrepancy(kind="p_value", arithmetic=f"{statistic} has {shown}", evidence=(evidence,))


def _plain(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character


def _contradiction(match: re.Match[str]) -> str:
    """Return what p-value the statistic has if the printed p-value does not belong to the statistic, else ""."""
    tail = _tail(match)
    if tail is None:
        return ""
    value, half = float(match["value"]), _half(match["value"])
    most, least = tail(max(0.0, value - half)), tail(value + half)
    stated, slack = float(match["p"]), _half(match["p"])
    sided = match["name"] in "trzZ"
    for low, high in ((least, most), *([(least / 2, most / 2)] if sided else [])):
        if match["relation"] == "=" and low <= stated + slack and stated - slack <= high:
            return ""
        if (match["relation"] == "<" and low < stated) or (match["relation"] == ">" and high > stated):
            return ""
    shown = " to ".join(dict.fromkeys((f"{least:.3g}", f"{most:.3g}")))
    return f"p = {shown}{', two-sided' if sided else ''}; printed: p {match['relation']} {match['p']}"


def _half(text: str) -> float:
    return float(Decimal(5).scaleb(-len(text.partition(".")[2]) - 1))


def _tail(match: re.Match[str]) -> Callable[[float], float] | None:
    """Return the function from a statistic to its p-value; None if its degrees of freedom are missing."""
    from scipy import special

    first, second = (float((match[group] or "0").replace(",", "")) for group in ("first", "second"))
    name = match["name"]
    if name in "zZ":
        return None if first else lambda value: float(2 * special.ndtr(-value))
    if first <= 0 or (name == "F" and second <= 0):
        return None
    if name == "F":
        return lambda value: float(special.fdtrc(first, second, value))
    if name not in "tr":
        return lambda value: float(special.chdtrc(first, value))

    def of_t(value: float) -> float:
        if name == "r":
            value *= (first / max(1e-12, 1 - value * value)) ** 0.5
        return float(2 * special.stdtr(first, -value))

    return of_t
