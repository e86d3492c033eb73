"""Values in the text that differ from the cells of the tables that they cite."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Cell, Evidence, Paper, Passage, Table, places_of
from query.cells import CellNames, Statement
from query.numbers import Number, numbers_in
from query.papercheck.discrepancies import Discrepancy
from query.verification.number_checks import NumberMention, find_mentions

__all__ = ["find_wrong_citations"]

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
