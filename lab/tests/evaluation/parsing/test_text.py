"""Scores of headings, running text, captions, references, counts and unit tests on pages, with known faults."""

from collections.abc import Callable

import pytest
from paperscope_lab.evaluation.gold.papers import Gold, GoldCaption, GoldHeading, GoldReference, PageTest
from paperscope_lab.evaluation.parsing import score_paper
from paperscope_lab.evaluation.score import Score

from paperscope_core.types import Box, Equation, Figure, Paper, Passage, Place, Reference, Section, Table

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
MakePaper = Callable[..., Paper]
FIRST = "The first sentence says what is measured here."
SECOND = "A second one follows it without any haste."
THIRD = "The third ends the paragraph as it should."


def shares(score: Score) -> dict[str, tuple[float, float]]:
    return {name: (tally.right, tally.total) for name, tally in score.tallies.items()}


def section(title: str, *, level: int = 1, number: str = "") -> Section:
    return Section(id=title, number=number, title=title, level=level, path=title)


def reference(text: str, *, year: int | None = None, label: str = "") -> Reference:
    return Reference(id=text, place=PLACE, order=0, text=text, year=year, label=label)


@pytest.mark.parametrize(
    ("texts", "found", "ordered"),
    [
        ((f"{FIRST} {SECOND} {THIRD}",), 3, 3),
        ((f"{SECOND} {FIRST} {THIRD}",), 3, 2),  # two swapped
        ((f"{FIRST} {THIRD}",), 2, 2),  # one lost
        ((f"{FIRST} {SECOND}", f"{SECOND} {THIRD}"), 2, 2),  # one printed twice
        ((f"{FIRST} {SECOND.replace('haste', 'has- te')} {THIRD}",), 2, 2),  # one with a hyphen of its line
    ],
)
def test_lost_doubled_and_swapped_text_costs(
    texts: tuple[str, ...], found: int, ordered: int, make_paper: MakePaper
) -> None:
    score = shares(score_paper(make_paper(*texts), Gold(paragraphs=(f"{FIRST} {SECOND} {THIRD}",))))
    assert score["text.found"] == (found, 3)
    assert score["text.order"] == (ordered, found)
    assert score["text.in_order"] == (ordered, 3)


def test_a_text_that_differs_a_little_is_found_fuzzily(make_paper: MakePaper) -> None:
    score = shares(score_paper(make_paper(FIRST.replace("here", "her e5")), Gold(paragraphs=(FIRST, SECOND))))
    assert (score["text.found"], score["text.fuzzy"]) == ((0, 2), (1, 2))


def test_words_that_run_together_are_seen(make_paper: MakePaper) -> None:
    score = shares(score_paper(make_paper(FIRST.replace(" ", ""), SECOND), Gold(paragraphs=(FIRST, SECOND))))
    assert (score["text.found"], score["text.spaced"]) == ((2, 2), (1, 2))


def test_page_furniture_is_no_part_of_the_text(make_paper: MakePaper) -> None:
    furniture = Passage(id="f", place=PLACE, order=0, text=FIRST, role="furniture")
    assert shares(score_paper(make_paper(furniture), Gold(paragraphs=(FIRST,))))["text.found"] == (0, 1)


def test_headings_found_false_and_at_the_wrong_level(make_paper: MakePaper) -> None:
    got = (section("Abstract"), section("Introduction", number="1"), section("Data", level=1), section("Oslo 7"))
    gold = Gold(
        headings=(
            GoldHeading(title="Introduction", level=1),
            GoldHeading(title="Data", level=2),
            GoldHeading(title="Results", level=1),
        )
    )
    score = shares(score_paper(make_paper(sections=got), gold))
    assert score["headings.found"] == (2, 3)
    assert score["headings.true"] == (2, 3)  # "Abstract" is commonly left out of gold
    assert score["headings.level"] == (1, 2)


