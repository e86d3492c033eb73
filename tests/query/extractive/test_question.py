"""What questions are taken to ask."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.extractive.question import Question, read_question


def words(question: Question, indices: frozenset[int]) -> list[str]:
    return [question.words[index].text for index in sorted(indices)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is the recall of Alpha on News?", "look-up"),
        ("Which model has the highest accuracy?", "superlative"),
        ("Which system performs worst on News?", "superlative"),
        ("By how much does Alpha exceed Beta?", "difference"),
        ("How much lower is Alpha than Beta?", "difference"),
        ("What is the difference between Alpha and Beta on News?", "difference"),
        ("How does Alpha on News compare to Beta?", "comparison"),
        ("Does Alpha outperform Beta?", "comparison"),
        ("What improvement does Alpha achieve on News?", "gain"),
        ("What is the ratio of Alpha to Beta?", "ratio"),
        ("What is the sum of Alpha and Beta?", "sum"),
        ("How many models are in Table 2?", "count"),
        ("How is the loss calculated?", "formula"),
        ("What is the equation of the dice loss?", "formula"),
        ("Why does training diverge?", "reason"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert read_question(text).kind == kind


@pytest.mark.parametrize(
    ("text", "direction", "rank"),
    [
        ("Which has the highest F1?", 1, 1),
        ("Which has the second lowest F1?", -1, 2),
        ("Which has the fewest rows?", -1, 1),
        ("Which is the third-best model?", 0, 3),
    ],
)
def test_direction_and_rank(text: str, direction: int, rank: int) -> None:
    question = read_question(text)
    assert (question.direction, question.rank) == (direction, rank)


def test_asking_words_and_function_words_tell_nothing() -> None:
    question = read_question("Which model has the highest improvement on QuoRef compared to the base XLNet model?")
    telling = words(question, question.telling)
    assert "quoref" in telling
    assert not {"which", "highest", "improvement", "compared", "the"} & set(telling)
    assert question.gain
    assert question.baseline is not None
    assert "xlnet" in [word.text for word in question.words[question.baseline :]]


def test_names_are_coded_words_and_capitals_that_the_papers_never_write_small() -> None:
    question = read_question("Is the Cross Entropy of XLNet on Shopee low?", common={"cross", "entropy"})
    assert words(question, question.names) == ["xlnet", "shopee"]


def test_choices_are_offered_only_where_one_is_asked_for() -> None:
    assert read_question("Is the corpus Chinese or English?").choices == ("Chinese", "English")
    assert read_question("Which is faster, the first model or the second model?").choices == (
        "first model",
        "second model",
    )
    assert read_question("Does it support colours or coordinates?").choices == ()
    assert read_question("What is the recall?").choices == ()


@pytest.mark.parametrize(
    ("text", "focus"),
    [
        ("How does the paper calculate the coefficient α for the weighted loss?", {"coefficient", "α"}),
        ("What is the formula for the Tversky index in the paper?", {"tversky", "index"}),
        ("How is precision computed in the partial scenario?", {"precision"}),
    ],
)
def test_focus_of_a_formula(text: str, focus: set[str]) -> None:
    question = read_question(text)
    assert set(words(question, question.focus & question.telling)) == focus


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    question = read_question(text)
    everything = frozenset(range(len(question.words)))
    assert question.names <= question.telling <= everything
    assert not question.telling & question.operators
