"""Scores: those of seqeval, seqscore, nervaluate and KLUE-baseline on random cases, and where a library errs."""

import random
import warnings
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.ner.columns import example_of_tags
from paperscope_lab.ner.scoring import (
    SCORERS,
    Counts,
    PredictedTags,
    Score,
    aligned_tags,
    character_macro_f1,
    match_entities,
    score_all,
    score_seqeval,
)
from paperscope_lab.ner.tags import Entity, Scheme, decode, encode

from ingest.extraction.recognizer.examples import Example, Span

TAGS: dict[Scheme, list[str]] = {
    "IOB1": "O B-A I-A B-B I-B".split(),
    "IOB2": "O B-A I-A B-B I-B".split(),
    "BIOES": "O B-A I-A E-A S-A B-B I-B E-B S-B".split(),
}


def random_tags(draw: random.Random, scheme: Scheme) -> tuple[list[list[str]], list[list[str]]]:
    lengths = [draw.randint(1, 6) for _ in range(draw.randint(1, 3))]
    gold, predicted = ([[draw.choice(TAGS[scheme]) for _ in range(size)] for size in lengths] for _ in range(2))
    return [encode(len(tags), decode(tags), scheme) for tags in gold], predicted


def score_tags(gold: list[list[str]], predicted: list[list[str]], *, strict: bool, scheme: Scheme) -> Score:
    examples = [example_of_tags(str(number), ["w"] * len(tags), tags) for number, tags in enumerate(gold)]
    return score_seqeval(examples, examples, strict=strict, tags=PredictedTags(tags=predicted, scheme=scheme))


def random_entities(draw: random.Random, *, overlap: bool) -> list[Entity]:
    entities: set[Entity] = set()
    reached = 0
    while reached < 10:
        start = draw.randint(0, 6) if overlap else reached + draw.randint(0, 2)
        entities.add((start, start + draw.randint(1, 3), draw.choice("AB")))
        reached = reached + 3 if overlap else max(end for _, end, _ in entities)
    return sorted(entities)


def agree_with_seqeval(gold: list[list[str]], predicted: list[list[str]], scheme: Scheme) -> None:
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as default
    from seqeval.metrics.v1 import precision_recall_fscore_support as strict
    from seqeval.scheme import IOB2, IOBES

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = {False: default(gold, predicted, average="micro", zero_division=0)}
        macro = default(gold, predicted, average="macro", zero_division=0)[2]
        if scheme != "IOB1":
            kind = {"IOB2": IOB2, "BIOES": IOBES}[scheme]
            theirs[True] = strict(gold, predicted, average="micro", zero_division=0, scheme=kind)
    for mode, figures in theirs.items():
        ours = score_tags(gold, predicted, strict=mode, scheme=scheme)
        assert (ours.total.precision, ours.total.recall, ours.total.f1) == pytest.approx(figures[:3])
        if not mode and ours.labels:  # seqeval's mean of no labels is a division by zero
            assert ours.macro_f1 == pytest.approx(macro)


def agree_with_seqscore(gold: list[list[str]], predicted: list[list[str]], scheme: Scheme) -> None:
    from seqscore.scoring import score_label_sequences

    for repair, strict in (("conlleval", False), ("discard", True)):
        if scheme == "IOB2" or (scheme, strict) == ("IOB1", False):  # it repairs no other schemes in these ways
            name = {"IOB2": "BIO", "IOB1": "IOB"}[scheme]
            theirs, _ = score_label_sequences(predicted, gold, name, repair=repair)
            ours = score_tags(gold, predicted, strict=strict, scheme=scheme).total
            assert (ours.correct, ours.predicted, ours.gold) == (theirs.true_pos, theirs.total_pos, theirs.total_ref)


def nervaluate(gold: Sequence[Entity], predicted: Sequence[Entity]) -> dict[str, tuple[int, ...]]:
    from nervaluate import Evaluator

    documents = (
        [{"label": label, "start": start, "end": end - 1} for start, end, label in one] for one in (gold, predicted)
    )
    due, given = documents
    # A first document without entities can break its reading; one right entity is added, and taken off again.
    more = [{"label": "A", "start": 0, "end": 0}]
    found = Evaluator([more, due], [more, given], tags=["A", "B"], loader="dict").evaluate()["overall"]
    return {
        name: (one.correct - 1, one.incorrect, one.partial, one.missed, one.spurious) for name, one in found.items()
    }