def test_captions_need_their_kind_and_number(make_paper: MakePaper) -> None:
    figure = Figure(id="f", place=PLACE, order=0, label="Fig. 2", caption="The scores over time.")
    table = Table(id="t", place=PLACE, order=1, cells=(), label="TABLE II", caption="THE DATA SETS.")
    captions = (
        GoldCaption(text="The scores over time.", kind="figure", label="Figure 2"),
        GoldCaption(text="The scores over time.", kind="figure", label="Figure 3"),
        GoldCaption(text="The data sets.", kind="table", label="Table II"),
    )
    score = shares(score_paper(make_paper(figure, table), Gold(captions=captions)))
    assert (score["captions.figure"], score["captions.table"]) == ((1, 2), (1, 1))


def test_references_that_run_together_are_not_split(make_paper: MakePaper) -> None:
    one = "A. Abara. On the measuring of parsers. Annals of Computing, 3:1–9, 2001."
    two = "B. Brandt. Tables and their captions. Journal of Layout, 5:10–19, 2002."
    gold = Gold(references=(GoldReference(text=one, year=2001, label="[1]"), GoldReference(text=two, year=2002)))
    right = make_paper(reference(one, year=2001, label="[2]"), reference(two, year=2002))
    score = shares(score_paper(right, gold))
    assert (score["references.split"], score["references.count"]) == ((2, 2), (1, 1))
    assert (score["references.year"], score["references.label"]) == ((2, 2), (0, 1))
    merged = shares(score_paper(make_paper(reference(f"{one} {two}")), gold))
    assert (merged["references.split"], merged["references.count"]) == ((0, 2), (0, 1))


def test_equations_figures_and_the_title(make_paper: MakePaper) -> None:
    equations = [Equation(id=name, place=PLACE, order=0, text="", label=name) for name in ("Equation 1", "Equation S4")]
    paper = make_paper(*equations, title="On  Parsing")
    score = shares(score_paper(paper, Gold(equations=("1", "2"), figures=2, title="On Parsing")))
    assert (score["equations.found"], score["equations.true"]) == ((1, 2), (1, 2))
    assert (score["figures.count"], score["title"]) == ((0, 2), (1, 1))


def test_what_gold_does_not_know_is_not_scored(make_paper: MakePaper) -> None:
    assert not score_paper(make_paper(FIRST), Gold()).tallies


@pytest.mark.parametrize(
    ("test", "passes"),
    [
        ({"type": "present", "text": "what is measured"}, True),
        ({"type": "present", "text": "what was measured"}, False),
        ({"type": "present", "text": "what was measured", "max_diffs": 2}, True),
        ({"type": "present", "text": "THE FIRST"}, False),
        ({"type": "present", "text": "THE FIRST", "case_sensitive": False}, True),
        ({"type": "present", "text": "The first", "last_n": 10}, False),
        ({"type": "absent", "text": "haste"}, False),
        ({"type": "absent", "text": "page 7"}, True),
        ({"type": "order", "before": "first", "after": "second"}, True),
        ({"type": "order", "before": "second", "after": "first"}, False),
        ({"type": "table", "cell": "1.5", "left": "ours", "top_heading": "F1"}, True),
        ({"type": "table", "cell": "1.5", "right": "ours"}, False),
        ({"type": "table", "cell": "1.5", "down": "3", "left_heading": "ours"}, True),
        ({"type": "math", "math": "a^{2}+b^{2}=c^{2}"}, True),
        ({"type": "math", "math": r"\nabla \times E"}, False),
    ],
)
def test_unit_tests_on_a_page(
    test: dict[str, object], passes: bool, make_paper: MakePaper, make_table: Callable[..., Table]
) -> None:
    table = make_table((("Model", "F1"), ("ours", "1.5"), ("theirs", "3")))
    equation = Equation(id="e", place=PLACE, order=0, text="a² + b² = c²")
    asked = PageTest(id="t", pdf="p.pdf", page=1, **test)  # type: ignore[arg-type] # a test's own fields
    score = score_paper(make_paper(FIRST, SECOND, table, equation), Gold(tests=(asked,)))
    assert shares(score) == dict.fromkeys(("olmocr.tests", f"olmocr.{test['type']}"), (passes, 1))
