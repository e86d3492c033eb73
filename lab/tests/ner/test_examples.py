"""Files of examples: what is written is read again, and broken lines are named."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paperscope_lab.errors import ExampleFileError
from paperscope_lab.ner.examples import read_examples, write_examples

from ingest.extraction.recognizer.examples import Example, Span

GOOD = '{"id": "a", "text": "Ada slept", "tokens": [[0, 3], [4, 9]], "spans": [{"start": 0, "end": 3, "label": "PER"}]}'


@st.composite
def examples(draw: st.DrawFn, *, identity: str = "1") -> Example:
    text = draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    tokens = tuple(zip(edges[::2], edges[1::2], strict=False))
    ends = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda pair: pair[0] < pair[1])
    confidence = st.none() | st.floats(0, 1)
    spans = [
        Span(start=start, end=end, label=draw(st.sampled_from(["A", "B-C", "é"])), confidence=draw(confidence))
        for start, end in draw(st.lists(ends, max_size=3))
    ]
    return Example(id=identity, text=text, tokens=tokens, spans=tuple(spans), document=draw(st.none() | st.just("d")))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(example=examples())
def test_what_is_written_is_read_again(tmp_path: Path, example: Example) -> None:
    write_examples(tmp_path / "a.jsonl", [example])
    assert read_examples(tmp_path / "a.jsonl") == [example]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "EOF while parsing an object"),
        ('{"id": "b", "text": "x", "tokens": []}', "field 'spans' is missing"),
        (GOOD.replace('"a"', '"b"').replace('"end": 3', '"end": 10'), "span [0, 10] is empty or not within the text"),
        (GOOD.replace('"a"', '"b"').replace('"end": 3', '"end": 0'), "span [0, 0] is empty"),
        (GOOD.replace('"a"', '"b"').replace('"start": 0', '"start": -1'), "span [-1, 3] is empty or not within"),
        (GOOD.replace('"a"', '"b"').replace("PER", " "), "span [0, 3] has no label"),
        (GOOD.replace('"a"', '"b"').replace("[4, 9]", "[2, 9]"), "the token that starts at 2 overlaps"),
        (GOOD.replace('"a"', '"b"').replace("}]}", '}], "failure": "cut"}'), "a failure ('cut') with spans"),
        (GOOD, "id 'a' is also on line 1"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"{GOOD}\n\n{line}\n")
    with pytest.raises(ExampleFileError) as caught:
        read_examples(file)
    assert str(caught.value).startswith(f"{file}:3: ")
    assert reason in str(caught.value)


def test_a_file_that_has_no_examples_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ExampleFileError, match=r"empty\.jsonl: the file has no examples"):
        read_examples(tmp_path / "empty.jsonl")
    with pytest.raises(ExampleFileError, match=r"lost\.jsonl: can't be read"):
        read_examples(tmp_path / "lost.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\n\xe9\n")
    with pytest.raises(ExampleFileError, match=r"latin\.jsonl:2: not UTF-8"):
        read_examples(tmp_path / "latin.jsonl")
