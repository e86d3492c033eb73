"""A question for a term finds the passages that define it by their form."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from paperscope_core.models.fakes import FakeEmbedder
from query import Retriever
from query.definitions import asked_term, defining_passages, entity_definitions, find_definition
from tests.query.conftest import TREE, MemoryLibrary, passage


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is dice loss?", "dice loss"),
        ("what is the “dice loss” in this paper?", "dice loss"),
        ("Define self-attention.", "self-attention"),
        ("How do the authors define the mass ratio?", "mass ratio"),
        ("What is meant by domain shift?", "domain shift"),
        ("Which loss is best?", ""),
        ("What is the share of rare words in all texts of the corpus?", ""),
    ],
)
def test_the_term_that_a_question_asks_for(question: str, term: str) -> None:
    assert asked_term(question) == term


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("We define a rare tag as one below one percent.", True),
        ("Rare tags (RT) are defined as those below one percent.", True),
        ("Rare tag refers to any tag below one percent.", True),
        ("Rare tags are hard.", False),
        ("The share of rare tags is defined as their count over all.", False),
    ],
)
def test_fixed_forms(sentence: str, stated: bool) -> None:
    paper = replace(TREE, elements=(passage(1, 1, sentence, ""),))
    assert (find_definition("What is a rare tag?", [paper]) is not None) is stated


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is naive sampling?", "Naïve sampling is defined as a draw without replacement."),
        ("What is R0?", "We define R_0 as the number of cases that one case causes."),
        ("What is R_0?", "R₀ is defined as the number of cases that one case causes."),
    ],
)
def test_spellings_of_a_term(question: str, sentence: str) -> None:
    paper = replace(TREE, elements=(passage(1, 1, sentence, ""),))
    found = find_definition(question, [paper])
    assert found is not None
    assert found.sentence == sentence


@pytest.mark.parametrize(
    ("question", "expanded"),
    [
        ("What does WL stand for?", True),
        ("What is “WL” short for in this paper?", True),
        ("what does the acronym WL stand for", True),
        ("What is WL?", True),
        ("What does WL stand for, and who uses it?", False),
        ("What does wl stand for?", False),
        ("Why is WL short for some samples?", False),
    ],
)
def test_the_long_form_of_a_short_one(question: str, expanded: bool) -> None:
    paper = replace(TREE, elements=(passage(1, 1, "The weighted loss (WL) has a parameter.", ""),))
    found = find_definition(question, [paper])
    assert (found is not None) is expanded
    assert found is None or (found.term, found.expansion.casefold()) == ("WL", "weighted loss")


@pytest.mark.parametrize(
    "definition",
    [
        "The weighted loss (WL) has a parameter.",
        "WL, sometimes called soft loss, is a loss with weights.",
        "• WL: a loss with weights.",
        "WL consists of a loss and weights.",
        "We compare it with WL (Doe et al., 2019), a loss with weights.",
        "WL We give each sample a weight.",
        "Losses of this kind are called WL.",
        "In this paper, we propose a new loss with weights, WL.",
    ],
)
def test_a_definition_is_raised_above_other_mentions(definition: str) -> None:
    others = ("WL helps much.", "Scores with WL are in Table 2.", "We train WL on rare tags for five hours.")
    texts = (others[0], others[1], definition, others[2])
    paper = replace(TREE, elements=tuple(passage(number, 1, text, "") for number, text in enumerate(texts)))
    raised = defining_passages("WL", [paper])
    assert max(raised, key=lambda one: raised[one]) == paper.elements[2].id
    assert paper.elements[3].id not in raised


def test_an_abbreviation_that_is_introduced_again_defines_nothing() -> None:
    texts: Sequence[str] = ("A weighted loss (WL) has weights.", "With the weighted loss (WL) we train.")
    paper = replace(TREE, elements=tuple(passage(number, 1, text, "") for number, text in enumerate(texts)))
    assert list(defining_passages("weighted loss", [paper])) == [paper.elements[0].id]
    assert list(defining_passages("WL", [paper])) == [paper.elements[0].id]


NAMES, WHOLE = ("owl index", "OI"), "the whole sentence"


@pytest.mark.parametrize(
    ("names", "sentence", "quote"),
    [
        (NAMES, "An owl index is a number that orders forests by their owls.", WHOLE),
        (NAMES, "OI is an order of forests defined by their owls.", WHOLE),
        (NAMES, "Here, the owl index is defined as owls per tree.", WHOLE),
        (NAMES, "Forests have an owl index (OI) each.", "owl index (OI)"),
        (("OI",), "We use the OI (owl index) of Doe (2019).", "OI (owl index)"),
        (NAMES, "Losses have an overlap integral (OI) each.", ""),
        (NAMES, "An owl index is a natural choice because owls hoot.", ""),
        (NAMES, "The mean of the owl index is defined as a sum over forests.", ""),
        (NAMES, "Forests with an owl index are rare.", ""),
    ],
)
def test_an_entity_has_the_definitions_whose_form_is_certain(names: Sequence[str], sentence: str, quote: str) -> None:
    elements = [passage(1, 1, f"Owls matter. {sentence}", "")]
    found = entity_definitions(names, elements)
    assert [one.quote for one in found.values()] == [sentence if quote == WHOLE else quote][: bool(quote)]


async def test_the_definition_is_retrieved_first() -> None:
    texts = ("Dice helps rare tags, and Dice is fast.", "Dice and Dice again.", "By Dice we mean a loss of overlaps.")
    elements = tuple(passage(number, 1, text, "") for number, text in enumerate(texts, start=11))
    library = MemoryLibrary(replace(TREE, elements=(*TREE.elements, *elements)))
    found = await Retriever(library, library, FakeEmbedder()).retrieve("What is Dice?")
    assert found.context.sources[0].element == elements[2].id
