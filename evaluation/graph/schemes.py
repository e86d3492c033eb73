"""What each set annotates, and which of our types and kinds of relation mean the same.

A type of ours that a set does not annotate (labels of tables and figures everywhere, metrics in SciER) can be neither
right nor wrong there. "concept" is what we call a term whose type nothing tells: it counts where types don't.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.extraction.entity_types import TermType

__all__ = ["SCHEMES", "Scheme"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheme:
    """`types` gives the gold's word for a type of ours, `kinds` our kinds for one of the gold's kinds of relation.

    `same` are the gold's kinds that say that two names mean the same: one entity of ours that has both tells it.
    """

    types: Mapping[str, str]
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    same: frozenset[str] = frozenset()

    def counts(self, kind: str) -> bool:
        """Whether an entity of this type of ours is held against the gold."""
        return kind in self.types or kind == _UNTOLD


_UNTOLD: TermType = "concept"

SCHEMES: Mapping[str, Scheme] = {
    "scierc": Scheme(
        types={
            "method": "Method",
            "task": "Task",
            "dataset": "Material",
            "metric": "Metric",
            "quantity": "OtherScientificTerm",
            "concept": "OtherScientificTerm",
        },
        kinds={
            "USED-FOR": frozenset({"uses"}),
            "EVALUATE-FOR": frozenset({"evaluated on", "measured by"}),
            "COMPARE": frozenset({"compared with"}),
            "PART-OF": frozenset({"part of"}),
            "HYPONYM-OF": frozenset({"kind of"}),
        },
    ),
    "scier": Scheme(
        types={"method": "Method", "task": "Task", "dataset": "Dataset"},
        kinds={
            "Used-For": frozenset({"uses"}),
            "Trained-With": frozenset({"uses"}),
            "Evaluated-With": frozenset({"evaluated on"}),
            "Benchmark-For": frozenset({"evaluated on"}),
            "Compare-With": frozenset({"compared with"}),
            "Part-Of": frozenset({"part of"}),
            "SubClass-Of": frozenset({"kind of"}),
            "SubTask-Of": frozenset({"kind of", "part of"}),
            "Synonym-Of": frozenset({"stands for", "defined as"}),
        },
        same=frozenset({"Synonym-Of"}),
    ),
    "scirex": Scheme(types={"method": "Method", "task": "Task", "dataset": "Material", "metric": "Metric"}),
}
