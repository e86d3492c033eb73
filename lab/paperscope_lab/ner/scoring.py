"""Scores predicted entities against gold, under every rule that reports of this field use, each by its name.

Two scorers disagree on the same output, so a figure without its scorer says little. Every scorer counts what is
correct, predicted and gold for each example; precision, recall and F1 follow from the sums. The nervaluate scenarios
are counted as nervaluate 1.2.1 does it: each predicted entity in turn takes gold that overlaps it, which can use up the
gold of a later, exact one.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from ingest.extraction.recognizer.examples import Example
from paperscope_lab.ner.tags import Entity, Scheme, decode, decode_strict, encode

__all__ = [
    "SCORERS",
    "Counted",
    "Counts",
    "Outcomes",
    "PredictedTags",
    "Score",
    "Scorer",
    "aligned_tags",
    "character_macro_f1",
    "entity_counts",
    "entity_f1",
    "match_entities",
    "score_all",
    "score_seqeval",
    "token_classes",
]

Tagged = Sequence[Sequence[str]]
Item = tuple[object, str]


@dataclass(frozen=True, kw_only=True)
class PredictedTags:
    """The tags that a system predicted, one for each token of each gold example, and their scheme."""

    tags: Tagged
    scheme: Scheme


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What is correct, predicted and gold: entities, tokens or characters. A partial match is half correct."""

    correct: float = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            correct=self.correct + other.correct,
            predicted=self.predicted + other.predicted,
            gold=self.gold + other.gold,
        )

    @property
    def precision(self) -> float:
        """correct / predicted; 0 if nothing is predicted, as in seqeval."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """correct / gold; 0 if there is no gold."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if nothing is correct."""
        return 2 * self.correct / (self.predicted + self.gold) if self.correct else 0.0


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The counts of one example: of all labels together, and of each label alone."""

    total: Counts
    labels: Mapping[str, Counts]


@dataclass(frozen=True, kw_only=True)
class Score:
    """The result of one scorer: the counts of every example, in the order of the gold."""

    name: str
    mode: str
    examples: Sequence[Counted] = field(repr=False)

    @cached_property
    def total(self) -> Counts:
        """The counts of all examples, from which the micro average follows."""
        return sum((one.total for one in self.examples), Counts())

    @cached_property
    def labels(self) -> dict[str, Counts]:
        """The counts of each label that the gold or the predictions have, by name."""
        sums: defaultdict[str, Counts] = defaultdict(Counts)
        for one in self.examples:
            for label, counts in one.labels.items():
                sums[label] += counts
        return dict(sorted(sums.items()))

    @property
    def macro_f1(self) -> float:
        """The mean of the labels' F1, as in seqeval and scikit-learn."""
        return sum(counts.f1 for counts in self.labels.values()) / max(1, len(self.labels))


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """A rule of counting, with the name and the mode that reports state."""

    name: str
    mode: str
    count: Callable[[Example, Example], Counted]


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """The outcomes of one nervaluate scenario (SemEval 2013, task 9.1)."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0

    @property
    def counts(self) -> Counts:
        """The counts from which precision and recall follow."""
        both = self.correct + self.incorrect + self.partial
        return Counts(correct=self.correct + self.partial / 2, predicted=both + self.spurious, gold=both + self.missed)


def score_all(
    gold: Sequence[Example], predictions: Sequence[Example], *, tags: PredictedTags | None = None
) -> list[Score]:
    """Score predictions by every scorer.

    Args:
        gold: The examples.
        predictions: Their predictions, in the same order. One with a failure counts as empty.
        tags: The tags that the system predicted, if it predicted tags.

    Returns:
        One score per scorer, in the order of `SCORERS`, then those of seqeval.

    Raises:
        ValueError: The numbers of examples or of tags differ.
    """
    pairs = list(zip(gold, predictions, strict=True))
    scores = [Score(name=one.name, mode=one.mode, examples=[one.count(*pair) for pair in pairs]) for one in SCORERS]
    return [*scores, *(score_seqeval(gold, predictions, strict=strict, tags=tags) for strict in (False, True))]


def score_seqeval(
    gold: Sequence[Example], predictions: Sequence[Example], *, strict: bool, tags: PredictedTags | None = None
) -> Score:
    """Score predictions as seqeval does.

    Args:
        gold: The examples.
        predictions: Their predictions, in the same order.
        strict: Whether a predicted entity has to keep to the scheme. Otherwise a tag that continues nothing opens an
            entity.
        tags: The tags that the system predicted, which then decide what is predicted. Without tags the entities
            do, and both modes are the same. Entities that tags can't say count, too: those that overlap, and those
            that don't start and end with a token.

    Raises:
        ValueError: The numbers of examples or of tags differ, or a tag is of none of the schemes.
    """
    examples = []
    for number, (due, given) in enumerate(zip(gold, predictions, strict=True)):
        found = _token_entities(given, due.tokens) if tags is None else _tagged_entities(due, tags, number, strict)
        examples.append(_count_items(_token_entities(due, due.tokens), found))
    scheme = tags.scheme if tags else "IOB2"
    name, mode = ("seqeval strict", f"{scheme}, orphans dropped") if strict else ("seqeval default", "orphans open")
    return Score(name=name, mode=mode, examples=examples)


def _tagged_entities(gold: Example, tags: PredictedTags, number: int, strict: bool) -> set[Item]:
    found = tags.tags[number]
    if len(found) != len(gold.tokens):
        raise ValueError(f"{len(found)} tags for {len(gold.tokens)} tokens")
    return _entity_items(decode_strict(found, tags.scheme) if strict else decode(found))


def _token_entities(example: Example, tokens: Sequence[tuple[int, int]]) -> set[Item]:
    """Return the tokens [first, after the last) of each entity; the characters of one that does not start and end with
    one."""
    starts, ends = _token_numbers(tokens)
    return {
        ((starts[span.start], ends[span.end]), span.label)
        if span.start in starts and span.end in ends
        else ((span.start, span.end, "characters"), span.label)
        for span in example.spans
    }


def _token_numbers(tokens: Sequence[tuple[int, int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the number of the token that starts at a character, and that of the token after the one that ends at
    it."""
    starts = {start: number for number, (start, _) in enumerate(tokens)}
    return starts, {end: number + 1 for number, (_, end) in enumerate(tokens)}


