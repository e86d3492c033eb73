"""Right answers to plant in: as the product gives them, and as a language model would that cites whole rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluation.metrics.quantities import as_number
from paperscope_core.protocols import Corpus
from paperscope_core.types import Cell, Claim, Context, ContextSource, Table
from query import Cited, Verified, verify
from query.evidence import EvidenceFinder

__all__ = ["RightAnswer", "cited_by_model", "composed", "given"]


_Change = Callable[[str], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class RightAnswer:
    """A right answer. `claims` gives the claims with their evidence, as whoever wrote `text` would have made them had
    they written it with a change; `kind` tells who that is, or what was composed."""

    kind: str
    question: str
    text: str
    claims: Callable[[_Change], tuple[Claim, ...]]
    store: Corpus

    def verified(self, change: _Change = str) -> Verified:
        """What verification says of the answer once its words are changed."""
        claims = self.claims(change)
        ids = {evidence.element for claim in claims for evidence in claim.evidence}
        cited = Cited(elements={element: self.store.element(element) for element in ids})
        return verify(question=self.question, text=change(self.text), claims=claims, cited=cited)

    def tables(self) -> list[Table]:
        """The tables that it cites."""
        ids = {evidence.element: None for claim in self.claims(str) for evidence in claim.evidence}
        elements = [self.store.element(element) for element in ids]
        return [element for element in elements if isinstance(element, Table)]


def given(question: str, text: str, claims: Sequence[Claim], *, store: Corpus) -> RightAnswer:
    """An answer as the product gave it: its evidence stays what it was, whatever its words become."""

    def changed(change: _Change) -> tuple[Claim, ...]:
        return tuple(Claim(text=change(claim.text), evidence=claim.evidence) for claim in claims)

    return RightAnswer(kind="given", question=question, text=text, claims=changed, store=store)


def cited_by_model(
    question: str, text: str, elements: Sequence[str], *, store: Corpus, kind: str = "cited"
) -> RightAnswer:
    """An answer as a language model gives it: one claim that cites the rows of these elements, and the evidence is
    looked for by what the claim says, right or wrong."""
    chunks = store.chunks_of(elements)
    sources = tuple(
        ContextSource(id=number, content=chunk.shown, element=chunk.elements[0], place=chunk.place)
        for number, chunk in enumerate(chunks)
    )
    finder = EvidenceFinder(corpus=store, context=Context(sources=sources), question=question)

    def claims(change: _Change) -> tuple[Claim, ...]:
        said = change(text)
        found = [evidence for source in sources for evidence in finder.find(f"S{source.id}", claim=said)]
        return (Claim(text=said, evidence=tuple(dict.fromkeys(found))),)

    return RightAnswer(kind=kind, question=question, text=text, claims=claims, store=store)


def composed(question: str, table: Table, cell: Cell, *, row: str, column: str, store: Corpus) -> Iterator[RightAnswer]:
    """A look-up in a model's words, and the difference and the mean with the value below or above it, with and without
    these two values."""

    def says(text: str, kind: str) -> RightAnswer:
        return cited_by_model(question, text, [table.id], store=store, kind=kind)

    yield says(f"{row} has {cell.value} under {column}.", "look-up")
    other = _below(table, cell)
    one = as_number(cell.value)
    if other is None or one is None:
        return
    name, value = other
    second = as_number(value)
    if second is None or second.value == one.value or name == row:
        return
    difference = abs(one.value - second.value)
    more = "higher" if one.value > second.value else "lower"
    behind = f"than that of {name} ({value})"
    yield says(f"The {column} of {row} ({cell.value}) is {_plain(difference)} {more} {behind}.", "difference")
    yield says(f"Under {column}, {row} is {_plain(difference)} {more} than {name}.", "bare difference")
    mean = (one.value + second.value) / 2
    yield says(f"The mean {column} of {row} ({cell.value}) and {name} ({value}) is {_plain(mean)}.", "mean")


def _below(table: Table, cell: Cell) -> tuple[str, str] | None:
    """The name and the value of the row below, or else above, that has a name."""
    for row in (cell.row + 1, cell.row - 1):
        names = [other.text for other in table.cells if other.row == row and other.role == "row_header"]
        values = [other.value for other in table.cells if (other.row, other.column) == (row, cell.column)]
        if names and values:
            return " ".join(names), values[0]
    return None


def _plain(value: Decimal) -> str:
    return format(value, "f")
