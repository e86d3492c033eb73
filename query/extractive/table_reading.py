"""What tables answer."""

from dataclasses import dataclass

from paperscope_core.types import Claim, Table

__all__ = ["TableReading"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TableReading:
    """What tables answer: the claim, the tables it rests on, and how well they account for the question.

    `coverage` and `unheld` are `Selection`'s; `specific` tells that the question names row and column; `direct`
    that a header is the very word that asks; `mentioned` are the question's word indices that make up whole names.
    """

    claim: Claim
    tables: tuple[Table, ...]
    coverage: float
    unheld: tuple[str, ...] = ()
    specific: bool = True
    direct: bool = False
    mentioned: frozenset[int] = frozenset()
