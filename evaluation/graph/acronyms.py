"""Scores acronyms: which forms are found in a sentence, and what a short form is expanded to."""

from dataclasses import dataclass

from evaluation.gold.acronyms import GoldAcronyms, GoldExpansion
from evaluation.graph.names import plain_keys
from evaluation.metrics.sets import set_overlap
from evaluation.values import Miss, Score, Tally
from paperscope_core.codec import to_json
from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.words import entity_key
from paperscope_core.types import content_hash

__all__ = ["AcronymItem", "ExpansionItem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AcronymItem:
    """The forms of one sentence, each once."""

    gold: GoldAcronyms

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold."""
        return content_hash(to_json(self.gold).encode())

    def score(self) -> Score:
        """acronyms.short and acronyms.long: the gold's forms against those of the definitions found.

        The gold also marks short forms that their sentence doesn't define, which we leave alone;
        acronyms.short.defined is the recall where it marks a long form as well.
        """
        found = list(find_definitions(self.gold.text))
        gold = {"short": set(map(entity_key, self.gold.shorts)), "long": set(map(entity_key, self.gold.longs))}
        ours = {
            "short": {entity_key(definition.short) for definition in found},
            "long": {entity_key(definition.long) for definition in found},
        }
        tallies: dict[str, Tally] = {}
        misses = []
        for kind, forms in gold.items():
            tallies |= {f"acronyms.{kind}.{name}": tally for name, tally in set_overlap(forms, ours[kind]).items()}
            if kind == "long" or gold["long"]:
                misses += [
                    _miss(f"acronyms.{kind}.recall", self.gold.text, gold=form) for form in sorted(forms - ours[kind])
                ]
            misses += [
                _miss(f"acronyms.{kind}.precision", self.gold.text, got=form) for form in sorted(ours[kind] - forms)
            ]
        if gold["long"]:
            tallies["acronyms.short.defined"] = Tally(
                right=len(gold["short"] & ours["short"]), total=len(gold["short"])
            )
        return Score(tallies=tallies, misses=tuple(misses))


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpansionItem:
    """What one short form means."""

    gold: GoldExpansion

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold."""
        return content_hash(to_json(self.gold).encode())

    def score(self) -> Score:
        """expansions.defined: whether the sentence defines its short form, as far as we see, which alone lets us
        expand it; expansions.right: of those, what we expand to the gold's meaning (see `plain_keys`)."""
        keys = plain_keys(self.gold.short)
        longs = [found.long for found in find_definitions(self.gold.text) if plain_keys(found.short) & keys]
        tallies = {"expansions.defined": Tally(right=bool(longs), total=1)}
        misses = []
        if longs:
            right = any(plain_keys(long) & plain_keys(self.gold.long) for long in longs)
            tallies["expansions.right"] = Tally(right=right, total=1)
            if not right:
                got = " | ".join(longs)
                misses.append(Miss(metric="expansions.right", what=self.gold.short, gold=self.gold.long, got=got))
        return Score(tallies=tallies, misses=tuple(misses))


def _miss(metric: str, text: str, *, gold: str = "", got: str = "") -> Miss:
    return Miss(metric=metric, what=text, gold=gold, got=got)
