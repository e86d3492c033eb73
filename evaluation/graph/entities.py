"""Scores entities: by form, by a part of the form, with their types, and how their spellings are brought together."""

from collections.abc import Iterator, Mapping, Set

from evaluation.gold.graphs import GoldEntity
from evaluation.graph.matches import Matches
from evaluation.metrics.sets import b_cubed, muc
from evaluation.values import Miss, Score, Tally

__all__ = ["both_ways", "score_entities"]


def both_ways(name: str, *, true: int, predicted: int, found: int, gold: int) -> dict[str, Tally]:
    """Precision (`true` of `predicted`), recall (`found` of `gold`) and F1.

    Two of ours may be the same one of the gold's, and one of ours two of them: F1 is then Dice's coefficient,
    (true + found) / (predicted + gold), which is the harmonic mean where matches are one to one.
    """
    return {
        f"{name}.precision": Tally(right=true, total=predicted),
        f"{name}.recall": Tally(right=found, total=gold),
        f"{name}.f1": Tally(right=true + found, total=predicted + gold),
    }


def score_entities(matches: Matches) -> Score:
    """entities: some form is the same; entities.partial: the words of one stand in the other; entities.typed: the
    types are the same, too; found.TYPE: the gold's of one type, whatever we call them; generic: words that name
    nothing; salient: what the results are about; aliases: spellings that mean the same (see `_aliases`)."""
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
    return Score(tallies=tallies, misses=tuple(_misses(matches)))


def _by_form(matches: Matches) -> dict[str, Tally]:
    return both_ways(
        "entities",
        true=sum(bool(matches.theirs[name]) for name in matches.counted),
        predicted=len(matches.counted),
        found=sum(bool(matches.ours[number]) for number in matches.sought),
        gold=len(matches.sought),
    )


def _by_part(matches: Matches) -> dict[str, Tally]:
    gold = {number: matches.gold.entities[number].forms for number in matches.sought}
    return both_ways(
        "entities.partial",
        true=sum(any(_overlap(matches.forms[name], forms) for forms in gold.values()) for name in matches.counted),
        predicted=len(matches.counted),
        found=sum(any(_overlap(forms, other) for other in matches.forms.values()) for forms in gold.values()),
        gold=len(gold),
    )


def _overlap(some: Set[str] | tuple[str, ...], others: Set[str] | tuple[str, ...]) -> bool:
    """Whether all words of a form of one stand, in their order, in a form of the other."""
    return any(f" {one} " in f" {other} " or f" {other} " in f" {one} " for one in some for other in others)


def _with_types(matches: Matches) -> dict[str, Tally]:
    types = matches.scheme.types
    predicted = [name for name in matches.counted if matches.entities[name].type in types]

    def same(name: str, number: int) -> bool:
        return types.get(matches.entities[name].type) == matches.gold.entities[number].type

    return both_ways(
        "entities.typed",
        true=sum(any(same(name, number) for number in matches.theirs[name]) for name in predicted),
        predicted=len(predicted),
        found=sum(any(same(name, number) for name in matches.ours[number]) for number in matches.sought),
        gold=len(matches.sought),
    )


def _by_type(matches: Matches) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for number in sorted(matches.sought):
        name = f"found.{matches.gold.entities[number].type}"
        tally = Tally(right=bool(matches.ours[number]), total=1)
        tallies[name] = tallies[name] + tally if name in tallies else tally
    return tallies


def _aliases(matches: Matches) -> dict[str, Tally]:
    """How the forms that both sides have are grouped: B³, and the gold's links that we have (MUC's recall)."""
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


def _misses(matches: Matches) -> Iterator[Miss]:
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


def _near(matches: Matches, entity: GoldEntity) -> str:
    near = [name for name in sorted(matches.forms) if _overlap(entity.forms, matches.forms[name])]
    return " | ".join(near)
