"""Whether a text has the form of the answer expected, and the gates and probabilities of quotations."""

import pytest

from paperscope_core.types import Box, Paper, Passage, Place
from query.extractive.confidence import coverage_probability, probabilities, rank
from query.extractive.gates import may_answer
from query.extractive.question import read_question
from query.extractive.quotes import Quote, Scorer
from query.extractive.signals import Signals, signals
from query.extractive.stating import new_words, states
from query.extractive.weights import Weights, vocabulary

PLACE = Place(paper="ffff00000001", page=1, box=Box(0.0, 0.0, 10.0, 10.0))
TEXT = (
    "Alpha is a tagger for radio news. Alpha uses a learning rate of 0.1 and stops early. "
    "Beta was trained on 12 epochs of news. Both systems are annotated."
)


@pytest.mark.parametrize(
    ("question", "text", "stated"),
    [
        ("How many labels are there?", "There are 12 labels.", True),
        ("How many labels are there?", "There are twelve labels.", True),
        ("How many of the 12 labels are used?", "All of the 12 labels are of use.", False),
        ("How many labels are there?", "Half of the labels are used.", True),
        ("When was the corpus released?", "The corpus was released in 2019.", True),
        ("When was the corpus released?", "The corpus was released.", False),
        ("Who annotated the corpus?", "It was annotated by Ann Roe.", True),
        ("Who annotated the corpus?", "It was annotated by students.", False),
        ("Why does training diverge?", "Training diverges because gradients vanish.", True),
        ("How is the corpus built?", "The corpus is built by crawling.", True),
        ("How is the corpus built?", "The corpus is large.", False),
        ("Which dataset is used?", "We use the NewsBank corpus.", True),
        ("Which dataset is used?", "A dataset was used.", False),
        ("Which datasets are used?", "We use NewsBank, WebBank and others.", True),
        ("What is a tagger?", "A tagger is a program.", True),
        ("What is a tagger?", "We built taggers.", False),
        ("What are the results?", "The results are shown in Table 2.", False),
    ],
)
def test_forms(question: str, text: str, stated: bool) -> None:
    assert states(read_question(question), text) is stated


def test_inflected_words_of_the_question_are_not_new() -> None:
    found = new_words(read_question("How are taggers trained?"), "The tagger was trained by hand.")
    assert [word.text for word in found] == ["hand"]


def candidates(text: str) -> tuple[list[Quote], Scorer]:
    passage = Passage(id="ffff00000001/passage-1", place=PLACE, order=1, text=TEXT)
    paper = Paper(
        id="ffff00000001",
        title="Birds",
        authors=(),
        sha256="",
        file="b.pdf",
        pages=(),
        sections=(),
        elements=(passage,),
    )
    weights = Weights([vocabulary(paper)])
    scorer = Scorer(read_question(text, common=weights.common), weights)
    return scorer.quotes(passage, ""), scorer


def answering(text: str) -> set[str]:
    quotes, scorer = candidates(text)
    return {quote.text for quote in quotes if may_answer(read_question(text), quote, scorer)}


def test_a_figure_answers_only_beside_the_thing_asked_about() -> None:
    assert answering("What learning rate does Alpha use?") == {"Alpha uses a learning rate of 0.1 and stops early."}


def test_a_sentence_that_repeats_the_question_does_not_tell_how() -> None:
    assert "Both systems are annotated." not in answering("How are both systems annotated?")


def test_what_a_picture_shows_is_not_told_by_running_text() -> None:
    assert not answering("How many red bars of Alpha appear in the figure?")


def found(question: str) -> list[Signals]:
    quotes, scorer = candidates(question)
    return [signals(read_question(question), quote, scorer, likeness=0.5, within=True) for quote in quotes]


def test_what_holds_the_question_outranks_the_rest() -> None:
    question = read_question("What learning rate does Alpha use?")
    ranks = [rank(question, one) for one in found(question.text)]
    quotes, _ = candidates(question.text)
    assert "learning rate" in quotes[ranks.index(max(ranks))].text


def test_probabilities_lie_between_0_and_1_and_fall_with_rivals() -> None:
    question = read_question("What learning rate does Alpha use?")
    one = found(question.text)[0]
    (alone,), (shared, _) = probabilities(question, [one]), probabilities(question, [one, one])
    assert 0 < shared < alone < 1
    assert probabilities(question, []) == []


def test_reasons_count_by_what_stands_around() -> None:
    question = read_question("Why does Alpha stop early?")
    one = found(question.text)[0]
    assert probabilities(question, [one]) == [probabilities(question, [one, one])[0]]


def test_coverage_makes_a_reading_probable() -> None:
    assert coverage_probability(0.3) < 0.5 < coverage_probability(0.9)
