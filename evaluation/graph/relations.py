"""Scores relations: two entities connected, whatever the direction; and results, whose members all hang together."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

from evaluation.gold.graphs import GoldRelation, GoldResult
from evaluation.graph.entities import both_ways
from evaluation.graph.matches import Matches
from evaluation.matching import spaced
from evaluation.values import Miss, Score, Tally

__all__ = ["score_relations", "score_results"]

Pair = frozenset[str]


@dataclass(frozen=True, kw_only=True)
class _Pairs:
    """Our relations between entities as undirected pairs of ids, each with its kinds."""

    matches: Matches
    kinds: Mapping[Pair, frozenset[str]]

    def between(self, first: int, second: int) -> Iterator[Pair]:
        """Our pairs that connect two entities of the gold."""
        for one, two in product(sorted(self.matches.ours[first]), sorted(self.matches.ours[second])):
            if (pair := frozenset({one, two})) in self.kinds:
                yield pair

    def found(self, relation: GoldRelation) -> bool:
        """Whether a pair of ours connects the ends, or, where they are said to mean the same, one of ours is both."""
        return self._as_one(relation) or any(self.between(relation.source, relation.target))

    def found_in_kind(self, relation: GoldRelation) -> bool:
        """`found`, by a relation of ours of a kind that means the same."""
        kinds = self.matches.scheme.kinds[relation.kind]
        pairs = self.between(relation.source, relation.target)
        return self._as_one(relation) or any(self.kinds[pair] & kinds for pair in pairs)

    def _as_one(self, relation: GoldRelation) -> bool:
        ours = self.matches.ours
        return relation.kind in self.matches.scheme.same and bool(ours[relation.source] & ours[relation.target])


def _pairs(matches: Matches) -> _Pairs:
    kinds: dict[Pair, frozenset[str]] = {}
    for relation in matches.extraction.relations:
        pair = frozenset({relation.source, relation.target})
        if len(pair) == 2 and pair <= matches.entities.keys():
            kinds[pair] = kinds.get(pair, frozenset()) | {relation.kind}
    return _Pairs(matches=matches, kinds=kinds)


def score_relations(matches: Matches, relations: Iterable[GoldRelation]) -> Score:
    """relations: of all pairs that we or the gold connect; relations.known: of those whose ends both sides have;
    relations.kind: the gold's of a kind that we have a word for, connected by that kind.

    Pairs count once, whatever their kinds. Relations with a generic end, or with one end only, are left out.
    """
    sought = [r for r in relations if {r.source, r.target} <= matches.sought and r.source != r.target]
    pairs = _pairs(matches)
    gold: dict[frozenset[int], list[GoldRelation]] = {}
    for relation in sought:
        gold.setdefault(frozenset({relation.source, relation.target}), []).append(relation)
    found = {ends for ends, group in gold.items() if any(map(pairs.found, group))}
    predicted = [pair for pair in pairs.kinds if pair <= matches.counted]
    connected = {pair for ends in gold for pair in pairs.between(*sorted(ends))}
    true = sum(pair in connected for pair in predicted)
    in_kind = [relation for relation in sought if relation.kind in matches.scheme.kinds]
    tallies = {
        **both_ways("relations", true=true, predicted=len(predicted), found=len(found), gold=len(gold)),
        **both_ways(
            "relations.known",
            true=true,
            predicted=sum(all(matches.theirs[end] for end in pair) for pair in predicted),
            found=len(found),
            gold=sum(all(matches.ours[end] for end in ends) for ends in gold),
        ),
        "relations.kind.recall": Tally(right=sum(map(pairs.found_in_kind, in_kind)), total=len(in_kind)),
    }
    misses = [_miss(matches, relation) for ends, group in gold.items() if ends not in found for relation in group[:1]]
    return Score(tallies=tallies, misses=tuple(misses))


def _miss(matches: Matches, relation: GoldRelation) -> Miss:
    ends = [matches.gold.entities[end].forms[0] for end in (relation.source, relation.target)]
    lost = [form for form, end in zip(ends, (relation.source, relation.target), strict=True) if not matches.ours[end]]
    got = f"unknown: {' | '.join(lost)}" if lost else "not connected"
    return Miss(metric="relations.recall", what=relation.kind, gold=" -- ".join(ends), got=got)


def score_results(matches: Matches, results: Iterable[GoldResult]) -> Score:
    """results.members: all members are found; results.connected: and each is connected with each other;
    results.score: of the scores that stand in the text, those that a relation of a member quotes."""
    pairs = _pairs(matches)
    text = " ".join(section.text for section in matches.gold.sections)
    tallies: dict[str, Tally] = {}
    misses = []
    for result in results:
        lost = [matches.gold.entities[member].forms[0] for member in result.members if not matches.ours[member]]
        connected = not lost and all(any(pairs.between(a, b)) for a, b in combinations(result.members, 2))
        one = {"results.members": not lost, "results.connected": connected}
        if result.score and _holds(text, result.score):
            one["results.score"] = _states(matches, result)
        for name, right in one.items():
            tallies[name] = tallies.get(name, Tally(right=0, total=0)) + Tally(right=right, total=1)
        if not connected:
            forms = " -- ".join(matches.gold.entities[member].forms[0] for member in result.members)
            got = f"unknown: {' | '.join(lost)}" if lost else "not connected"
            misses.append(Miss(metric="results.connected", what=result.score, gold=forms, got=got))
    return Score(tallies=tallies, misses=tuple(misses))


def _states(matches: Matches, result: GoldResult) -> bool:
    members = frozenset().union(*(matches.ours[member] for member in result.members))
    return any(
        _holds(relation.description, result.score)
        for relation in matches.extraction.relations
        if members & {relation.source, relation.target}
    )


def _holds(text: str, score: str) -> bool:
    """Whether a text quotes the score, and not only as a part of another number."""
    return re.search(rf"(?<![\d.]){re.escape(spaced(score))}(?!\d|\.\d)", spaced(text)) is not None
