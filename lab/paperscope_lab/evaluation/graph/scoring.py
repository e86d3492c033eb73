"""Scores extracted entities and relations against a gold graph."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from ingest.extraction.entity_types import TermType
from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Extraction
from paperscope_lab.evaluation.gold.graphs import GoldEntity, GoldGraph, GoldRelation
from paperscope_lab.evaluation.score import Miss, Score, Tally

__all__ = [
    "SCHEMES",
    "AnnotationScheme",
    "EntityMatches",
    "folded_names",
    "is_float",
    "score_entities",
    "score_relations",
]

_UNTYPED: TermType = "concept"
_FLOATS = frozenset({"table", "figure", "equation"})
Pair = frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class AnnotationScheme:
    """Maps our types to the gold's (`types`), and the gold's kinds of relation to ours (`kinds`).

    `same` are the gold's kinds for two names of one thing: an entity of ours that has both names counts as found.
    """

    types: Mapping[str, str]
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    same: frozenset[str] = frozenset()


SCHEMES: Mapping[str, AnnotationScheme] = {
    "scierc": AnnotationScheme(
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
    "scier": AnnotationScheme(
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
    "scirex": AnnotationScheme(types={"method": "Method", "task": "Task", "dataset": "Material", "metric": "Metric"}),
}


def folded_names(entity: Entity) -> frozenset[str]:
    """Return an entity's name and aliases, folded by `entity_key`."""
    return frozenset(filter(None, map(entity_key, (entity.name, *entity.aliases))))


def is_float(entity: Entity) -> bool:
    """Return whether the entity is a table, a figure or an equation."""
    return entity.type in _FLOATS


@dataclass(frozen=True, kw_only=True)
class EntityMatches:
    """A document's gold and its extracted entities, which match if they share a form."""

    gold: GoldGraph
    extraction: Extraction

    @property
    def scheme(self) -> AnnotationScheme:
        """The annotation scheme of the gold's set."""
        return SCHEMES[self.gold.scheme]

    @cached_property
    def entities(self) -> Mapping[str, Entity]:
        """Our entities by id, without tables, figures and equations."""
        return {entity.id: entity for entity in self.extraction.entities if not is_float(entity)}

    @cached_property
    def forms(self) -> Mapping[str, frozenset[str]]:
        """The forms of our entities by id."""
        return {name: folded_names(entity) for name, entity in self.entities.items()}

    @cached_property
    def ours(self) -> Mapping[int, frozenset[str]]:
        """For each gold entity, by position, the ids of the matching extracted entities."""
        known: dict[str, set[str]] = defaultdict(set)
        for name, forms in self.forms.items():
            for form in forms:
                known[form].add(name)
        return {
            number: frozenset().union(*(known.get(form, ()) for form in entity.forms))
            for number, entity in enumerate(self.gold.entities)
        }

    @cached_property
    def theirs(self) -> Mapping[str, frozenset[int]]:
        """For each extracted entity, by id, the positions of the matching gold entities."""
        found: dict[str, set[int]] = {name: set() for name in self.entities}
        for number, names in self.ours.items():
            for name in names:
                found[name].add(number)
        return {name: frozenset(numbers) for name, numbers in found.items()}

    @cached_property
    def sought(self) -> Mapping[int, GoldEntity]:
        """The gold entities that have a name, by position."""
        return {number: entity for number, entity in enumerate(self.gold.entities) if not entity.generic}

    @cached_property
    def counted(self) -> Mapping[str, Entity]:
        """The extracted entities that are scored, by id: of an annotated type, or of none, and not only a generic word
        of the gold."""
        return {
            name: entity
            for name, entity in self.entities.items()
            if (entity.type in self.scheme.types or entity.type == _UNTYPED)
            and (not self.theirs[name] or self.theirs[name] & self.sought.keys())
        }

    @cached_property
    def pairs(self) -> Mapping[Pair, frozenset[str]]:
        """The kinds of our relations by the pair of entities that they connect, in any direction."""
        kinds: dict[Pair, frozenset[str]] = {}
        for relation in self.extraction.relations:
            pair = frozenset({relation.source, relation.target})
            if len(pair) == 2 and pair <= self.entities.keys():
                kinds[pair] = kinds.get(pair, frozenset()) | {relation.kind}
        return kinds

    def pairs_between(self, first: int, second: int) -> Iterator[Pair]:
        """Yield our pairs that connect two entities of the gold."""
        for one, two in product(sorted(self.ours[first]), sorted(self.ours[second])):
            if (pair := frozenset({one, two})) in self.pairs:
                yield pair

    def has_relation(self, relation: GoldRelation, *, kinds: Set[str] | None = None) -> bool:
        """Return whether one of our pairs, of one of these kinds, connects the ends or, if they are names of the same
        thing, one of our entities is both."""
        if relation.kind in self.scheme.same and self.ours[relation.source] & self.ours[relation.target]:
            return True
        found = self.pairs_between(relation.source, relation.target)
        return any(kinds is None or self.pairs[pair] & kinds for pair in found)

    def unconnected(self, members: Sequence[int]) -> str:
        """Why these gold entities are not connected: the ones that were not found, if any."""
        lost = [self.gold.entities[member].forms[0] for member in members if not self.ours[member]]
        return f"unknown: {' | '.join(lost)}" if lost else "not connected"

    def names(self, members: Sequence[int]) -> str:
        """Return the names of gold entities."""
        return " -- ".join(self.gold.entities[member].forms[0] for member in members)


