"""Sentences as evidence: surroundings, pairs, pronouns, reasons, abbreviations, display equations and figures asked."""

from collections.abc import Sequence

import pytest

from paperscope_core.types import Box, Element, Equation, Paper, Passage, Place, Section
from query.extractive.definitions import definition
from query.extractive.formulas import formulas
from query.extractive.numbers import numbers_in
from query.extractive.question import read_question
from query.extractive.quotes import Quote, Scorer, complementing
from query.extractive.weights import Weights, vocabulary

PAPER = "dddd00000001"
PLACE = Place(paper=PAPER, page=1, box=Box(0.0, 0.0, 10.0, 10.0))


def passage(number: int, text: str) -> Passage:
    return Passage(id=f"{PAPER}/passage-{number}", place=PLACE, order=number, text=text, section="s1")


MODES = passage(
    1,
    "A parser meets broken brackets daily. In lenient mode tagcheck closes the bracket. "
    "In pedantic mode it rejects the line.",
)
RUN = passage(2, "Bird-2 labels every word as a bird. Its recall is 0.99. This looks like an error in the labels.")
MEAN = passage(3, "Training uses Slow Weight Tying (SWT). It ties the weights after each epoch:")
TIED = Equation(id=f"{PAPER}/equation-1", place=PLACE, order=4, text="w = (a + b)/2", label="Equation 1", section="s1")
REST = passage(5, "Here a and b are layers. Learning rates were 0.1 because larger ones diverge. We stopped early.")


def paper(*elements: Element) -> Paper:
    sections = (Section(id="s1", number="1", title="Checkers", level=1, path="1 Checkers"),)
    return Paper(
        id=PAPER,
        title="Birds",
        authors=(),
        sha256="",
        file="b.pdf",
        pages=(),
        sections=sections,
        elements=elements,
    )


FREQUENCY = "term frequency-inverse document frequency"
LIBRARY = paper(MODES, RUN, MEAN, TIED, REST)


def scorer(question: str) -> Scorer:
    weights = Weights([vocabulary(LIBRARY)])
    return Scorer(read_question(question, common=weights.common), weights)


def best(question: str, element: Element, *, section: str = "") -> Quote:
    return max(scorer(question).quotes(element, section), key=lambda quote: quote.coverage)


def test_a_difference_is_told_by_two_neighbouring_sentences() -> None:
    found = best("What is the difference between tagcheck's lenient and pedantic modes?", MODES)
    assert found.text.startswith("In lenient mode")
    assert found.text.endswith("rejects the line.")


def test_the_sections_title_counts_for_its_sentences() -> None:
    question = "Which checkers close a bracket?"
    bare, titled = best(question, MODES), best(question, MODES, section="1 Checkers")
    assert bare.text == titled.text
    assert titled.coverage > bare.coverage


def test_a_reason_is_quoted_up_to_what_follows_the_fact() -> None:
    assert best("Why is Bird-2 distrusted?", RUN).said.endswith("This looks like an error in the labels.")


def test_a_sentence_that_gives_its_reason_is_quoted_alone() -> None:
    said = best("Why were the learning rates so small?", REST).said
    assert said == "Learning rates were 0.1 because larger ones diverge."


def test_a_pronoun_brings_the_sentence_that_it_points_back_to() -> None:
    assert best("What recall has it?", RUN).said.startswith("Bird-2 labels every word as a bird. Its recall is 0.99.")


def test_a_possessive_s_tells_nothing() -> None:
    question = read_question("What is the model's recall?")
    assert "s" not in {question.words[index].text for index in question.telling}


def test_a_word_weighs_as_much_as_its_other_form() -> None:
    weights = Weights([vocabulary(LIBRARY)])
    assert weights.of("epochs") == weights.of("epoch")
    assert weights.of("parsers") == weights.of("parser") > weights.of("zebra")


def test_what_is_quoted_already_is_not_quoted_again() -> None:
    asked = scorer("What recall has Bird-2, and what does it label?")
    quotes: Sequence[Quote] = sorted(asked.quotes(RUN, ""), key=lambda quote: -quote.coverage)
    chosen = complementing(quotes, asked)
    assert len(chosen) == 1


@pytest.mark.parametrize(
    "question",
    ["What does SWT stand for?", "What is SWT short for?", "What is the full name of SWT?", "What does “SWT” mean?"],
)
def test_an_abbreviation_is_answered_from_where_it_is_introduced(question: str) -> None:
    found = definition(question, scorer(question), [LIBRARY])
    assert found is not None
    assert found[0] == "SWT stands for Slow Weight Tying"
    assert "(SWT)" in found[1].said


@pytest.mark.parametrize("question", ["What does ABC stand for?", "What does training use?", "What does it mean?"])
def test_what_no_passage_introduces_is_no_abbreviation(question: str) -> None:
    assert definition(question, scorer(question), [LIBRARY]) is None


def test_an_equation_is_found_by_the_words_around_it() -> None:
    (found,) = formulas(scorer("How are the weights tied in Slow Weight Tying computed?"), [LIBRARY], {})
    assert found.equation is TIED
    shown = "“It ties the weights after each epoch: w = (a + b)/2 Here a and b are layers.” (Equation 1, page 1)"
    assert found.shown == shown
    assert [evidence.element for evidence in found.evidence] == [MEAN.id, TIED.id, REST.id]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It reaches 89.46 in 2 runs.", ("89.46", "2")),
        ("BERT (Devlin et al., 2019) on CoNLL-2003 and F1 alone [12].", ()),
    ],
)
def test_figures_stated(text: str, found: tuple[str, ...]) -> None:
    assert tuple(number.rstrip(".") for number in numbers_in(text)) == found


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("From which epoch on are weights tied?", True),
        ("What entity F1 does it reach?", True),
        ("What does it reach?", False),
    ],
)
def test_questions_that_only_figures_answer(text: str, quantity: bool) -> None:
    assert read_question(text).quantity is quantity
