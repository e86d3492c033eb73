"""A language model as a recognizer: what it asks, and what becomes of replies."""

import asyncio
from itertools import pairwise

import pytest
from paperscope_lab.ner.language_model import WINDOW, LanguageModelRecognizer, text_windows
from tests.ner.tiny_encoder import GOLD, example_of

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import ModelRefusedError, ModelUnavailableError
from paperscope_core.models.fakes import FakeModel

LABELS = {"PER": "a person", "LOC": ""}


def recognize(recognizer: LanguageModelRecognizer, *examples: Example) -> list[Example]:
    return asyncio.run(recognizer.recognize(examples))


def test_a_model_is_shown_the_labels_and_examples() -> None:
    model = FakeModel(["[Eve | PER] slept"])
    (found,) = recognize(LanguageModelRecognizer(model, LABELS, shots=GOLD[:1]), example_of("Eve slept"))
    system, asked, shown, text = model.requests[0].messages
    assert "PER: a person\nLOC" in system.text
    assert (asked.text, shown.text) == (GOLD[0].text, "[Ada Byron | PER] met [Bob | PER] in [Rome | LOC] .")
    assert text.text == "Eve slept"
    assert [(span.start, span.end, span.label) for span in found.spans] == [(0, 3, "PER")]


def test_the_usage_of_all_replies_is_summed() -> None:
    recognizer = LanguageModelRecognizer(FakeModel(["Eve slept", "Ada slept"]), LABELS)
    recognize(recognizer, example_of("Eve slept"), example_of("Ada slept"))
    assert recognizer.usage.calls == 2
    assert recognizer.usage.completion_tokens == 4


def test_json_is_asked_for_with_its_schema() -> None:
    model = FakeModel(['{"entities": [{"text": "Eve", "label": "PER", "occurrence": 2}]}'])
    recognizer = LanguageModelRecognizer(model, LABELS, form="json")
    (found,) = recognize(recognizer, example_of("Eve is Eve"))
    assert found.spans[0].start == 7
    assert model.requests[0].schema is not None
    assert recognizer.outcomes == {"exact": 1}


def test_failures_are_counted_and_have_no_entities() -> None:
    recognizer = LanguageModelRecognizer(FakeModel(["No.", ModelRefusedError("never")]), LABELS)
    found = recognize(recognizer, example_of("Eve slept"), example_of("Ada slept"))
    assert [example.failure for example in found] == ["another text without marks", "never"]
    assert recognizer.outcomes == {"failed replies": 2}


def test_a_server_that_is_not_there_is_an_error() -> None:
    recognizer = LanguageModelRecognizer(FakeModel([ModelUnavailableError("gone")]), LABELS)
    with pytest.raises(ModelUnavailableError):
        recognize(recognizer, example_of("Eve slept"))


def test_long_texts_are_asked_in_parts() -> None:
    text = "Ada slept. " * 300
    model = FakeModel(lambda request: request.messages[-1].text.replace("Ada", "[Ada | PER]"))
    (found,) = recognize(LanguageModelRecognizer(model, LABELS), example_of(text))
    assert len(model.requests) == 3
    assert len(found.spans) == 300
    assert {text[span.start : span.end] for span in found.spans} == {"Ada"}


def test_parts_are_whole_sentences_of_the_text() -> None:
    text = "  One is here. Two is.\n\nThree is here, too.  "
    assert [text[start:end] for start, end in text_windows(text, size=24)] == [
        "One is here. Two is.",
        "Three is here, too.",
    ]
    assert list(text_windows(" \n")) == []
    assert [text[start:end] for start, end in text_windows(text, size=9)] == [
        "One is",
        "here.",
        "Two is.",
        "Three is",
        "here,",
        "too.",
    ]


@pytest.mark.parametrize("text", ["a" * 10_000, "漢" * 10_000, "word " * 2000, "\n" * 9000 + "a " + "b" * 3000])
def test_no_part_is_longer_than_a_request_may_be(text: str) -> None:
    parts = list(text_windows(text))
    assert all(0 < end - start <= WINDOW for start, end in parts)
    assert all(end <= start for (_, end), (start, _) in pairwise(parts))
    covered = "".join(text[start:end] for start, end in parts)
    assert "".join(covered.split()) == "".join(text.split())
