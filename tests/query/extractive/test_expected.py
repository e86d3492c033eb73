"""What kind of answer questions expect, and of what."""

import pytest

from query.extractive.question import read_question


@pytest.mark.parametrize(
    ("text", "form", "asked"),
    [
        ("What learning rate does Alpha use?", "number", {"learning", "rate"}),
        ("What is the learning rate of Alpha?", "number", {"learning", "rate"}),
        ("How many labelled sentences were collected for News?", "number", {"labelled", "sentences"}),
        ("How large is the corpus?", "number", set()),
        ("What percentage of annotators agreed?", "number", {"annotators"}),
        ("In which year was the corpus published?", "year", set()),
        ("When was the corpus published?", "year", set()),
        ("Who annotated the corpus?", "person", set()),
        ("Who are the authors of the paper?", "person", set()),
        ("Why does training diverge?", "reason", set()),
        ("What is the purpose of the second stage?", "reason", {"purpose"}),
        ("How is the corpus annotated?", "manner", set()),
        ("Which languages does Alpha support?", "list", {"languages"}),
        ("What is a seed lexicon?", "definition", set()),
        ("What are results?", "definition", set()),
        ("Which dataset is used for training?", "name", {"dataset"}),
        ("What is the name of the dataset that Alpha reads?", "name", {"dataset"}),
        ("What does Alpha read?", "statement", set()),
        ("Does Alpha read News?", "polar", set()),
        ("In the second stage, is Alpha frozen?", "polar", set()),
        ("When Alpha is frozen, which layers are trained?", "list", {"layers"}),
        ("Describe the corpus.", "statement", set()),
    ],
)
def test_form_and_thing_asked_about(text: str, form: str, asked: set[str]) -> None:
    question = read_question(text)
    assert (question.expected.form, {question.words[index].text for index in question.expected.asked}) == (form, asked)


def test_a_comma_ends_what_is_asked_about() -> None:
    question = read_question("Which stages, according to the table, are frozen?")
    assert [question.words[index].text for index in question.expected.asked] == ["stages"]


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("Does the document mention that Alpha reads News?", {"alpha", "reads", "news"}),
        ("What is the goal of Alpha according to the paper?", {"alpha"}),
        ("Is the paper 'Taggers that smooth' available as a preprint?", {"taggers", "smooth"}),
    ],
)
def test_what_frames_a_question_tells_nothing(text: str, telling: set[str]) -> None:
    question = read_question(text)
    assert {question.words[index].text for index in question.telling} == telling


@pytest.mark.parametrize(
    ("text", "pictured"),
    [
        ("How many green bars appear in Figure 1?", True),
        ("What is the color of the box?", True),
        ("What does the last plot show?", True),
        ("Why are the NuNER figures doubted?", False),
        ("Which colors guide the recognition?", False),
    ],
)
def test_what_only_a_picture_tells(text: str, pictured: bool) -> None:
    assert read_question(text).pictured is pictured
