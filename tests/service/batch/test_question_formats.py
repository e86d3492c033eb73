"""Question files in CSV and as plain lists, and the detection of formats."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paperscope_core.errors import QuestionFileError
from paperscope_core.types import Filters
from service.batch import BadQuestion, Gold, Question, load_questions, parse_questions

LETTERS = st.characters(codec="utf-8")
LINES = st.characters(codec="utf-8", exclude_characters="\n\r")


def texts(letters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.text(letters, min_size=1).map(str.strip).filter(bool)


ROWS = st.lists(st.tuples(texts(LETTERS), st.none() | texts(LETTERS).map(lambda text: f"1 {text}")), min_size=1)


def read(text: str, *, name: str) -> list[Question | BadQuestion]:
    return parse_questions(text.encode(), name=name)


def asked(rows: Sequence[Question | BadQuestion]) -> list[str]:
    assert all(isinstance(row, Question) for row in rows), rows
    return [row.text for row in rows]


def table(rows: Sequence[Sequence[str]], *, delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


@given(ROWS, st.sampled_from([",", ";", "\t"]), st.sampled_from(["", "\ufeff"]))
def test_csv_round_trips(rows: list[tuple[str, str | None]], delimiter: str, mark: str) -> None:
    text = mark + table([("question", "answer"), *((text, gold or "") for text, gold in rows)], delimiter=delimiter)
    found = read(text, name="q.csv")
    assert found == [
        Question(index=index, text=text, gold=Gold(answer=gold) if gold else None)
        for index, (text, gold) in enumerate(rows)
    ]


@given(ROWS)
def test_json_lines_with_gold_round_trip(rows: list[tuple[str, str | None]]) -> None:
    lines = [json.dumps({"question": text, "answer": gold}, ensure_ascii=False) for text, gold in rows]
    found = read("\r\n".join(lines), name="q.jsonl")
    assert [(row.text, row.gold.answer if row.gold else None) for row in found if isinstance(row, Question)] == rows


@given(st.lists(texts(LINES), min_size=1))
def test_a_plain_list_round_trips(questions: list[str]) -> None:
    assume(not questions[0].startswith("{"))
    assume("question" not in questions[0].casefold())
    found = asked(read("\n".join(["First, of all?", *questions]), name="q.txt"))
    assert found == ["First, of all?", *questions]


@given(st.lists(texts(LINES), min_size=1), st.sampled_from(["- ", "* ", "1. ", "(2) ", "3)\t"]))
def test_markers_that_all_lines_have_go(questions: list[str], marker: str) -> None:
    assert asked(read("\n".join(marker + text for text in questions), name="q.md")) == questions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1. A?\n2. B?\n", ["A?", "B?"]),
        ("- A?\n\n  - B?", ["A?", "B?"]),
        ("1. A?\nB?", ["1. A?", "B?"]),
        ("3.5 is what?", ["3.5 is what?"]),
        ("-1 is what?", ["-1 is what?"]),
        ("# Questions\n\n1. A?\n## More\n2. B?", ["A?", "B?"]),
    ],
)
def test_markers_and_headings_of_lists(text: str, found: list[str]) -> None:
    assert asked(read(text, name="q.md")) == found


def test_a_heading_is_one_in_markdown_only() -> None:
    assert asked(read("# A?\nB?", name="q.txt")) == ["# A?", "B?"]


def test_columns_of_a_csv_give_gold_and_filters() -> None:
    text = table(
        [
            ("Type", " Question ", "papers", "Years", "answer", "kinds", "sections", "notes"),
            ("una", "A?", "a.pdf; b, c.pdf", "2018-2020", "", "Tables;figure", "5.1", "x"),
        ]
    )
    filters = Filters(
        papers=("a.pdf", "b, c.pdf"), sections=("5.1",), kinds=("table", "figure"), first_year=2018, last_year=2020
    )
    expected = Question(index=0, text="A?", gold=Gold(answer="", answerable=False), filters=filters)
    assert read(text, name="q.csv") == [expected]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('"A"?,x', "not CSV"),
        ('"A?,x', "not CSV (unexpected end of data)"),
        ("What is A, B and C?,x", "3 cells under 2 columns; put a cell that holds the delimiter in quotation marks"),
        (",x", "no text under 'question'"),
    ],
)
def test_a_bad_row_of_a_csv_keeps_its_place_and_the_rest_goes_on(row: str, reason: str) -> None:
    good, bad, last = read(f"question,answer\n\nA?,x\n{row}\nB?\n", name="some/q.csv")
    assert isinstance(bad, BadQuestion)
    assert bad.reason.startswith(f"some/q.csv:4: {reason}")
    assert row in bad.reason
    assert [good.text, last.text] == ["A?", "B?"]


def test_a_question_over_several_lines_counts_them() -> None:
    first, bad = read('question\n"A\nB?"\n"C"?\n', name="q.csv")
    assert first.text == "A\nB?"
    assert isinstance(bad, BadQuestion)
    assert "q.csv:4" in bad.reason


@pytest.mark.parametrize("head", ["What is A?", "a,b", "question,Question", ""])
def test_a_csv_without_its_header_is_one_error(head: str) -> None:
    with pytest.raises(QuestionFileError, match="exactly one of them 'question'"):
        read(f"{head}\nA?\n", name="q.csv") if head else read("", name="q.csv")


JSONL = '{"question": "A?"}\n{"question": "B?"}'
CSV = "question;answer\nA?;\nB?;\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((JSONL, name) for name in ("q.jsonl", "q.txt", "q.csv", "questions", "1_qa.JSONL")),
        *((CSV, name) for name in ("q.csv", "q.txt", "q.jsonl", "questions")),
        ("A?\nB?\n", "q.txt"),
        ("question\nA?\nB?\n", "q.TSV"),
    ],
)
def test_content_determines_the_format_or_else_the_name(text: str, name: str) -> None:
    assert asked(read(text, name=name)) == ["A?", "B?"]


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"import os\n", "run.py", "can't tell what it is"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "a.pdf", "not UTF-8"),
        (b"question\n", "q.csv", "no question in it"),
        (b"\n\n", "q", "no question in it"),
    ],
)
def test_a_wrong_file_is_one_error_that_names_it(data: bytes, name: str, says: str) -> None:
    with pytest.raises(QuestionFileError, match=says) as raised:
        parse_questions(data, name=name)
    assert str(raised.value).startswith(f"{name}: ")


def test_the_example_questions_are_the_same_in_every_format(root: Path) -> None:
    questions = load_questions(root / "examples" / "paper" / "questions.jsonl")
    golds = [row.gold for row in questions if isinstance(row, Question)]
    assert len(golds) == len(questions) == 24
    assert sum(gold is not None and not gold.answerable for gold in golds) == 4
    rows = [(row.text, gold.answer if gold else "") for row, gold in zip(questions, golds, strict=True)]
    assert read(table([("question", "answer"), *rows]), name="q.csv") == questions
    plain = read("".join(f"{index}. {row.text}\n" for index, row in enumerate(questions, 1)), name="q.txt")
    assert plain == [replace(row, gold=None) for row in questions if isinstance(row, Question)]