def _rates(name: str, predicted: Collection[bool], gold: Collection[bool]) -> dict[str, Tally]:
    """Precision, recall and F1 from whether each predicted item is right, and whether each gold item is found.

    Two extracted entities may match one gold entity, and one may match two. F1 is therefore Dice's coefficient, (right
    + found) / (predicted + gold), which is the harmonic mean if matches are one to one.
    """
    right, found = sum(predicted), sum(gold)
    return {
        f"{name}.precision": Tally(right=right, total=len(predicted)),
        f"{name}.recall": Tally(right=found, total=len(gold)),
        f"{name}.f1": Tally(right=right + found, total=len(predicted) + len(gold)),
    }


def score_entities(matches: EntityMatches) -> Score:
    """entities: some form is equal; entities.partial: one contains the words of the other; entities.typed: the types
    are equal, too; found.TYPE: gold entities of one type, whatever our type; generic: words that name nothing;
    salient: entities that the results are about."""
    ours, theirs, types = matches.ours, matches.theirs, matches.scheme.types
    typed = {name: types[entity.type] for name, entity in matches.counted.items() if entity.type in types}
    tallies = {
        **_rates(
            "entities",
            [bool(theirs[name]) for name in matches.counted],
            [bool(ours[number]) for number in matches.sought],
        ),
        **_rates(
            "entities.partial",
            [
                any(_overlap(matches.forms[name], it.forms) for it in matches.sought.values())
                for name in matches.counted
            ],
            [any(_overlap(it.forms, forms) for forms in matches.forms.values()) for it in matches.sought.values()],
        ),
        **_rates(
            "entities.typed",
            [
                any(matches.gold.entities[number].type == kind for number in theirs[name])
                for name, kind in typed.items()
            ],
            [
                any(types.get(matches.entities[name].type) == entity.type for name in ours[number])
                for number, entity in matches.sought.items()
            ],
        ),
    }
    groups: dict[str, list[int]] = defaultdict(list)
    for number, entity in enumerate(matches.gold.entities):
        if entity.generic:
            groups["generic.recall"].append(number)
        else:
            groups[f"found.{entity.type}"].append(number)
            if entity.salient:
                groups["salient.recall"].append(number)
    for name, numbers in groups.items():
        tallies[name] = Tally(right=sum(bool(ours[number]) for number in numbers), total=len(numbers))
    return Score(tallies=tallies, misses=tuple(_entity_misses(matches)))


def _overlap(some: Iterable[str], others: Collection[str]) -> bool:
    """Return whether a form of one contains all words, in order, of a form of the other."""
    return any(f" {one} " in f" {other} " or f" {other} " in f" {one} " for one in some for other in others)


def _entity_misses(matches: EntityMatches) -> Iterator[Miss]:
    for number, entity in matches.sought.items():
        if not matches.ours[number]:
            near = [name for name in sorted(matches.forms) if _overlap(entity.forms, matches.forms[name])]
            names = " | ".join(entity.forms)
            yield Miss(metric="entities.recall", what=entity.type, gold=names, got=" | ".join(near))
    for name in sorted(matches.counted):
        if not matches.theirs[name]:
            found = matches.entities[name]
            yield Miss(metric="entities.precision", what=found.type, gold="", got=found.name)


def score_relations(matches: EntityMatches, relations: Iterable[GoldRelation]) -> Score:
    """relations: of all pairs connected by us or the gold; relations.known: of those whose ends both sides have;
    relations.kind: gold relations of a kind that we also have, found in that kind.

    Pairs count once, whatever their kinds. Relations with a generic end, or with one end only, are left out.
    """
    sought = [r for r in relations if {r.source, r.target} <= matches.sought.keys() and r.source != r.target]
    gold: dict[tuple[int, int], list[GoldRelation]] = defaultdict(list)
    for relation in sought:
        gold[min(relation.source, relation.target), max(relation.source, relation.target)].append(relation)
    found = {ends: any(map(matches.has_relation, group)) for ends, group in gold.items()}
    connected = {pair for ends in gold for pair in matches.pairs_between(*ends)}
    predicted = {pair: pair in connected for pair in matches.pairs if pair <= matches.counted.keys()}
    kinds = matches.scheme.kinds
    in_kind = [
        matches.has_relation(relation, kinds=kinds[relation.kind]) for relation in sought if relation.kind in kinds
    ]
    tallies = {
        **_rates("relations", predicted.values(), found.values()),
        **_rates(
            "relations.known",
            [right for pair, right in predicted.items() if all(matches.theirs[end] for end in pair)],
            [right for ends, right in found.items() if all(matches.ours[end] for end in ends)],
        ),
        "relations.kind.recall": Tally(right=sum(in_kind), total=len(in_kind)),
    }
    misses = []
    for ends, (relation, *_) in gold.items():
        if not found[ends]:
            members = (relation.source, relation.target)
            names, got = matches.names(members), matches.unconnected(members)
            misses.append(Miss(metric="relations.recall", what=relation.kind, gold=names, got=got))
    return Score(tallies=tallies, misses=tuple(misses))
