"""Scoring answers made by hand: the form of a gold, the short answer, what is right, and every tally."""

from pathlib import Path

import pytest
from paperscope_lab.evaluation.answers.correctness import correctness, formulas_in, is_free_text_right
from paperscope_lab.evaluation.answers.forms import form_of, short_answer
from paperscope_lab.evaluation.answers.questions import GoldQuestion
from paperscope_lab.evaluation.answers.scoring import Cited, Verdict, score_answer
from paperscope_lab.evaluation.score import Score

from paperscope_core.types import Answer, Box, Context, Place, Status


def answer(text: str, *, status: Status = "answered", confidence: float | None = None) -> Answer:
    return Answer(question="Q", status=status, text=text, claims=(), context=Context(), confidence=confidence)


def shares(score: Score) -> dict[str, float]:
    return {name: tally.share for name, tally in score.tallies.items() if tally.total}


@pytest.mark.parametrize(
    ("gold", "answer_format", "form"),
    [
        ("Not answerable", "None", "none"),
        ("The paper does not say.", "", "none"),
        ("Yes", "Yes/No", "polar"),
        ("No, it falls.", "", "polar"),
        ("No-one was asked about it at all", "", "free"),
        ("73.2%", "Float", "number"),
        ("93.79 ± 0.15", "", "number"),
        ("The score of A is 55.9.", "Numeric", "number"),
        ("GPT-4", "Int", "text"),
        ("['a', 'b']", "List", "list"),
        ('["a", "b"]', "", "list"),
        ("Chinese.", "", "text"),
        ("4. The final prediction result with rationale.", "Str", "text"),
        ("Rank 256 and alpha 512.", "", "free"),
        ("Everything after the first newline is thrown away.", "", "free"),
    ],
)
def test_a_gold_has_a_form(gold: str, answer_format: str, form: str) -> None:
    assert form_of(gold, answer_format=answer_format) == form


@pytest.mark.parametrize(
    ("text", "question", "answer_format", "short"),
    [
        ("Yes. In Table 1, A is higher.", "Is A better than B?", "", "Yes"),
        ("“A is better.” (page 2)", "Is A better than B?", "", "A is better."),
        ("In Table 5, BERT has 93.33 under F1.", "What is the F1 score of BERT?", "Float", "93.33"),
        ("A has 5.5 and B has 4.0: A is higher by 1.5 (5.5 − 4.0 = 1.5).", "How much higher is A?", "", "1.5"),
        ("alpha 0.6 has the highest value in Table 10: 84.67.", "What is the highest F1 score?", "", "84.67"),
        ("“There are 6 relations.” (page 12)", "How many relations are there?", "Int", "6"),
        ("“Annual review 6:405-431, 2019. [42]” (line 1)", "In which year was it published?", "", "2019"),
        ("“Nothing is counted.” (page 12)", "How many relations are there?", "Int", "Nothing is counted."),
        ("Chinese: “OntoNotes4.0 is a Chinese dataset.” (page 12)", "Is it Chinese or English?", "", "Chinese"),
        (
            "SWA stands for Stochastic Averaging: “We use it.” (page 1)",
            "What does SWA mean?",
            "",
            "Stochastic Averaging",
        ),
        (
            "BERT+DSC has the highest value under F1 in Table 4: 99.38.",
            "Which model has the highest F1?",
            "",
            "BERT+DSC",
        ),
        ("In Table 2, the optimiser is Adam under Report A.", "What is the optimiser?", "", "Adam"),
        ("In Table 2, there are 2 rows: one thing and another.", "List the rows.", "List", '["one thing", "another"]'),
        ("“They get 64.3, 62.4 and 62.2.” (page 3)", "Which scores?", "List", '["64.3", "62.4", "62.2"]'),
    ],
)
def test_a_short_answer_is_taken_by_rule(text: str, question: str, answer_format: str, short: str) -> None:
    assert short_answer(text, question, answer_format) == short