def aligned_tags(example: Example, *, tokens: Sequence[tuple[int, int]] | None = None) -> list[str]:
    """Return the IOB2 tags of an example's tokens.

    Args:
        example: The example. Entities that don't start and end with a token have no tags, nor do those that overlap one
            that starts before them or is longer.
        tokens: Other tokens of its text, such as those of the gold.
    """
    tokens = example.tokens if tokens is None else tokens
    starts, ends = _token_numbers(tokens)
    entities: list[Entity] = []
    reached = 0
    for span in sorted(example.spans, key=lambda span: (span.start, -span.end)):
        if span.start in starts and span.end in ends and span.start >= reached:
            entities.append((starts[span.start], ends[span.end], span.label))
            reached = span.end
    return encode(len(tokens), entities)


def character_macro_f1(gold: Sequence[Example], predictions: Sequence[Example]) -> float:
    """Return the character F1 of KLUE-baseline: the mean F1 over the IOB2 tags of characters, O included.

    Spaces are no characters. A tag of a label that neither side has counts as 1, as by `zero_division` there.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for example, prediction in zip(gold, predictions, strict=True):
        pieces = [(place, place + 1) for place, character in enumerate(example.text) if not character.isspace()]
        counts.update(zip(_projected(example, pieces), _projected(prediction, pieces), strict=True))
    both: defaultdict[str, Counts] = defaultdict(Counts)
    for (due, given), number in counts.items():
        both[due] += Counts(gold=number, correct=number if due == given else 0)
        both[given] += Counts(predicted=number)
    labels = {tag[2:] for tag in both} - {""}
    tags = {"O"} | {f"{part}-{label}" for part in "BI" for label in labels}
    return sum(both[tag].f1 if tag in both else 1.0 for tag in tags) / len(tags)


def _projected(example: Example, pieces: Sequence[tuple[int, int]]) -> list[str]:
    """Return the IOB2 tag of each piece: that of the first entity, by start, that it touches."""
    tags = ["O"] * len(pieces)
    starts, ends = [start for start, _ in pieces], [end for _, end in pieces]
    for span in sorted(example.spans, key=lambda span: (span.start, span.end)):
        touched = range(bisect_right(ends, span.start), bisect_left(starts, span.end))
        for order, piece in enumerate(number for number in touched if tags[number] == "O"):
            tags[piece] = f"{'I' if order else 'B'}-{span.label}"
    return tags


Place = tuple[float, float, str]
# nervaluate's least overlap, as a share of the gold entity.
_OVERLAP = 0.01


def match_entities(gold: Sequence[Place], predicted: Sequence[Place], scenario: str) -> Outcomes:
    """Return the outcomes of a scenario (strict, exact, partial, ent_type), as nervaluate 1.2.1 counts them.

    Each predicted entity in turn takes the first free gold that is correct; in ent_type, the one with the closest
    boundaries. If there is none, it takes the first free gold that it overlaps.
    """
    free = dict(enumerate(gold))
    found: Counter[str] = Counter()
    for one in predicted:
        overlapping = [number for number, other in free.items() if _overlaps(one, other)]
        if scenario == "ent_type":
            right = [number for number in overlapping if free[number][2] == one[2]]
            right.sort(key=lambda number: abs(free[number][0] - one[0]) + abs(free[number][1] - one[1]))
        else:
            parts = 3 if scenario == "strict" else 2
            right = [number for number in overlapping if free[number][:parts] == one[:parts]]
        if taken := (right or overlapping)[:1]:
            del free[taken[0]]
        found[
            "correct" if right else "spurious" if not taken else "partial" if scenario == "partial" else "incorrect"
        ] += 1
    return Outcomes(missed=len(free), **found)


def _overlaps(predicted: Place, gold: Place) -> bool:
    shared = min(predicted[1], gold[1]) - max(predicted[0], gold[0])
    return shared > 0 and shared >= _OVERLAP * (gold[1] - gold[0])


def _token_places(example: Example, tokens: Sequence[tuple[int, int]]) -> list[Place]:
    """Return the entities with the numbers of their tokens, and quarters where one does not start or end with a token,
    so that one within a token has a length; with characters, if there are no tokens."""
    if not tokens:
        return sorted((span.start, span.end, span.label) for span in example.spans)
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]

    def number(edges: Sequence[int], edge: int, inside: float) -> float:
        before = bisect_left(edges, edge)
        return before if before < len(edges) and edges[before] == edge else before - inside

    return sorted(
        (number(starts, span.start, 0.75), number(ends, span.end, 0.25) + 1, span.label) for span in example.spans
    )


def _count_items(
    gold: Iterable[Item], predicted: Iterable[Item], weight: Callable[[object], int] = lambda _key: 1
) -> Counted:
    """Count items with a label: one of the gold for each equal one of the predictions."""
    due, given = Counter(gold), Counter(predicted)
    labels: defaultdict[str, Counts] = defaultdict(Counts)
    for (key, label), number in due.items():
        labels[label] += Counts(gold=number * weight(key))
    for (key, label), number in given.items():
        right = min(number, due[key, label])
        labels[label] += Counts(predicted=number * weight(key), correct=right * weight(key))
    return Counted(total=sum(labels.values(), Counts()), labels=dict(labels))


def _entity_items(entities: Iterable[Entity]) -> set[Item]:
    return {((start, end), label) for start, end, label in entities}


def _offsets(example: Example) -> list[Entity]:
    return [(span.start, span.end, span.label) for span in example.spans]


def _by_offset(gold: Example, prediction: Example) -> Counted:
    return _count_items(_entity_items(_offsets(gold)), _entity_items(_offsets(prediction)))


def _occurrences(example: Example) -> list[Item]:
    """Return the entities with their repetitions; offsets are a surface and the number of its occurrence in the
    text."""
    return [((start, end), label) for start, end, label in _offsets(example)]


def _by_occurrence(gold: Example, prediction: Example) -> Counted:
    return _count_items(_occurrences(gold), _occurrences(prediction))


def _sentences(gold: Example, prediction: Example) -> Counted:
    same = prediction.failure is None and Counter(_occurrences(gold)) == Counter(_occurrences(prediction))
    return Counted(total=Counts(correct=int(same), predicted=1, gold=1), labels={})


def _pieces_in(example: Example, pieces: Sequence[tuple[int, int]]) -> set[Item]:
    """Return the pieces that each entity touches, with its label."""
    starts, ends = [start for start, _ in pieces], [end for _, end in pieces]
    return {
        (piece, span.label)
        for span in example.spans
        for piece in range(bisect_right(ends, span.start), bisect_left(starts, span.end))
    }


def _tokens(gold: Example, prediction: Example) -> Counted:
    return _count_items(_pieces_in(gold, gold.tokens), _pieces_in(prediction, gold.tokens))


def token_classes(gold: Example, prediction: Example) -> Counted:
    """Count each token of the gold as one item of a class: the label of the entity that it is in, or O."""
    due, given = (aligned_tags(one, tokens=gold.tokens) for one in (gold, prediction))
    given_items, due_items = (((place, tag[2:] or "O") for place, tag in enumerate(tags)) for tags in (given, due))
    return _count_items(due_items, given_items)


def _characters(gold: Example, prediction: Example) -> Counted:
    def characters(example: Example) -> Iterator[Item]:
        for start, end, label in set(_offsets(example)):
            yield from ((place, label) for place in range(start, end) if not example.text[place].isspace())

    return _count_items(set(characters(gold)), set(characters(prediction)))


def _weighted(gold: Example, prediction: Example) -> Counted:
    starts, ends = [start for start, _ in gold.tokens], [end for _, end in gold.tokens]

    def length(key: object) -> int:
        start, end = cast("tuple[int, int]", key)
        return max(1, bisect_left(starts, end) - bisect_right(ends, start))

    return _count_items(_entity_items(_offsets(gold)), _entity_items(_offsets(prediction)), length)


def _scenario(name: str) -> Callable[[Example, Example], Counted]:
    def count(gold: Example, prediction: Example) -> Counted:
        due, given = _token_places(gold, gold.tokens), _token_places(prediction, gold.tokens)
        labels = {label for _, _, label in (*due, *given)}
        return Counted(
            total=match_entities(due, given, name).counts,
            labels={label: match_entities(_only(due, label), _only(given, label), name).counts for label in labels},
        )

    return count


def _only(entities: Iterable[Place], label: str) -> list[Place]:
    return [entity for entity in entities if entity[2] == label]


SCORERS: tuple[Scorer, ...] = (
    Scorer(name="sentence", mode="accuracy: all entities right", count=_sentences),
    Scorer(name="entity", mode="offsets and label", count=_by_offset),
    Scorer(name="entity multiset", mode="surface, occurrence, label", count=_by_occurrence),
    Scorer(name="token", mode="without O", count=_tokens),
    Scorer(name="length-weighted", mode="tokens of right entities", count=_weighted),
    Scorer(name="character", mode="without O and spaces", count=_characters),
    Scorer(name="nervaluate strict", mode="boundaries and label", count=_scenario("strict")),
    Scorer(name="nervaluate exact", mode="boundaries, any label", count=_scenario("exact")),
    Scorer(name="nervaluate partial", mode="overlap is half, any label", count=_scenario("partial")),
    Scorer(name="nervaluate ent_type", mode="any overlap, same label", count=_scenario("ent_type")),
)


def entity_f1(gold: Sequence[Example], predicted: Sequence[Example]) -> float:
    """Return the F1 of entities with the same characters and label."""
    return entity_counts(gold, predicted).f1


def entity_counts(gold: Sequence[Example], predicted: Sequence[Example]) -> Counts:
    """Return the counts of entities with the same characters and label."""
    scorer = next(scorer for scorer in SCORERS if scorer.name == "entity")
    pairs = zip(gold, predicted, strict=True)
    return sum((scorer.count(*pair).total for pair in pairs), Counts())
