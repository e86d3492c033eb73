"""A language model as a recognizer: what it asks, and what becomes of replies."""

import asyncio
from itertools import pairwise

import pytest
from paperscope_lab.ner.formats import FORMATS, FormatName, reply_format
from paperscope_lab.ner.language_model import WINDOW, LanguageModelRecognizer, text_windows
from tests.ner.tiny_encoder import GOLD, example_of

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import ModelRefusedError, ModelUnavailableError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.types import ModelRequest

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


def test_a_text_that_the_server_always_refuses_fails_alone_and_a_server_that_is_gone_ends_the_run() -> None:
    texts = [example_of(f"Eve slept {number}") for number in range(8)]

    def reply(request: ModelRequest) -> str:
        if request.messages[-1].text.endswith(down):
            raise ModelUnavailableError("HTTP 500")
        return request.messages[-1].text

    down: tuple[str, ...] = ("3",)
    recognizer = LanguageModelRecognizer(FakeModel(reply), LABELS)
    assert [one.failure for one in recognize(recognizer, *texts)] == [None] * 3 + ["HTTP 500"] + [None] * 4
    assert recognizer.unanswered == 1
    down = tuple("1234567")
    with pytest.raises(ModelUnavailableError):
        recognize(LanguageModelRecognizer(FakeModel(reply), LABELS), *texts)


@pytest.mark.parametrize("form", FORMATS)
def test_several_texts_are_asked_at_once_and_those_without_a_reply_by_themselves(form: FormatName) -> None:
    def reply(request: ModelRequest) -> str:
        texts = request.messages[-1].text.split("\n")
        written = [format_.write(next(one for one in GOLD if one.text == text.split(": ", 1)[-1])) for text in texts]
        if len(texts) == 1:
            return written[0]
        return "Here:\n" + "\n".join(f"{number}: {one}" for number, one in enumerate(written, 1) if number != 3)

    format_ = reply_format(form, ("PER", "LOC"))
    model = FakeModel(reply)
    recognizer = LanguageModelRecognizer(model, LABELS, form=form, shots=GOLD[2:], texts_per_call=3)
    assert recognize(recognizer, *GOLD) == GOLD
    assert sorted(request.messages[-1].text for request in model.requests) == [
        f"1: {GOLD[0].text}\n2: {GOLD[1].text}\n3: {GOLD[2].text}",
        GOLD[3].text,
        GOLD[2].text,
    ]
    assert model.requests[0].messages[1].text == f"1: {GOLD[2].text}\n2: {GOLD[3].text}"


def test_an_instruction_replaces_ours() -> None:
    model = FakeModel(["Eve slept"])
    recognize(LanguageModelRecognizer(model, LABELS, instruction="Mark PER."), example_of("Eve slept"))
    assert model.requests[0].messages[0].text == "Mark PER."


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
