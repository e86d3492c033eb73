"""Claims held against what the page prints where they say to rest, by hand-made pages and claims."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pymupdf
import pytest
from paperscope_lab.evaluation.citations import check_citations, prints_numbers, prints_quote, word_share
from paperscope_lab.evaluation.page_words import read_pages, words_in

from paperscope_core.errors import PaperFileError
from paperscope_core.types import (
    Answer,
    Box,
    Cell,
    Claim,
    Context,
    Evidence,
    ImageFinding,
    Passage,
    Place,
    Status,
    Table,
)

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate, Example


TOP, BOTTOM = Box(60, 80, 500, 130), Box(60, 280, 500, 330)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two pages: lines at the top and at the bottom of the first, nothing printed on the second."""
    with pymupdf.open() as document:
        page = document.new_page(width=595, height=842)
        page.insert_text((72, 100), "ELMo reaches 92.22 in our eval-")
        page.insert_text((72, 115), "uation of the model, BERT 92.80.")
        page.insert_text((72, 300), "Nothing else is said.")
        document.new_page(width=595, height=842)
        document.save(tmp_path / "paper.pdf")
    return tmp_path / "paper.pdf"


def test_words_of_a_box_are_those_printed_in_it(file: Path) -> None:
    first, second = read_pages(file)
    assert words_in(first, BOTTOM) == ["Nothing", "else", "is", "said."]
    assert words_in(first, TOP)[5:8] == ["eval-", "evaluation", "uation"]
    assert not second.words
    assert first.contains(TOP)
    assert not first.contains(Box(60, 80, 700, 130))
    assert not first.contains(Box(60, 80, 60, 130))


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_boxes_of_a_turned_page_are_as_a_reader_sees_it(turn: int, tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        page.insert_text((100, 50), "corner")
        page.set_rotation(turn)
        document.save(tmp_path / "turned.pdf")
    (page,) = read_pages(tmp_path / "turned.pdf")
    seen = {90: Box(730, 90, 780, 160), 180: Box(450, 730, 510, 780), 270: Box(20, 450, 70, 510)}
    assert words_in(page, seen[turn]) == ["corner"]


def test_a_file_that_is_no_pdf_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "no.pdf").write_bytes(b"%PDF-1.5 nothing")
    with pytest.raises(PaperFileError, match=r"no\.pdf"):
        read_pages(tmp_path / "no.pdf")


@pytest.mark.parametrize(
    ("printed", "quote", "holds"),
    [
        ("The e\ufb03cient eval- evaluation uation works", "the efficient evaluation works", True),
        ("state-of-the-art results", "State of the art results", True),
        ("one two three four", "one two three four five", True),  # 4 of 5
        ("one two three", "one two three four", False),  # 3 of 4
        ("one two", "one one one two two", False),  # a token counts as often as it is printed
        ("", "anything", False),
    ],
)
def test_a_quote_stands_where_most_of_its_tokens_are_printed(printed: str, quote: str, *, holds: bool) -> None:
    assert prints_quote(printed.split(), quote) is holds


@pytest.mark.parametrize(
    ("printed", "claim", "holds"),
    [
        ("92.22", "ELMo has 92.22 in Table 5 (page 3).", True),
        ("92.22", "ELMo has 92.2.", True),  # as rounded as the claim is
        ("92.2", "ELMo has 92.22.", False),
        ("92.22", "ELMo has 92.22, BERT 92.8.", False),
        ("-0.5", "It falls by 0.5.", True),
        ("", "See Table 5.", True),
        ("", "It has 3 layers.", False),
        # 94.3 - 93.1 = 1.2
        ("94.3 93.1", "It is 1.2 higher.", True),
        ("94.3 93.1", "It is 1.2.", False),
        ("94.3 93.1", "It is 1.3 higher.", False),
        ("94.3", "It is 1.2 higher than 93.1.", False),
        ("94.3 93.1", "The sum is 187.4.", True),
        ("94.3 93.1", "On average it is 93.7.", True),
        ("94.3 93.1", "It is 93.7 higher.", False),  # that is the mean, not a difference
        ("94.3 93.1", "It is 1.3% higher.", True),  # 100 · 1.2 / 93.1
        ("50 25", "It is 2.0 times as much.", True),
        ("50 25", "That is 50.0% of it.", True),
        # Among many numbers only those that the claim states are operands.
        (" ".join(f"{number}.5" for number in range(1, 20)), "It is 3.0 higher.", False),
        (" ".join(f"{number}.5" for number in range(1, 20)), "From 2.5 to 5.5 it is 3.0 higher.", True),
    ],
)
def test_numbers_are_printed_or_follow_as_said(printed: str, claim: str, *, holds: bool) -> None:
    assert prints_numbers(printed.split(), claim) is holds


def test_numbers_of_the_question_need_no_evidence() -> None:
    assert prints_numbers(["92.22"], "With rank 256 it has 92.22.", question="What has it with rank 256?")
    assert not prints_numbers(["92.22"], "With rank 256 it has 92.22.")


def test_a_number_may_name_its_row_but_is_no_operand_there() -> None:
    names = "α = 0.6".split()
    assert prints_numbers(["84.67"], "α = 0.6 has the highest value: 84.67.", names=names)
    assert not prints_numbers(["84.67"], "α = 0.6 has the highest value: 84.67.")
    assert not prints_numbers(["84.67"], "It is 84.07 higher.", names=names)


def test_words_are_compared_without_numbers_and_function_words() -> None:
    assert word_share("Results of ELMo".split(), "In Table 5, the results of ELMo are 92.22.") == 1
    assert word_share(["ELMo"], "ELMo beats BERT.") == pytest.approx(1 / 3)
    assert word_share([], "It is 5.") == 1
    assert word_share(["ELMo"], "ELMo has the highest value, 0.5 higher than before.") == 1


