"""Which types entities have: a set that the settings may replace."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

__all__ = ["DEFAULT_TYPES", "FLOATS", "TypeSystem"]

FLOATS = ("table", "figure", "equation")
DEFAULT_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "dataset": "a corpus, benchmark or collection",
        "metric": "a measure of quality",
        "task": "a problem to be solved",
        "method": "a model, algorithm, loss, component or system",
        "quantity": "a parameter or property with a value",
        "concept": "all else worth a name",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeSystem:
    """Names of types and what each is, from the most to the least telling; the last is for all that fits no other.

    Tables, figures and equations are types of their own beside them.
    """

    meanings: Mapping[str, str] = field(default_factory=lambda: DEFAULT_TYPES)

    @classmethod
    def of(cls, meanings: Mapping[str, str]) -> Self:
        """The types that the settings give, or our own where they give none."""
        return cls(meanings=meanings) if meanings else cls()

    @property
    def rest(self) -> str:
        """The type of all that fits no other."""
        return tuple(self.meanings)[-1]

    def fit(self, told: str) -> str:
        """`told` where it is a type of this system, else the rest's."""
        return told if told in self.meanings or told in FLOATS else self.rest

    def first(self, types: Iterable[str]) -> str:
        """The most telling of `types`; one that is not of this system comes last."""
        order = {name: rank for rank, name in enumerate((*FLOATS, *self.meanings))}
        return min(types, key=lambda name: (order.get(name, len(order)), name))
