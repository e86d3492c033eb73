"""Scores extracted entities and relations against a gold graph."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

from evaluation.gold.graphs import GoldEntity, GoldGraph, GoldRelation, GoldResult
from evaluation.matching import normalise_spaces
from evaluation.metrics.sets import b_cubed, muc
from evaluation.score import Miss, Score, Tally
from ingest.extraction.entity_types import TermType
from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Extraction

__all__ = [
    "SCHEMES",
    "AnnotationScheme",
    "EntityMatches",
    "folded_names",
    "is_float",
    "precision_recall_f1",
    "score_entities",
    "score_relations",
    "score_results",
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

    def counts(self, kind: str) -> bool:
        """Whether an entity of ours of this type is compared with the gold."""
        return kind in self.types or kind == _UNTYPED


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
    """An entity's name and aliases, folded by `entity_key`."""
    return frozenset(filter(None, map(entity_key, (entity.name, *entity.aliases))))


def is_float(entity: Entity) -> bool:
    """Whether the entity is a table, a figure or an equation."""
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
    def sought(self) -> frozenset[int]:
        """The positions of the gold entities that have a name."""
        return frozenset(number for number, entity in enumerate(self.gold.entities) if not entity.generic)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The ids of the extracted entities that are scored: of an annotated type, and not only a generic word of the
        gold."""
        return frozenset(
            name
            for name, entity in self.entities.items()
            if self.scheme.counts(entity.type) and (not self.theirs[name] or self.theirs[name] & self.sought)
        )


def precision_recall_f1(name: str, *, true: int, predicted: int, found: int, gold: int) -> dict[str, Tally]:
    """Precision (`true` of `predicted`), recall (`found` of `gold`) and F1.

    Two extracted entities may match one gold entity, and one may match two. F1 is therefore Dice's coefficient, (true +
    found) / (predicted + gold), which is the harmonic mean if matches are one to one.
    """
    return {
        f"{name}.precision": Tally(right=true, total=predicted),
        f"{name}.recall": Tally(right=found, total=gold),
        f"{name}.f1": Tally(right=true + found, total=predicted + gold),
    }


def score_entities(matches: EntityMatches) -> Score:
    """entities: some form is equal; entities.partial: one contains the words of the other; entities.typed: the types
    are equal, too; found.TYPE: gold entities of one type, whatever our type; generic: words that name nothing;
    salient: entities that the results are about; aliases: spellings of the same entity (see `_aliases`)."""
    tallies = {**_by_form(matches), **_by_part(matches), **_with_types(matches), **_by_type(matches)}
    entities = list(enumerate(matches.gold.entities))
    for name, numbers in (
        ("generic.recall", [number for number, entity in entities if entity.generic]),
        ("salient.recall", [number for number, entity in entities if entity.salient and not entity.generic]),
    ):
        if numbers:
            tallies[name] = Tally(right=sum(bool(matches.ours[number]) for number in numbers), total=len(numbers))
    if matches.gold.coreferent:
        tallies |= _aliases(matches)
    return Score(tallies=tallies, misses=tuple(_entity_misses(matches)))


def _by_form(matches: EntityMatches) -> dict[str, Tally]:
    return precision_recall_f1(
        "entities",
        true=sum(bool(matches.theirs[name]) for name in matches.counted),
        predicted=len(matches.counted),
        found=sum(bool(matches.ours[number]) for number in matches.sought),
        gold=len(matches.sought),
    )


def _by_part(matches: EntityMatches) -> dict[str, Tally]:
    gold = {number: matches.gold.entities[number].forms for number in matches.sought}
    return precision_recall_f1(
        "entities.partial",
        true=sum(any(_overlap(matches.forms[name], forms) for forms in gold.values()) for name in matches.counted),
        predicted=len(matches.counted),
        found=sum(any(_overlap(forms, other) for other in matches.forms.values()) for forms in gold.values()),
        gold=len(gold),
    )


def _overlap(some: Set[str] | tuple[str, ...], others: Set[str] | tuple[str, ...]) -> bool:
    """Whether a form of one contains all words, in order, of a form of the other."""
    return any(f" {one} " in f" {other} " or f" {other} " in f" {one} " for one in some for other in others)


def _with_types(matches: EntityMatches) -> dict[str, Tally]:
    types = matches.scheme.types
    predicted = [name for name in matches.counted if matches.entities[name].type in types]

    def same(name: str, number: int) -> bool:
        return types.get(matches.entities[name].type) == matches.gold.entities[number].type

    return precision_recall_f1(
        "entities.typed",
        true=sum(any(same(name, number) for number in matches.theirs[name]) for name in predicted),
        predicted=len(predicted),
        found=sum(any(same(name, number) for name in matches.ours[number]) for number in matches.sought),
        gold=len(matches.sought),
    )


def _by_type(matches: EntityMatches) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for number in sorted(matches.sought):
        name = f"found.{matches.gold.entities[number].type}"
        tally = Tally(right=bool(matches.ours[number]), total=1)
        tallies[name] = tallies[name] + tally if name in tallies else tally
    return tallies


def _aliases(matches: EntityMatches) -> dict[str, Tally]:
    """How the forms of both sides are grouped: B³, and the recall of the gold's links (MUC)."""
    gold = [matches.gold.entities[number].forms for number in sorted(matches.sought)]
    ours = [sorted(matches.forms[name]) for name in sorted(matches.forms)]
    shared = set().union(*gold) & set().union(*ours)
    theirs, found = ([shared.intersection(forms) for forms in groups] for groups in (gold, ours))
    scores: Mapping[str, Tally] = b_cubed(theirs, found)
    return {
        "aliases.b3_precision": scores["precision"],
        "aliases.b3_recall": scores["recall"],
        "aliases.links_found": muc(theirs, found)["recall"],
    }