@pytest.mark.parametrize(
    ("gold", "text", "question", "right"),
    [
        ("Yes", "Yes. A is higher.", "Is A higher?", 1),
        ("Yes", "No. B is higher.", "Is A higher?", 0),
        ("No", "“A is not higher.” (page 1)", "Is A higher?", 0),
        ("0.03", "Development is higher by 0.0309.", "By how much?", 1),
        ("0.03", "Development is higher by 0.0361.", "By how much?", 0),
        ("1.5 s", "It took 1500 ms.", "How long did it take?", 1),
        ("15.9%", "A is higher by 15.9 (57.4% − 41.5% = 15.9).", "How much higher is A?", 1),
        ("5", "In Table 5, A has 7 under B.", "How many?", 0),
        ("3", "“We use three sets [3].” (page 4)", "How many?", 1),
        ("2", "There are 2 models.", "Of the 2 models, how many?", 1),
        ("Subtask", "Subtask has the lowest value under Proportion in Table 2: 29%.", "Which type is lowest?", 1),
        ("Subtask", "2-hop has the lowest value under Proportion in Table 2: 29%.", "Which type is lowest?", 0),
        ("semantic parsing", "“One is semantic parsing of data.” (page 1)", "What subskill is needed?", 1),
        ("Chinese.", "Chinese: “The English and Chinese sets.” (page 1)", "Is it Chinese or English?", 1),
        ("Chinese.", "English: “The English and Chinese sets.” (page 1)", "Is it Chinese or English?", 0),
        ("Rank 256 and alpha 512.", "LoRA rank has 256 and LoRA alpha has 512.", "What rank and alpha?", 1),
        ("Rank 256 and alpha 512.", "LoRA rank has 256.", "What rank and alpha?", 0),
        (
            "The default opens an entity; strict discards it.",
            "Default opens it, strict discarded it.",
            "What differs?",
            1,
        ),
        ("The default opens an entity; strict discards it.", "Both modes are the same.", "What differs?", 0),
        ("6", "“First of four steps: ① type;⁶ ② data.” (page 7)", "How many steps?", 0),
        ("10⁻³", "The rate is 10⁻³.", "Which rate?", 1),
        ("A does worse with an accuracy of 54.6.", "A has 54.63: A is lower.", "How does A compare?", 1),
        ("XLNet+DSC, with a 1.41 gain.", "XLNet gains 1.41.", "Which gains most?", 0),
        ("7.5", f"The values are {', '.join(f'{number}.5' for number in range(1, 10))}.", "How many?", 1),
        ("7.5", f"The table: {' '.join(f'{number}.5' for number in range(1, 30))}.", "How many?", 0),
        ("Not answerable", "It is 5.", "How many?", 0),
    ],
)
def test_each_form_has_its_measure(gold: str, text: str, question: str, right: float) -> None:
    short = short_answer(text, question)
    assert correctness(gold, form_of(gold), text=text, short=short, question=question) == right


def test_a_list_may_be_right_in_part() -> None:
    gold, text = "['64.3', '62.4', '62.2']", "They are 64.3, 62.4 and 50.1."
    short = short_answer(text, "Which scores?", "List")
    assert correctness(gold, "list", text=text, short=short, question="Which scores?") == pytest.approx(2 / 3)


def test_a_formula_is_found_however_it_is_written() -> None:
    gold = "It falls to $\\mathcal{O}\\left(2 H W C^{2}+\frac{9}{2} H W C\right)$."  # two escapes are lost
    question = "What does the layer cost?"
    assert is_free_text_right(gold, "“This reduces it to O(2 H W C² + 9/2 H W C).” (page 3)", question)
    assert not is_free_text_right(gold, "“The standard one costs O(9/2 H W C²) with 2 strides.” (page 3)", question)
    assert formulas_in("m_{o 2 o}=m_{o 2 m}^{r}") == ["m_{o 2 o}=m_{o 2 m}^{r}"]
    assert formulas_in("the score of R_{1} is high") == []
    assert not is_free_text_right(
        "m_{o 2 o}=m_{o 2 m}^{r}", "One-to-one and one-to-many metrics.", "How do they relate?"
    )
    assert not is_free_text_right("x", "y", "Which symbol?")
    assert formulas_in("of $1 \\times 10^{-2}$ for $x$ and $y = 2 x$") == ["y = 2 x"]


def test_free_text_is_compared_without_what_the_question_gives() -> None:
    question = "By how much does BERT+CE exceed BERT+DL on SST-2 with 5 seeds?"
    gold = "BERT+CE exceeds BERT+DL on SST-2 by 0.53 with 5 seeds."
    assert is_free_text_right(gold, "By 0.53.", question)
    assert not is_free_text_right(gold, "BERT+CE exceeds BERT+DL on SST-2 with 5 seeds.", question)
    assert is_free_text_right("The seeds of BERT+CE", "The seeds of BERT+CE", "Which seeds of BERT+CE?")
    assert not is_free_text_right("The seeds of BERT+CE", "Nothing.", "Which seeds of BERT+CE?")


def test_an_answered_question_has_every_tally() -> None:
    question = GoldQuestion(
        name="docbench/p/1",
        question="What is the F1 score of BERT?",
        references=("93.3",),
        pages=((Path("p.pdf"), 3),),
        kinds=("table",),
    )
    cited = Cited(pages=frozenset({("p", 3), ("p", 4)}), gold_pages=frozenset({("p", 3)}))
    score = score_answer(question, answer("BERT has 93.33 under F1."), cited=cited)
    assert shares(score) == {
        "right": 1,
        "right.table": 1,
        "answered": 1,
        "right_of_answered": 1,
        "exact_match": 0,
        "token_f1": 0,
        "anls": pytest.approx(0.8),
        "numbers": 1,
        "page": 1,
    }
    assert score.misses == ()
    assert (score.details["short"], score.details["pages"]) == ("93.33", "p p.3, p p.4")


