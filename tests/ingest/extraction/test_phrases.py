"""What stands once is a term only where its words or its place say so."""

import pytest

from ingest.chunking import chunk_paper
from ingest.extraction import LocalExtractor
from ingest.extraction.phrases import is_fragment, is_term_by_form
from paperscope_core.types import Box, Paper, Passage, Place

# Longer than an abstract: nothing here is a term.
FILLER = "We do this and that here so that it is not so short as one would like it to be. " * 30


async def names(text: str) -> set[str]:
    place = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
    passage = Passage(id="p/passage-1", place=place, order=1, text=text)
    paper = Paper(
        id="p", title="", authors=(), sha256="", file="p.pdf", pages=(), sections=(), elements=(passage,), links=()
    )
    return {entity.name for entity in (await LocalExtractor().extract(paper, chunk_paper(paper))).entities}


@pytest.mark.parametrize(
    "form", ["GrabCut", "KLUE-NER", "region proposal network", "few-shot image classification", "Mask R-CNN"]
)
def test_names_and_phrases_whose_head_says_what_they_are_are_terms(form: str) -> None:
    assert is_term_by_form(form, first=False, headed=False, prominent=False)


@pytest.mark.parametrize(
    "form", ["window", "surrounding scene", "2D", "D models", "Jane Doe", "github.com/x", "language model", "IT"]
)
def test_other_words_are_none(form: str) -> None:
    assert not is_term_by_form(form, first=False, headed=False, prominent=False)


@pytest.mark.parametrize(
    "form", ["constrains flow", "model trained", "arrows pointing", "preserving resolution", "feature maps merge well"]
)
def test_a_phrase_with_a_verb_or_without_a_head_is_a_fragment(form: str) -> None:
    assert is_fragment(form)
    assert not is_term_by_form(form, first=False, headed=False, prominent=False)


@pytest.mark.parametrize("form", ["learning rate", "weighted majority", "loss analysis", "analysis tool"])
def test_participles_and_nouns_in_s_may_qualify_a_head(form: str) -> None:
    assert not is_fragment(form)


async def test_a_short_text_is_read_as_an_abstract() -> None:
    text = "We recover surface orientation from multi-view stereo with GrabCut."
    assert {"surface orientation", "multi-view stereo", "GrabCut"} <= await names(text)
    assert "surface orientation" not in await names(f"{FILLER} {text} {FILLER}")


async def test_the_name_before_the_word_dataset_is_a_dataset() -> None:
    found = await names(f"{FILLER} We train on the Cityscapes dataset and on the Sports 1M corpus with GrabCut.")
    assert {"Cityscapes", "Sports 1M"} <= found
    assert not any("dataset" in name for name in found)


async def test_a_term_within_a_longer_one_that_stands_once_is_found_there_too() -> None:
    text = "Region proposals help. Region proposals win. A fast region proposals network uses GrabCut."
    assert "Region proposals" in await names(f"{text} {FILLER}")
