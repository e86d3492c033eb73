"""A follow-up is filled up from the last turn, and a question that stands by itself is left as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.types import Turn
from query.question.follow_ups import complete_follow_up, depends_on_history, parallels

TYPES = {"bert-dsc": "method", "xlnet": "method", "quoref": "dataset", "msra": "dataset", "f1": "metric"}
LAST = Turn(question="What is the F1 of BERT-DSC on QUOREF in Table 5?", answer="It is 88.2.")
BEST = Turn(question="Which model is best on CTB5?", answer="BERT+DSC: 97.92 F1 on CTB5.")


def type_of(name: str) -> str:
    return TYPES.get(name.casefold(), "")


@pytest.mark.parametrize(
    ("question", "full"),
    [
        ("and on CoNLL?", "What is the F1 of BERT-DSC on CoNLL in Table 5?"),
        ("What about XLNet?", "What is the F1 of XLNet on QUOREF in Table 5?"),
        ("How about CoNLL?", "What is the F1 of BERT-DSC on CoNLL in Table 5?"),
        ("for MSRA?", "What is the F1 of BERT-DSC on MSRA in Table 5?"),
        ("And in Table 3?", "What is the F1 of BERT-DSC on QUOREF in Table 3?"),
        ("what about Table 6?", "What is the F1 of BERT-DSC on QUOREF in Table 6?"),
        ("and without pretraining?", "What is the F1 of BERT-DSC on QUOREF in Table 5, without pretraining?"),
        ("Why?", "Why: What is the F1 of BERT-DSC on QUOREF in Table 5?"),
        ("What learning rate does it use?", "What learning rate does BERT-DSC use?"),
        ("And what is its precision?", "what is BERT-DSC’s precision?"),
        ("How do they train it?", "How do they train it (BERT-DSC)?"),
        ("Is it better than BERT?", "Is BERT-DSC better than BERT?"),
        ("Table 3?", "What is the F1 of BERT-DSC on QUOREF in Table 3?"),
        ("By how much?", "By how much: What is the F1 of BERT-DSC on QUOREF in Table 5?"),
        ("And which learning rate?", "which learning rate (BERT-DSC, QUOREF)?"),
        ("Which one is best?", "Which one is best: What is the F1 of BERT-DSC on QUOREF in Table 5?"),
    ],
)
def test_what_is_left_out_comes_from_the_last_question(question: str, full: str) -> None:
    assert depends_on_history(question)
    assert complete_follow_up(question, [BEST, LAST], type_of) == full


@pytest.mark.parametrize(
    ("question", "before", "near", "full"),
    [
        (
            "And the best recall?",
            "What is the best precision on CTB5?",
            {"best": 0.6, "best precision": 0.5, "precision": 0.4},
            "What is the best recall on CTB5?",
        ),
        (
            "And text?",
            "How does BERT process images?",
            {"images": 0.4, "process images": 0.2, "BERT process images": 0.1},
            "How does BERT process text?",
        ),
        ("And focal loss?", "Why does it help?", {"help": 0.1}, "Why does it help, focal loss?"),
    ],
)
def test_a_fragment_replaces_the_phrase_that_is_nearest_in_meaning(
    question: str, before: str, near: dict[str, float], full: str
) -> None:
    last = Turn(question=before)
    assert near.keys() <= set(parallels(question, last)[1])
    assert complete_follow_up(question, [last], type_of, near) == full


def test_several_things_are_what_the_last_question_names_in_the_plural() -> None:
    last = Turn(question="What are positional encodings in the Transformer?")
    assert complete_follow_up("Why are they needed?", [last], type_of) == (
        "Why are they needed (positional encodings, Transformer)?"
    )


def test_the_places_that_an_answer_without_a_model_quotes_name_nothing() -> None:
    last = Turn(question="Which model is best on CTB5?", answer="Nothing is concluded:\n1. LSTM is old.")
    assert complete_follow_up("How is it trained?", [last], type_of) == "How is CTB5 trained?"


def test_where_a_name_was_asked_for_the_answer_gives_what_it_is_about() -> None:
    assert complete_follow_up("How is it trained?", [BEST], type_of) == "How is BERT+DSC trained?"


@pytest.mark.parametrize(
    "question",
    [
        "What is BERT and how does it work?",
        "What is the best model?",
        "Is it possible to train without labels?",
        "Is it better to train without labels?",
        "Which datasets are used?",
        "And what does BERT use?",
        "What is perplexity?",
        "What does Table 6 show?",
        "Compare BERT and XLNet.",
        "What is the model that wins on CTB5?",
    ],
)
def test_a_question_that_stands_by_itself_is_left_as_it_is(question: str) -> None:
    assert not depends_on_history(question)
    assert complete_follow_up(question, [LAST], type_of) == question


def test_without_a_history_nothing_is_filled_up() -> None:
    assert complete_follow_up("Why?", [], type_of) == "Why?"


def test_a_pronoun_for_what_has_no_name_stays_beside_the_last_question() -> None:
    nameless = Turn(question="what is the loss?", answer="it is small")
    assert complete_follow_up("Does it help?", [nameless], type_of) == "Does it help: what is the loss?"


@given(st.text(), st.text(), st.text())
def test_any_words_are_read(question: str, before: str, answer: str) -> None:
    turn = Turn(question=before, answer=answer)
    full = complete_follow_up(question, [turn], type_of)
    assert full == question or depends_on_history(question)