def outcomes(gold: Sequence[Entity], predicted: Sequence[Entity]) -> dict[str, tuple[int, ...]]:
    return {
        name: (one.correct, one.incorrect, one.partial, one.missed, one.spurious)
        for name in ("strict", "exact", "partial", "ent_type")
        for one in [match_entities(gold, predicted, name)]
    }


def klue_tags(example: Example) -> list[str]:
    """The tags of a KLUE file: one for each character but spaces."""
    tags = ["O"] * len(example.text)
    for span in example.spans:
        inside = [at for at in range(span.start, span.end) if not example.text[at].isspace()]
        for at in inside:
            tags[at] = f"{'B' if at == inside[0] else 'I'}-{span.label}"
    return [tag for tag, character in zip(tags, example.text, strict=True) if not character.isspace()]


def agree_with_klue_baseline(draw: random.Random) -> None:
    """Its metrics are those of seqeval and scikit-learn over the tags of all characters of all sentences in a row."""
    from seqeval.metrics import f1_score as entity_f1
    from seqeval.scheme import IOB2
    from sklearn.metrics import f1_score as character_f1

    pairs = [
        [
            example(text, *((2 * start, 2 * end - 1, label) for start, end, label in flat(draw)))
            for _ in ("gold", "predicted")
        ]
        for text in (" ".join("abcdefghijklmnop"), " ".join("qrstuvwxyzabcdef"))
    ]
    gold, predicted = [list(one) for one in zip(*pairs, strict=True)]
    due, given = ([tag for one in side for tag in klue_tags(one)] for side in (gold, predicted))
    names = sorted({tag[2:] for tag in (*due, *given)} - {""})
    tags = ["O", *(f"{part}-{name}" for name in names for part in "BI")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        characters = character_f1(due, given, labels=tags, average="macro", zero_division=1)
        entities = entity_f1([due], [given], average="macro", mode="strict", scheme=IOB2) if names else 0
    assert character_macro_f1(gold, predicted) == pytest.approx(characters)
    ours = next(one for one in score_all(gold, predicted) if one.name == "entity")
    assert ours.macro_f1 == pytest.approx(entities)


def flat(draw: random.Random) -> list[Entity]:
    return random_entities(draw, overlap=False) if draw.random() < 0.9 else []


def test_random_cases_agree_with_the_libraries() -> None:
    """With `--hypothesis-profile thorough`, as many as docs/guides/entity-extractors.md reports."""
    draw = random.Random(17)
    for case in range(4 * settings().max_examples):
        scheme = draw.choice(list(TAGS))
        gold, predicted = random_tags(draw, scheme)
        agree_with_seqeval(gold, predicted, scheme)
        agree_with_seqscore(gold, predicted, scheme)
        entities = [random_entities(draw, overlap=bool(case % 2)) for _ in range(2)]
        assert outcomes(*entities) == nervaluate(*entities)
        agree_with_klue_baseline(draw)


def test_seqeval_s_strict_iob1_reads_half_an_entity() -> None:
    """A B that separates nothing is wrong in IOB1. seqeval drops it, and then reads the I after it as an entity."""
    from seqeval.metrics.v1 import precision_recall_fscore_support
    from seqeval.scheme import IOB1

    gold, predicted = [["I-A", "B-A"]], [["B-A", "I-A"]]
    assert score_tags(gold, predicted, strict=True, scheme="IOB1").total == Counts(correct=0, predicted=0, gold=2)
    theirs = precision_recall_fscore_support(gold, predicted, average="micro", scheme=IOB1)
    assert theirs[:2] == (1, 0.5)


def test_an_earlier_entity_takes_the_gold_of_an_exact_one_as_in_nervaluate() -> None:
    gold, predicted = [(4, 6, "A")], [(3, 5, "A"), (4, 6, "A")]
    assert outcomes(gold, predicted)["strict"] == nervaluate(gold, predicted)["strict"] == (0, 1, 0, 0, 1)
    gold, predicted = [(2, 5, "A"), (6, 9, "B")], [(2, 3, "B"), (4, 7, "A")]
    assert outcomes(gold, predicted)["ent_type"] == nervaluate(gold, predicted)["ent_type"] == (0, 2, 0, 0, 0)


def test_less_than_a_hundredth_of_a_gold_entity_is_no_overlap() -> None:
    gold, predicted = [(0, 101, "A")], [(100, 102, "A")]
    assert outcomes(gold, predicted)["ent_type"] == nervaluate(gold, predicted)["ent_type"] == (0, 0, 0, 1, 1)


def test_overlap_is_that_of_tokens_and_an_entity_off_them_is_not_exact() -> None:
    gold = example("New York saw Ada", (0, 8, "LOC"))
    found = totals(gold, example("New York saw Ada", (0, 7, "LOC")))
    assert (found["nervaluate exact"], found["nervaluate partial"]) == ((0, 1, 1), (0.5, 1, 1))
    plain = replace(gold, tokens=())
    assert totals(plain, plain)["nervaluate strict"] == (1, 1, 1)


def test_nervaluate_fails_if_the_first_document_is_empty() -> None:
    from nervaluate import Evaluator

    with pytest.raises(IndexError):
        Evaluator([[], ["B-A"]], [[], ["B-A"]], tags=["A"], loader="default").evaluate()
    assert score_tags([[], ["B-A"]], [[], ["B-A"]], strict=True, scheme="IOB2").total.f1 == 1


def test_character_macro_f1_leaves_out_spaces() -> None:
    from sklearn.metrics import f1_score

    gold = example("Ada of Rome", (0, 3, "P"), (7, 11, "L"))
    predicted = example("Ada of Rome", (0, 6, "P"))
    due = ["B-P", "I-P", "I-P", "O", "O", "B-L", *["I-L"] * 3]
    given = ["B-P", *["I-P"] * 4, *["O"] * 4]
    theirs = f1_score(due, given, average="macro", zero_division=1)
    assert character_macro_f1([gold], [predicted]) == pytest.approx(theirs)


def example(text: str, *spans: tuple[int, int, str], failure: str | None = None) -> Example:
    places: list[tuple[int, int]] = []
    for word in text.split(" "):
        start = places[-1][1] + 1 if places else 0
        places.append((start, start + len(word)))
    found = tuple(Span(start=start, end=end, label=label) for start, end, label in spans)
    return Example(id=text, text=text, tokens=tuple(places), spans=found, failure=failure)


def totals(gold: Example, predicted: Example) -> dict[str, tuple[float, int, int]]:
    return {
        score.name: (score.total.correct, score.total.predicted, score.total.gold)
        for score in score_all([gold], [predicted])
    }


def test_every_scorer_counts_by_its_own_rule() -> None:
    gold = example("New York saw Ada", (0, 8, "LOC"), (13, 16, "PER"))
    found = totals(gold, example("New York saw Ada", (0, 8, "LOC"), (9, 16, "PER")))
    assert found == {
        "sentence": (0, 1, 1),
        "entity": (1, 2, 2),
        "entity multiset": (1, 2, 2),
        "token": (3, 4, 3),
        "length-weighted": (2, 4, 3),
        "character": (10, 13, 10),
        "nervaluate strict": (1, 2, 2),
        "nervaluate exact": (1, 2, 2),
        "nervaluate partial": (1.5, 2, 2),
        "nervaluate ent_type": (2, 2, 2),
        "seqeval default": (1, 2, 2),
        "seqeval strict": (1, 2, 2),
    }


def test_a_failed_output_scores_as_empty() -> None:
    gold = example("Ada saw", (0, 3, "PER"))
    found = totals(gold, example("Ada saw", failure="no brackets"))
    assert found["sentence"] == (0, 1, 1)
    assert {found[name] for name in found if name not in ("sentence", "token", "length-weighted", "character")} == {
        (0, 0, 1)
    }
    assert totals(example("Ada saw"), example("Ada saw", failure="no brackets"))["sentence"] == (0, 1, 1)


def test_an_entity_off_the_tokens_is_wrong_and_not_forgotten() -> None:
    gold = example("Ada saw", (0, 3, "PER"))
    predicted = example("Ada saw", (0, 2, "PER"), (0, 7, "PER"))
    assert totals(gold, predicted)["seqeval strict"] == (0, 2, 1)
    assert aligned_tags(predicted) == ["B-PER", "I-PER"]


def test_a_repeated_prediction_counts_only_in_multisets() -> None:
    gold = example("Ada saw", (0, 3, "PER"))
    found = totals(gold, example("Ada saw", (0, 3, "PER"), (0, 3, "PER")))
    assert (found["entity"], found["entity multiset"]) == ((1, 1, 1), (1, 2, 1))


def test_a_surface_that_overlaps_itself_is_right_only_at_its_place() -> None:
    found = totals(example("Ha Ha Ha", (0, 5, "SONG")), example("Ha Ha Ha", (3, 8, "SONG")))
    assert found["entity"] == found["entity multiset"] == (0, 1, 1)
    assert found["sentence"] == (0, 1, 1)


def test_entities_that_overlap_or_repeat_count_in_seqeval_as_they_do_by_offsets() -> None:
    gold = example("New York City", (0, 13, "LOC"), (4, 8, "LOC"), (4, 8, "LOC"))
    found = totals(gold, example("New York City", (4, 8, "LOC")))
    assert found["seqeval default"] == found["seqeval strict"] == found["entity"] == (1, 1, 2)


def test_predicted_tags_decide_seqeval_s_modes() -> None:
    gold = example("New York saw", (0, 8, "LOC"))

    def score(scheme: Scheme, *tags: str) -> dict[str, Score]:
        return {one.name: one for one in score_all([gold], [gold], tags=PredictedTags(tags=[tags], scheme=scheme))}

    by_name = score("IOB2", "I-LOC", "I-LOC", "O")
    assert by_name["seqeval default"].total.f1 == 1
    assert by_name["seqeval strict"].total == Counts(correct=0, predicted=0, gold=1)
    with pytest.raises(ValueError, match="2 tags for 3 tokens"):
        score("IOB2", "O", "O")


@pytest.mark.parametrize(
    ("scheme", "tags"), [("BIOES", ["B-LOC", "E-LOC", "S-PER"]), ("IOB1", ["I-LOC", "I-LOC", "I-PER"])]
)
def test_the_scheme_of_the_predicted_tags_is_not_asked_of_the_gold(scheme: Scheme, tags: list[str]) -> None:
    gold = example("New York Ada", (0, 8, "LOC"), (9, 12, "PER"))
    scores = score_all([gold], [gold], tags=PredictedTags(tags=[tags], scheme=scheme))
    assert [score.total.f1 for score in scores[-2:]] == [1, 1]
    assert scores[-1].mode == f"{scheme}, orphans dropped"


def test_entities_that_all_overlap_are_matched_in_time() -> None:
    draw = random.Random(1)
    gold, predicted = (
        [(start, start + draw.randint(1, 60), draw.choice("AB")) for start in draw.choices(range(300), k=1200)]
        for _ in range(2)
    )
    found = match_entities(sorted(gold), sorted(predicted), "ent_type")
    assert found.correct > 1100
    assert found.counts.predicted == found.counts.gold == 1200


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Example, Example]:
    text = draw(st.sampled_from(["ab c def", "한국은 왔다", "e\u0301 😀 x", "שלום עולם"]))
    ends = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda pair: pair[0] < pair[1])
    spans = st.lists(st.tuples(ends, st.sampled_from("AB")), max_size=4)
    one, other = (example(text, *((*place, label) for place, label in draw(spans))) for _ in range(2))
    return one, other


def test_an_entity_within_a_token_matches_itself() -> None:
    gold = example("ab c def", (0, 1, "A"), (6, 7, "A"))
    assert {one.total.f1 for one in score_all([gold], [gold]) if one.name.startswith("nervaluate")} == {1}


@given(pair=pairs())
def test_scores_of_any_spans_keep_their_bounds(pair: tuple[Example, Example]) -> None:
    gold, predicted = pair
    scores: dict[str, Score] = {one.name: one for one in score_all([gold], [predicted])}
    assert len(scores) == len(SCORERS) + 2
    for score in scores.values():
        assert 0 <= score.total.correct <= min(score.total.predicted, score.total.gold)
    f1 = {name: score.total.f1 for name, score in scores.items()}
    assert f1["nervaluate strict"] <= f1["nervaluate exact"] <= f1["nervaluate partial"]
    assert f1["nervaluate strict"] <= f1["nervaluate ent_type"]
    assert all(one.total.f1 in (0, 1) for one in score_all([gold], [gold]))