def test_a_wrong_answer_is_a_miss() -> None:
    question = GoldQuestion(name="docbench/p/1", question="How many?", references=("3",), pages=((Path("p.pdf"), 3),))
    cited = Cited(pages=frozenset({("p", 4)}), gold_pages=frozenset({("p", 3)}))
    score = score_answer(question, answer("There are 4."), cited=cited)
    assert (shares(score)["right"], shares(score)["page"]) == (0, 0)
    assert [(miss.metric, miss.gold, miss.got) for miss in score.misses] == [("right", "3", "There are 4.")]


@pytest.mark.parametrize(
    ("answerable", "status", "right", "precision", "recall"),
    [
        (False, "unanswerable", 1, 1, 1),
        (False, "answered", 0, None, 0),
        (True, "unanswerable", 0, 0, None),
        (True, "answered", 1, None, None),
        (False, "evidence", 1, 1, 1),
        (True, "evidence", 0, 0, None),
    ],
)
def test_abstention_is_right_where_nothing_is_to_be_answered(
    answerable: bool, status: Status, right: float, precision: float | None, recall: float | None
) -> None:
    question = GoldQuestion(
        name="mmlongbench/p/1",
        question="How many?",
        references=("3" if answerable else "Not answerable",),
        answerable=answerable,
        answer_format="Int" if answerable else "None",
    )
    found = shares(score_answer(question, answer("There are 3.", status=status), cited=Cited()))
    assert found["right"] == found["mmlongbench.accuracy"] == right
    assert found.get("abstention.precision") == precision
    assert found.get("abstention.recall") == recall
    assert found.get("right_of_answered") == (right if status == "answered" else None)
    # Accuracy takes abstentions in, F1 only what is answerable or answered.
    assert found.get("mmlongbench.f1") == (None if not answerable and status != "answered" else right)


def place(page: int, x0: float, *, paper: str = "p") -> Place:
    return Place(paper=paper, page=page, box=Box(x0, 0.0, x0 + 10.0, 10.0))


@pytest.mark.parametrize(
    ("cited", "evidence", "found"),
    [
        (Cited(places=(place(3, 0),), gold_places=(place(3, 4),)), (), 1),  # by six tenths of each
        (Cited(places=(place(3, 0),), gold_places=(place(3, 6),)), (), 0),
        (Cited(places=(place(4, 0), place(3, 1)), gold_places=(place(3, 0),)), (), 1),
        (Cited(places=(place(3, 0, paper="q"),), gold_places=(place(3, 0),)), (), 0),
        (Cited(pages=frozenset({("p", 3)}), gold_pages=frozenset({("p", 3), ("p", 9)})), (), 1),
        (Cited(pages=frozenset({("p", 4)}), gold_pages=frozenset({("p", 3)})), (), 0),
        (Cited(texts=("We measure  it.",)), (("Twice. We measure it.",),), 1),
        (Cited(texts=("We weigh it.",)), (("We measure it.",),), 0),
        (Cited(), (), None),
    ],
)
def test_places_are_scored_by_region_else_page_else_paragraph(
    cited: Cited, evidence: tuple[tuple[str, ...], ...], found: float | None
) -> None:
    question = GoldQuestion(name="own/p/1", question="How many?", references=("3",), evidence=evidence)
    assert shares(score_answer(question, answer("There: …", status="evidence"), cited=cited)).get("places") == found
    assert "places" not in shares(score_answer(question, answer("There are 3."), cited=cited))


def test_the_best_annotator_counts() -> None:
    question = GoldQuestion(
        name="qasper/p/1",
        question="Is it English?",
        references=("No", "Unanswerable"),
        evidence=(("P.",), ()),
    )
    told = shares(score_answer(question, answer("No. It is Finnish."), cited=Cited(texts=("P.", "Q."))))
    assert (told["right"], told["qasper.answer_f1"]) == (1, 1)
    assert told["qasper.evidence_f1"] == pytest.approx(2 / 3)
    kept = shares(score_answer(question, answer("It does not say.", status="unanswerable"), cited=Cited()))
    assert (kept["right"], kept["qasper.answer_f1"], kept["qasper.evidence_f1"]) == (1, 1, 1)


def test_ohrbench_compares_the_short_answer() -> None:
    question = GoldQuestion(name="ohrbench/p/1", question="Which is it?", references=("The red one.",))
    found = shares(score_answer(question, answer("Red one: “It is the red one.” (page 1)"), cited=Cited()))
    assert (found["ohrbench.em"], found["ohrbench.f1"], found["right"]) == (1, 1, 1)


def test_a_verdict_stands_apart() -> None:
    question = GoldQuestion(name="docbench/p/1", question="How many?", references=("3",))
    verdict = Verdict(reason="another number", right=False)
    score = score_answer(question, answer("There are 3."), cited=Cited(), verdict=verdict)
    found = shares(score)
    assert (found["right"], found["judge.right"], found["judge.agreement"]) == (1, 0, 0)
    assert score.details["judge"] == "another number"