def _entity_misses(matches: EntityMatches) -> Iterator[Miss]:
    for number in sorted(matches.sought):
        if not matches.ours[number]:
            entity = matches.gold.entities[number]
            yield Miss(
                metric="entities.recall", what=entity.type, gold=" | ".join(entity.forms), got=_near(matches, entity)
            )
    for name in sorted(matches.counted):
        if not matches.theirs[name]:
            entity_of_ours = matches.entities[name]
            yield Miss(metric="entities.precision", what=entity_of_ours.type, gold="", got=entity_of_ours.name)


def _near(matches: EntityMatches, entity: GoldEntity) -> str:
    near = [name for name in sorted(matches.forms) if _overlap(entity.forms, matches.forms[name])]
    return " | ".join(near)


@dataclass(frozen=True, kw_only=True)
class _ConnectedPairs:
    """Our relations as undirected pairs of entity ids, each with its kinds."""

    matches: EntityMatches
    kinds: Mapping[Pair, frozenset[str]]

    def between(self, first: int, second: int) -> Iterator[Pair]:
        """Our pairs that connect two entities of the gold."""
        for one, two in product(sorted(self.matches.ours[first]), sorted(self.matches.ours[second])):
            if (pair := frozenset({one, two})) in self.kinds:
                yield pair

    def found(self, relation: GoldRelation) -> bool:
        """Whether one of our pairs connects the ends or, if they are names of the same thing, one of our entities is
        both."""
        return self._as_one(relation) or any(self.between(relation.source, relation.target))

    def found_in_kind(self, relation: GoldRelation) -> bool:
        """Like `found`, by a relation of an equivalent kind."""
        kinds = self.matches.scheme.kinds[relation.kind]
        pairs = self.between(relation.source, relation.target)
        return self._as_one(relation) or any(self.kinds[pair] & kinds for pair in pairs)

    def _as_one(self, relation: GoldRelation) -> bool:
        ours = self.matches.ours
        return relation.kind in self.matches.scheme.same and bool(ours[relation.source] & ours[relation.target])


def _connected_pairs(matches: EntityMatches) -> _ConnectedPairs:
    kinds: dict[Pair, frozenset[str]] = {}
    for relation in matches.extraction.relations:
        pair = frozenset({relation.source, relation.target})
        if len(pair) == 2 and pair <= matches.entities.keys():
            kinds[pair] = kinds.get(pair, frozenset()) | {relation.kind}
    return _ConnectedPairs(matches=matches, kinds=kinds)


