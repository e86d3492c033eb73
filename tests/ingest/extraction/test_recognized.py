"""Names that a recognizer finds, and what the extractor makes of them."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.local_extractor import LocalExtractor
from ingest.extraction.mentions import read_paper
from ingest.extraction.pipeline import extractor_for
from ingest.extraction.recognized import RecognizedNames, texts_to_recognize
from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.termhood import Termhood, worth_an_entity
from ingest.extraction.terms import Term
from paperscope_core.settings import ExtractSettings
from paperscope_core.types import Paper
from tests.ingest.extraction.paper_builders import paper_of, passages, table_of
from tests.remembered_names import NAMES_ADDRESS

PAPER = paper_of(*passages("GLUE is used. We train on GLUE and Dice losses.", "Dice loss is hard."), table_of("a|b"))


def found_in(paper: Paper, names: Mapping[str, tuple[str, float | None]]) -> list[Example]:
    """What a recognizer that knows these names finds in a paper, each once a sentence."""
    return [
        replace(
            example,
            spans=tuple(
                Span(start=start, end=start + len(name), label=label, confidence=confidence)
                for name, (label, confidence) in names.items()
                if (start := example.text.find(name)) >= 0
            ),
        )
        for example in texts_to_recognize(paper)
    ]


@pytest.mark.parametrize(
    ("found", "types"),
    [
        ({}, [None, None]),
        ({"GLUE": ("Dataset", 0.4)}, ["dataset", None]),
        # "Dice losses" and "Dice loss" are one name; their confidences are summed.
        ({"Dice losses": ("Task", 0.9), "Dice loss is": ("Task", 1), "Dice loss": ("Method", 0.5)}, [None, "method"]),
        ({"GLUE": ("Person", None)}, [None, None]),
    ],
)
def test_a_name_has_the_type_with_most_confidence(
    found: dict[str, tuple[str, float | None]], types: list[str | None]
) -> None:
    names = RecognizedNames.of(found_in(PAPER, found))
    assert [names.type_of(["GLUE"]), names.type_of(["the Dice", "Dice loss"])] == types


@pytest.mark.parametrize(("concepts", "type_"), [(0, "method"), (3, "concept")])
def test_a_name_has_no_type_in_a_paper_of_another_field(concepts: int, type_: str) -> None:
    places = ["malaria", "Lake Victoria", "mosquitoes"][:concepts]
    paper = paper_of(*passages("Bayesian regression of malaria near Lake Victoria needs mosquitoes."))
    found = found_in(paper, {"Bayesian regression": ("Method", 0.8), **dict.fromkeys(places, ("Concept", 0.9))})
    types = {one.name: one.type for one in LocalExtractor().draw(paper, found).entities}
    assert types["Bayesian regression"] == type_
    assert {types.get(name, "concept") for name in places} <= {"concept"}


def test_several_places_with_little_confidence_are_as_good_as_one_with_much() -> None:
    found = {"GLUE": ("Dataset", 0.4), "Dice losses": ("Method", 0.6), "train": ("Task", 0.7)}
    names = RecognizedNames.of(found_in(PAPER, found))
    assert {(term.name, term.type, term.single) for term in names.terms()} == {
        ("GLUE", "dataset", False),
        ("train", "task", True),
    }
    assert names.weight(["GLUE", "train"]) == pytest.approx(1.5)


def test_a_definition_that_was_found_as_one_name_is_two_forms_of_it() -> None:
    paper = paper_of(*passages("We study named entity recognition (NER) here.", "NER is hard."))
    found = found_in(paper, {"named entity recognition (NER)": ("Task", 0.9)})
    names = RecognizedNames.of(found)
    assert {form for term in names.terms() for form in term.forms} == {"named entity recognition", "NER"}
    (term,) = [one for one in LocalExtractor().draw(paper, found).entities if one.type == "task"]
    assert (term.name, term.aliases) == ("named entity recognition", ("NER",))


def test_a_place_that_opens_a_bracket_ends_with_the_one_that_closes_it() -> None:
    paper = paper_of(*passages("We study named entity recognition (NER) here.", "A name (NER of people) is hard."))
    names = RecognizedNames.of(
        found_in(paper, {"named entity recognition (NER": ("Task", 0.6), "name (NER of": ("Dataset", 0.5)})
    )
    assert [names.type_of([form]) for form in ("named entity recognition", "NER", "name (NER of")] == [
        "task",
        "task",
        "dataset",
    ]


def test_names_that_the_rules_lack_become_entities() -> None:
    paper = paper_of(*passages("We study how to parse and rank with transformers on GLUE.", "Words and words."))
    names = {"parse and rank": ("Task", 0.9), "GLUE": ("Dataset", 0.9)}
    alone = LocalExtractor().draw(paper)
    joined = LocalExtractor().draw(paper, found_in(paper, names))
    assert "parse and rank" not in {entity.name for entity in alone.entities}
    assert {("parse and rank", "task"), ("GLUE", "dataset")} <= {(one.name, one.type) for one in joined.entities}


def test_what_a_header_or_a_definition_states_needs_no_vote() -> None:
    class Scored(Termhood):
        def score(self, term: Term) -> float:
            return 1.5 + self.names.weight(term.forms)

    text = read_paper(paper_of(*passages(*["A long text of many words about nothing at all."] * 200)))
    names = RecognizedNames.of(found_in(PAPER, {"GLUE": ("Dataset", 0.9)}))
    terms = [
        Term(forms=(name,), type="concept", score=1, kept=name == "Macro F1")
        for name in ("a phrase", "Macro F1", "GLUE")
    ]
    kept = worth_an_entity(terms, Scored.of(text, {}, names))
    assert [term.name for term in kept] == ["Macro F1", "GLUE"]


def test_a_type_that_the_settings_lack_is_the_rest() -> None:
    extractor = LocalExtractor(types=TypeSystem(meanings={"metric": "", "thing": ""}))
    found = found_in(PAPER, {"GLUE": ("Dataset", None)})
    assert {entity.type for entity in extractor.draw(PAPER, found).entities if entity.name == "GLUE"} == {"thing"}


def test_a_short_text_is_read_as_a_whole() -> None:
    texts = [example.text for example in texts_to_recognize(PAPER)]
    assert texts == ["GLUE is used.", "We train on GLUE and Dice losses.", "Dice loss is hard."]


def test_half_of_a_longer_text_is_read_that_with_most_words() -> None:
    news = [f"The name{number} beats other{number} and third{number}." for number in range(60)]
    paper = paper_of(*passages(*[f"{new} It is what it was and this is all that it was." for new in news]))
    read = [example.text for example in texts_to_recognize(paper)]
    assert set(news) < set(read)
    assert 500 < sum(len(text.split()) for text in read) <= 600
    long = paper_of(*passages(*["A sentence of six words here."] * 5000))
    assert sum(len(example.text.split()) for example in texts_to_recognize(long)) <= 10_000


def test_writing_without_spaces_is_as_long_as_its_letters() -> None:
    paper = paper_of(*passages(*["\u547d\u540d\u5b9e\u4f53\u8bc6\u522b" * 100] * 500))
    assert sum(len(example.text) for example in texts_to_recognize(paper)) <= 10_000 * 4


@pytest.mark.slow
def test_the_installed_recognizer_is_used_unless_the_settings_say_otherwise() -> None:
    text = "We train ConvNeXt on the ImageNet dataset for image classification. ImageNet and ConvNeXt are compared."
    extractor = extractor_for(None, ExtractSettings())
    extraction = asyncio.run(extractor.extract(paper_of(*passages(text)), []))
    types = {entity.name: entity.type for entity in extraction.entities}
    assert (types["ConvNeXt"], types["ImageNet"]) == ("method", "dataset")


@pytest.mark.slow
def test_reading_a_paper_loads_neither_pytorch_nor_transformers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAMES_ADDRESS)
    code = (
        "import asyncio, sys; from paperscope import Library; from ingest.extraction import extractor_for\n"
        "heavy = {'onnxruntime', 'torch', 'transformers'}\n"
        "extractor = extractor_for(None); loaded = heavy & set(sys.modules)\n"
        "from tests.ingest.extraction.paper_builders import paper_of, passages\n"
        "asyncio.run(extractor.extract(paper_of(*passages('We train BERT.')), []))\n"
        "print(sorted(loaded), sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[] ['onnxruntime']"