def checked(
    file: Path,
    *claims: Claim,
    gold_pages: tuple[int, ...] = (),
    question: str = "q",
    status: Status = "answered",
    readings: tuple[ImageFinding, ...] = (),
) -> dict[str, float]:
    passage = Passage(id="p/passage-1", place=Place(paper="p", page=1, box=TOP), order=0, text="")
    answer = Answer(question=question, status=status, text="t", claims=claims, context=Context(), readings=readings)
    score = check_citations(answer, file=file, element=lambda _: passage, gold_pages=gold_pages)
    return {metric: tally.share for metric, tally in score.tallies.items()}


def claim(text: str, *, box: Box = TOP, page: int = 1, quote: str = "") -> Claim:
    place = Place(paper="p", page=page, box=box)
    return Claim(text=text, evidence=(Evidence(element="p/passage-1", place=place, quote=quote),))


def test_a_claim_that_its_place_bears_out(file: Path) -> None:
    quote = "ELMo reaches 92.22 in our evaluation"
    figures = checked(file, claim("ELMo reaches 92.22.", quote=quote), gold_pages=(1,))
    marks = {"place": 1, "quote": 1, "numbers": 1, "words": 1, "page": 1}
    assert figures == {"with_claims": 1, "uncited": 0, **marks, **{f"{name}.passage": 1 for name in marks}}


def test_what_is_not_at_the_place_fails(file: Path) -> None:
    elsewhere = claim("ELMo reaches 92.22.", box=BOTTOM, quote="ELMo reaches 92.22")
    figures = checked(file, elsewhere, gold_pages=(2,))
    assert {name: figures[name] for name in ("place", "quote", "numbers", "words", "page")} == {
        "place": 1,
        "quote": 0,
        "numbers": 0,
        "words": 0,
        "page": 0,
    }


def test_a_place_outside_of_the_paper_fails(file: Path) -> None:
    beyond = checked(file, claim("ELMo reaches 92.22.", page=9, quote="ELMo"))
    assert (beyond["place"], beyond["quote"], beyond["numbers"]) == (0, 0, 0)
    assert checked(file, claim("ELMo.", box=Box(60, 80, 999, 130)))["place"] == 0
    both = checked(file, claim("ELMo reaches 92.22."), claim("ELMo reaches 92.22.", page=9))
    assert (both["place"], both["numbers"], both["words"]) == (0.5, 0.5, 0.5)


def test_a_page_without_words_and_a_picture_are_not_compared(file: Path) -> None:
    scan = checked(file, claim("ELMo reaches 5.", page=2, quote="ELMo reaches 5"))
    assert (scan["place"], "quote" in scan, "numbers" in scan) == (1, False, False)
    seen = ImageFinding(
        element="p/passage-1", crop="c", place=Place(paper="p", page=1, box=TOP), text="A bar.", relevant=True
    )
    read = checked(file, claim("ELMo reaches 92.22.", quote="A tall bar"), readings=(seen,))
    assert (read["numbers"], "quote" in read) == (1, False)


def test_a_claim_without_a_place_is_told(file: Path) -> None:
    figures = checked(file, Claim(text="It has 3 layers."))
    assert figures == {"with_claims": 1, "uncited": 1, "numbers": 0}
    assert checked(file) == {"with_claims": 0}
    assert checked(file, status="unanswerable") == {}


def test_only_headers_of_the_cited_cell_name_it(file: Path) -> None:
    def cell(row: int, column: int, box: Box, role: Literal["column_header", "row_header", "value"]) -> Cell:
        return Cell(row=row, column=column, text="", place=Place(paper="p", page=1, box=box), role=role)

    value = Box(60, 105, 110, 118)  # "uation of" stands there
    cells = (cell(0, 1, BOTTOM, "column_header"), cell(1, 0, TOP, "row_header"), cell(1, 1, value, "value"))
    other = cell(0, 2, Box(60, 80, 110, 105), "column_header")
    table = Table(id="p/table-1", place=Place(paper="p", page=1, box=TOP), order=0, cells=(*cells, other))

    def words(text: str, *, headed: Table) -> float:
        evidence = Evidence(element=table.id, place=Place(paper="p", page=1, box=value))
        claims = (Claim(text=text, evidence=(evidence,)),)
        answer = Answer(question="q", status="answered", text="t", claims=claims, context=Context())
        return check_citations(answer, file=file, element=lambda _: headed).tallies["words"].share

    assert words("Nothing reaches BERT.", headed=table) == 1
    assert words("Nothing reaches BERT.", headed=replace(table, cells=cells[2:])) == 0


@pytest.mark.slow
def test_answers_on_the_example_are_checked(
    example: "Example", evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("citations", "--data", example.data, "--out", example.out) == 1
    assert "questions.jsonl:10: page 99 is out of range" in capsys.readouterr().out
    lines = [json.loads(line) for line in (example.out / "citations.jsonl").read_text().splitlines()]
    assert [line["name"] for line in lines] == [f"papers/example/{number}" for number in range(1, 10)]
    figures = json.loads((example.out / "citations.json").read_text())["figures"]["papers"]
    assert figures["place"]["value"] == figures["with_claims"]["value"] == 1
    assert figures["quote"]["total"] >= 6
    assert figures["quote"]["value"] >= 0.8


def test_a_folder_without_questions_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("citations", "--data", tmp_path) == 2
    assert "no questions here" in capsys.readouterr().err
