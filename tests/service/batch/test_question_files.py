"""Question files in JSON lines: good lines, bad lines, bad files."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.errors import QuestionFileError
from paperscope_core.types import Filters
from service.batch import BadQuestion, Gold, Question, load_questions

ENCODABLE = st.characters(codec="utf-8")


def written(folder: Path, text: str) -> Path:
    file = folder / "questions.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def test_good_lines_are_read_in_order_and_blank_ones_passed_over(tmp_path: Path) -> None:
    file = written(tmp_path, '{"question": "A?", "answer": "a"}\n\n{"question": " B? "}\n')
    assert load_questions(file) == [Question(index=0, text="A?", gold=Gold(answer="a")), Question(index=1, text="B?")]


def test_filters_restrict_a_question(tmp_path: Path) -> None:
    filters = {"papers": ["a.pdf"], "sections": ["5.1"], "kinds": ["Tables"], "years": "2018-2020"}
    [question] = load_questions(written(tmp_path, json.dumps({"question": "A?", "filters": filters})))
    expected = Filters(papers=("a.pdf",), sections=("5.1",), kinds=("table",), first_year=2018, last_year=2020)
    assert question == Question(index=0, text="A?", filters=expected)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"q": "A?"}', "no text under 'question'"),
        ('{"question": "  "}', "no text under 'question'"),
        ('{"question": 3}', "no text under 'question'"),
        ("[" * 100_000, "recursion limit"),
        ('{"question": "A?", "filters": {"kinds": ["chart"]}}', "'chart' is no kind of element"),
        (
            '{"question": "A?", "filters": {"years": 2020}}',
            "filters can't be used (years: Input should be a valid string)",
        ),
        (
            '{"question": "A?", "filters": {"pages": ["3"]}}',
            "filters can't be used (pages: Extra inputs are not permitted)",
        ),
        ('{"question": "A?", "filters": ["Table"]}', "filters can't be used"),
        ('{"question": "A?", "papers": ["a.pdf"]}', "the key 'papers' restricts nothing here; put it under 'filters'"),
        ('{"question": "A?", "years": "2020", "id": 3}', "the key 'years' restricts nothing here"),
        (
            '{"question": "A?", "paper": "a.pdf"}',
            "the key 'paper' is unknown; remove it (known: answer, answer_format,",
        ),
        ('{"question": "A?", "answer": {"is": "x"}}', "gold can't be used (answer: Input should be a valid string)"),
        ('{"question": "A?", "answer": "x", "answerable": "perhaps"}', "gold can't be used (answerable: "),
    ],
)
def test_bad_line_keeps_its_place_and_names_file_and_line(tmp_path: Path, line: str, reason: str) -> None:
    file = written(tmp_path, f'{{"question": "A?"}}\n{line}\n{{"question": "B?"}}')
    good, bad, last = load_questions(file)
    assert isinstance(good, Question)
    assert isinstance(bad, BadQuestion)
    assert reason in bad.reason
    assert f"{file}:2" in bad.reason
    assert len(bad.text) <= 80
    assert last == Question(index=2, text="B?")


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_file_without_a_question_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(QuestionFileError, match="no question in it"):
        load_questions(written(tmp_path, text))


def test_absent_file_and_folder_are_quoted(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(QuestionFileError, match=str(path)):
            load_questions(path)


def test_file_that_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(QuestionFileError, match="not UTF-8"):
        load_questions(file)


@pytest.mark.parametrize(
    ("keys", "gold"),
    [
        ({"answer": "Rank 256.", "type": "text-only", "evidence": ["p. 3", 4]}, Gold(answer="Rank 256.")),
        ({"answer": "", "type": "una-web"}, Gold(answer="", answerable=False)),
        ({"answer": "It is not said.", "answerable": False}, Gold(answer="It is not said.", answerable=False)),
        ({"answer": "The paper does not say."}, Gold(answer="The paper does not say.", answerable=False)),
        ({"answer": True}, Gold(answer="yes")),
        ({"answer": 0.83, "answer_format": "Float"}, Gold(answer="0.83", form="Float")),
        ({"answer": ["a", "b"]}, Gold(answer="['a', 'b']", form="List")),
        ({"answer": None, "type": None}, None),
        ({"answer": " "}, None),
    ],
)
def test_gold_is_read_as_docbench_has_it(tmp_path: Path, keys: dict[str, object], gold: Gold | None) -> None:
    [question] = load_questions(written(tmp_path, json.dumps({"question": "A?", **keys})))
    assert question == Question(index=0, text="A?", gold=gold)


def test_an_id_and_the_evidence_of_docbench_are_not_read(tmp_path: Path) -> None:
    keys = {"id": 7, "evidence": "Table 2", "evidence_pages": [3]}
    assert load_questions(written(tmp_path, json.dumps({"question": "A?", **keys}))) == [Question(index=0, text="A?")]


def test_a_json_list_is_not_json_lines(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="one object a line"):
        load_questions(written(tmp_path, '[\n{"question": "A?"}\n]'))


@given(st.lists(st.text(ENCODABLE).filter(str.strip), min_size=1, max_size=5))
def test_json_lines_round_trip(tmp_path_factory: pytest.TempPathFactory, questions: list[str]) -> None:
    folder = tmp_path_factory.mktemp("questions")
    file = written(folder, "\n".join(json.dumps({"question": question}, ensure_ascii=False) for question in questions))
    found = [row.text for row in load_questions(file)]
    assert found == [question.strip() for question in questions]
