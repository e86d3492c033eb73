"""What occurs once is a term only where its words or its place say so."""

import pytest

from ingest.extraction.mentions import Sentence
from ingest.extraction.phrases import count_phrases, is_term_by_form, technical_phrases
from tests.ingest.extraction.paper_builders import extract, paper_of, passages

# Longer than an abstract: nothing here is a term.
FILLER = "We do this and that here so that it is not so short as one would like it to be. " * 30


async def names(text: str) -> set[str]:
    return {entity.name for entity in (await extract(paper_of(*passages(text)))).entities}


@pytest.mark.parametrize(
    "form", ["GrabCut", "KLUE-NER", "region proposal network", "few-shot image classification", "Mask R-CNN"]
)
def test_names_and_phrases_whose_head_says_what_they_are_are_terms(form: str) -> None:
    assert is_term_by_form(form, first=False, headed=False, prominent=False)


@pytest.mark.parametrize("form", ["window", "surrounding scene", "2D", "D models", "Jane Doe", "github.com/x", "IT"])
def test_other_words_are_none(form: str) -> None:
    assert not is_term_by_form(form, first=False, headed=False, prominent=False)


@pytest.mark.parametrize(
    ("text", "found", "missing"),
    [
        ("The gate constrains flow in the region proposal network.", "region proposal network", "constrains flow"),
        ("Each language model trained on QuoRef2 wins.", "language model", "language model trained"),
        ("Ribosomes bind messenger RNA.", "messenger RNA", "bind messenger RNA"),
        ("The immune system regulates airway inflammation.", "airway inflammation", "regulates airway inflammation"),
        ("A novel pulsar timing array is sensitive.", "pulsar timing array", "novel pulsar timing array"),
    ],
)
def test_verbs_and_evaluating_adjectives_belong_to_no_term(text: str, found: str, missing: str) -> None:
    sentence = Sentence(element="p/passage-1", text=text)
    counts = count_phrases([sentence])
    phrases = technical_phrases(counts, [sentence], limit=9, singles=9, prominent={sentence.element})
    forms = {form for phrase in phrases for form in phrase.forms}
    assert found in forms
    assert missing not in forms


def test_the_occurrences_within_a_longer_name_are_counted() -> None:
    texts = ["She joined the Graduate School for Integrative Sciences.", "The Graduate School is small."]
    counts = count_phrases([Sentence(element="p/passage-1", text=text) for text in texts])
    assert counts["graduate school"].frequency == 2
    assert counts["graduate school"].continued == 1


def test_a_word_in_capitals_belongs_to_a_name() -> None:
    counts = count_phrases([Sentence(element="p/passage-1", text="We fly to New York with a new scheme.")])
    assert "new york" in counts
    assert "new scheme" not in counts


async def test_a_short_text_is_read_as_an_abstract() -> None:
    text = "We recover surface orientation from multi-view stereo with GrabCut."
    assert {"surface orientation", "multi-view stereo", "GrabCut"} <= await names(text)
    assert "surface orientation" not in await names(f"{FILLER} {text} {FILLER}")


async def test_the_name_before_the_word_dataset_is_a_dataset() -> None:
    found = await names(f"{FILLER} We train on the Cityscapes dataset and on the Sports 1M corpus with GrabCut.")
    assert "Cityscapes" in found
    assert not any("dataset" in name for name in found)
    assert is_term_by_form("Sports 1M", first=False, headed=True, prominent=False)


async def test_a_term_within_a_longer_one_that_occurs_once_is_found_there_too() -> None:
    text = "Region proposals help. Region proposals win. A fast region proposals network uses GrabCut."
    assert "Region proposals" in await names(f"{text} {FILLER}")


@pytest.mark.parametrize("text", ["", "…", "。"])
def test_a_sentence_without_words_has_no_terms(text: str) -> None:
    assert not count_phrases([Sentence(element="p/passage-1", text=text)])
