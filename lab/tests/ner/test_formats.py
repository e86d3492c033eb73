"""Formats of language models: what is written is read again, and replies that differ are aligned or counted."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.ner.alignment import Named, align_named
from paperscope_lab.ner.formats import FORMATS, FormatName, alpaca_records, reply_format
from paperscope_lab.ner.gold_tags import flat_spans
from tests.ner.tiny_encoder import GOLD, example_of

from ingest.extraction.recognizer.examples import Example, Span

LABELS = ("PER", "cell type")
# Texts that contain the marks of the formats, white space, and characters of more than one code point.
ALPHABET = '[]<>/| \t\nPERab{}"\\👩\u200d\u0301é한א'


@st.composite
def marked_texts(draw: st.DrawFn) -> Example:
    text = draw(st.text(ALPHABET, min_size=1, max_size=25) | st.sampled_from(["[a | PER] <PER>b</PER>", "a | PER] b"]))
    ends = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda pair: pair[0] < pair[1])
    spans = [
        Span(start=start, end=end, label=draw(st.sampled_from(LABELS)))
        for start, end in draw(st.lists(ends, max_size=3))
        if text[start:end].strip() == text[start:end]
    ]
    return Example(id="1", text=text, tokens=(), spans=tuple(flat_spans(spans)))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20)
@given(example=marked_texts())
def test_a_reply_is_read_as_it_was_written(name: FormatName, example: Example) -> None:
    format_ = reply_format(name, LABELS)
    parsed = format_.parse(example.text, format_.write(example))
    assert parsed.failure is None
    assert parsed.outcomes == Counter({"exact": len(example.spans)} if example.spans else {})
    if not set("[]<>|/") & set(example.text):
        assert parsed.spans == example.spans


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20)
@given(text=st.text(ALPHABET, max_size=25), reply=st.text(ALPHABET, max_size=40))
def test_any_reply_gives_spans_on_the_text_or_a_failure(name: FormatName, text: str, reply: str) -> None:
    parsed = reply_format(name, LABELS).parse(text, reply)
    assert all(0 <= span.start < span.end <= len(text) and span.label in LABELS for span in parsed.spans)
    assert not (parsed.failure and parsed.spans)


@pytest.mark.parametrize(
    ("text", "reply", "found", "outcomes"),
    [
        ("Ada met Bob .", "[Ada | PER] met [Bob | PER] .", ["Ada", "Bob"], {"exact": 2}),
        ("Ada met Bob .", "[Ada | PER] met [Bob | PER] .\n\nNow [Eve | PER]", ["Ada", "Bob"], {"exact": 2}),
        ("Ada  met Bob .", "[Ada | PER] met [Bob | PER].", ["Ada", "Bob"], {"diff": 2}),
        ("Adá met Bob .", "[ada\u0301 | PER] met [Rob | PER] .", ["Adá"], {"diff": 1, "rejected": 1}),
        ("Ada met Bob .", "[Ada | ORG] met [Bob | PER] .", ["Bob"], {"unknown label": 1, "exact": 1}),
        ("see [1] by Ada", "see [1] by [Ada | PER]", ["Ada"], {"exact": 1}),
        ("F [2] a", "[F [2] | PER] a", ["F [2]"], {"exact": 1}),
        ("Ada met Bob", "[Ada | PER] met Bob | PER]", ["Ada"], {"diff": 1, "broken": 1}),
        ("Ada met Bob", "[Ada | PER] met [ | PER]Bob", ["Ada"], {"exact": 1, "empty": 1}),
        ("Ada met Bob .", "So.\n" * 99 + "[Ada | PER] met [Bob | per] .", ["Ada", "Bob"], {"exact": 2}),
    ],
)
def test_brackets_are_aligned(text: str, reply: str, found: list[str], outcomes: dict[str, int]) -> None:
    parsed = reply_format("bracketed", ["PER"]).parse(text, reply)
    assert [text[span.start : span.end] for span in parsed.spans] == found
    assert parsed.outcomes == outcomes


def test_a_model_that_goes_on_with_other_objects_is_read_to_the_first() -> None:
    first, other = (json.dumps({"entities": [{"text": name, "label": "PER"}]}) for name in ("Ada", "Bob"))
    parsed = reply_format("json", ["PER"]).parse("Ada met Bob", f"{first}\nInput: Bob\n{other}")
    assert [(span.start, span.end) for span in parsed.spans] == [(0, 3)]
    nested = reply_format("json", ["PER"]).parse("Ada", '{"entities": ' + "[" * 100_000)
    assert nested.failure


@pytest.mark.parametrize(
    ("name", "reply", "failure"),
    [
        ("bracketed", "I can't help with that.", "another text without marks"),
        ("xml", "  \n ", "empty reply"),
        ("json", "none", "no valid JSON: there is no JSON object in it"),
        ("json", '{"entities": [{"text": 1}]}', "no valid JSON: Field required"),
        ("json", '{"entities": [{"text": {}, "label": "PER"}]}', "no valid JSON: Input should be a valid string"),
    ],
)
def test_a_reply_that_cannot_be_read_is_a_failure(name: FormatName, reply: str, failure: str) -> None:
    assert reply_format(name, ["PER"]).parse("Ada met Bob", reply).failure == failure


def test_names_are_found_by_occurrence_as_whole_words_or_else_anywhere() -> None:
    text = "cart art ART 서울은"
    named = [
        Named(surface="art", label="X", occurrence=1),
        Named(surface="art", label="X", occurrence=2),
        Named(surface="art", label="X", occurrence=3),
        Named(surface="서울", label="X"),
        Named(surface="seoul", label="X"),
        Named(surface=" ", label="X"),
    ]
    alignment = align_named(text, named, ["X"])
    assert [text[span.start : span.end] for span in alignment.spans] == ["art", "art", "서울"]
    assert alignment.outcomes == {"exact": 3, "rejected": 2, "empty": 1}
    assert align_named(text, [Named(surface="art", label="X")], ["X"]).spans == (Span(start=5, end=8, label="X"),)


def test_alpaca_records_have_instruction_input_and_output() -> None:
    first = alpaca_records(GOLD, "bracketed", {"PER": "a person", "LOC": ""})[0]
    assert first["input"] == GOLD[0].text
    assert first["output"] == "[Ada Byron | PER] met [Bob | PER] in [Rome | LOC] ."
    assert "PER: a person\nLOC" in first["instruction"]


def test_of_nested_entities_the_longest_is_written() -> None:
    example = example_of("University of Rome", "University of Rome:ORG", "Rome:LOC")
    assert reply_format("xml", ["ORG", "LOC"]).write(example) == "<ORG>University of Rome</ORG>"