def score_relations(matches: EntityMatches, relations: Iterable[GoldRelation]) -> Score:
    """relations: of all pairs connected by us or the gold; relations.known: of those whose ends both sides have;
    relations.kind: gold relations of a kind that we also have, found in that kind.

    Pairs count once, whatever their kinds. Relations with a generic end, or with one end only, are left out.
    """
    sought = [r for r in relations if {r.source, r.target} <= matches.sought and r.source != r.target]
    pairs = _connected_pairs(matches)
    gold: dict[frozenset[int], list[GoldRelation]] = {}
    for relation in sought:
        gold.setdefault(frozenset({relation.source, relation.target}), []).append(relation)
    found = {ends for ends, group in gold.items() if any(map(pairs.found, group))}
    predicted = [pair for pair in pairs.kinds if pair <= matches.counted]
    connected = {pair for ends in gold for pair in pairs.between(*sorted(ends))}
    true = sum(pair in connected for pair in predicted)
    in_kind = [relation for relation in sought if relation.kind in matches.scheme.kinds]
    tallies = {
        **precision_recall_f1("relations", true=true, predicted=len(predicted), found=len(found), gold=len(gold)),
        **precision_recall_f1(
            "relations.known",
            true=true,
            predicted=sum(all(matches.theirs[end] for end in pair) for pair in predicted),
            found=len(found),
            gold=sum(all(matches.ours[end] for end in ends) for ends in gold),
        ),
        "relations.kind.recall": Tally(right=sum(map(pairs.found_in_kind, in_kind)), total=len(in_kind)),
    }
    misses = [
        _relation_miss(matches, relation) for ends, group in gold.items() if ends not in found for relation in group[:1]
    ]
    return Score(tallies=tallies, misses=tuple(misses))


def _relation_miss(matches: EntityMatches, relation: GoldRelation) -> Miss:
    ends = [matches.gold.entities[end].forms[0] for end in (relation.source, relation.target)]
    lost = [form for form, end in zip(ends, (relation.source, relation.target), strict=True) if not matches.ours[end]]
    got = f"unknown: {' | '.join(lost)}" if lost else "not connected"
    return Miss(metric="relations.recall", what=relation.kind, gold=" -- ".join(ends), got=got)


def score_results(matches: EntityMatches, results: Iterable[GoldResult]) -> Score:
    """results.members: all members are found; results.connected: each pair of them is connected; results.score: of the
    scores in the text, those that a relation of a member quotes."""
    pairs = _connected_pairs(matches)
    text = " ".join(text for section in matches.gold.sections for text in section.paragraphs)
    tallies: dict[str, Tally] = {}
    misses = []
    for result in results:
        lost = [matches.gold.entities[member].forms[0] for member in result.members if not matches.ours[member]]
        connected = not lost and all(any(pairs.between(a, b)) for a, b in combinations(result.members, 2))
        one = {"results.members": not lost, "results.connected": connected}
        if result.score and _quotes_score(text, result.score):
            one["results.score"] = _states(matches, result)
        for name, right in one.items():
            tallies[name] = tallies.get(name, Tally(right=0, total=0)) + Tally(right=right, total=1)
        if not connected:
            forms = " -- ".join(matches.gold.entities[member].forms[0] for member in result.members)
            got = f"unknown: {' | '.join(lost)}" if lost else "not connected"
            misses.append(Miss(metric="results.connected", what=result.score, gold=forms, got=got))
    return Score(tallies=tallies, misses=tuple(misses))


def _states(matches: EntityMatches, result: GoldResult) -> bool:
    members = frozenset().union(*(matches.ours[member] for member in result.members))
    return any(
        _quotes_score(relation.description, result.score)
        for relation in matches.extraction.relations
        if members & {relation.source, relation.target}
    )


def _quotes_score(text: str, score: str) -> bool:
    """Whether a text quotes the score, not as a part of another number."""
    return re.search(rf"(?<![\d.]){re.escape(normalise_spaces(score))}(?!\d|\.\d)", normalise_spaces(text)) is not None
