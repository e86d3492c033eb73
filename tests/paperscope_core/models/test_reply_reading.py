"""Replies that are nearly the JSON object that was asked for."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from paperscope_core.models.reply_reading import partial_text, read_replies, read_reply, readable_text, without_thoughts
from paperscope_core.models.structured import strict_schema


class Claim(BaseModel):
    text: str
    evidence: list[str] = []


class Reply(BaseModel):
    status: Literal["answered", "unanswerable"] = "answered"
    answer: str
    claims: list[Claim] = []


class Pictures(BaseModel):
    pictures: list[Claim]


ADAPTER = TypeAdapter(Reply)
SCHEMA = strict_schema(ADAPTER)
VALUE = {
    "status": "answered",
    "answer": "It gains 0.53, see {S1}.",
    "claims": [{"text": "It gains 0.53.", "evidence": ["S1", "S2"]}],
}
GOOD = json.dumps(VALUE)
WHOLE = Reply.model_validate(VALUE)


def read(text: str) -> Reply:
    return read_reply(text, ADAPTER, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure, here it is:\n{GOOD}\nI hope that {{this}} helps.",
        f"By {{S1}} and {{S2: the table}}:\n{GOOD}\nSee {{S1}}.",
        f"<think>Is it {{a}} or {{'b': 1}}?</think>\n{GOOD}",
        f'<think>Perhaps {{"status": "unanswerable", "answer": "no"}}</think>{GOOD}',
        f"It may be {{x}}.\n</think>\n\n{GOOD}",
        f"[THINK]hm {{[/THINK]{GOOD}",
        f"<think>{GOOD}",
        f"<think>so {{}}</think>\n```json\n{GOOD}\n```",
        f"```json\n{GOOD}\n```",
        f"```\n{json.dumps(VALUE, indent=2)}\n```\nDone.",
        f"```json\n{GOOD}",
        GOOD.replace("]}]}", "],},],}"),
        GOOD.replace('"', "'"),
        str(VALUE),
        GOOD.replace('{"status"', "{status").replace('"answered",', "'answered',").replace("status:", "status :"),
        GOOD.replace('", "answer"', '"\n "answer"'),
        GOOD.replace(', "claims"', ', // what it rests on\n /* "old": [] */ "claims"'),
        GOOD + GOOD,
        f"{GOOD}\n\nCorrected:\n{GOOD}",
        GOOD.replace("{", '{"confidence": 0.9, "notes": {"a": [1]}, ', 1),
        GOOD.replace('"status": "answered", ', ""),
        GOOD.replace('"answered"', '"Answered "'),
        GOOD.replace('"answer"', '"Answer"'),
        GOOD.replace('"status"', "\u201cstatus\u201d"),
        json.dumps({"reply": VALUE}),
        json.dumps({"name": "answer", "arguments": VALUE}),
        json.dumps([VALUE]),
        json.dumps({**VALUE, "claims": VALUE["claims"][0]}),
        json.dumps({**VALUE, "claims": json.dumps(VALUE["claims"])}),
        "\ufeff" + GOOD,
    ],
)
def test_what_was_meant_is_read(text: str) -> None:
    assert read(text) == WHOLE


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "Two lines:\n- one\n- two"}', "Two lines:\n- one\n- two"),
        ('{"answer": "They call it "dice loss" here", "claims": []}', 'They call it "dice loss" here'),
        ("{'answer': 'It isn't \"new\"', 'claims': []}", 'It isn\'t "new"'),
        (
            r'{"answer": "$\frac{1}{2} \beta$, \nu \rho \theta \times \text{x} and \alpha"}',
            r"$\frac{1}{2} \beta$, \nu \rho \theta \times \text{x} and \alpha",
        ),
        ('{"answer": "\\u000crac{1}{2} \\u0008eta \\u001b[0m"}', r"\frac{1}{2} \beta  [0m"),
        ('{"answer": ["first", "second"], "claims": null}', "first\nsecond"),
        ('{"answer": 0.53, "claims": []}', "0.53"),
        ('{"answer": "R1 wraps thoughts in <think> and </think>."}', "R1 wraps thoughts in <think> and </think>."),
        ('{"answer": "' + "x" * 50_000 + '"}', "x" * 29_999 + "…"),
    ],
)
def test_the_text_is_what_was_meant(text: str, answer: str) -> None:
    assert read(text) == Reply(answer=answer)


def test_a_list_in_place_of_the_object_that_holds_it_is_read() -> None:
    adapter = TypeAdapter(Pictures)
    for text in ('[{"text": "a"}]', '{"text": "a"}', 'Here: {"text": "a"}'):
        assert read_reply(text, adapter, strict_schema(adapter)).pictures == [Claim(text="a")]
    lines = '{"text": "a"}\n{"text": "b",}'
    assert read_reply(lines, adapter, strict_schema(adapter)).pictures == [Claim(text="a"), Claim(text="b")]
    twice = '{"pictures": [{"text": "a"}]} ' * 2
    assert read_reply(twice, adapter, strict_schema(adapter)).pictures == [Claim(text="a")]
    assert read_reply("[]", adapter, strict_schema(adapter)).pictures == []


def test_all_that_a_reply_may_mean_is_read_the_last_object_first() -> None:
    adapter = TypeAdapter(Pictures)
    found = read_replies('{"text": "a"} or {"text": "b"}', adapter, strict_schema(adapter))
    assert [[one.text for one in each.pictures] for each in found] == [["a", "b"], ["b"], ["a"]]


@pytest.mark.parametrize(
    "text",
    ["", "no", "{}", "{S1}", '{"other": 1}', '{"answer": "half', '{"answer": "x", "claims": [{"text": "y"', "{" * 5000],
)
def test_what_is_no_whole_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text)


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("It gains 0.53.", "It gains 0.53."),
        ("<think>hm</think>It gains {0.53}.", "It gains {0.53}."),
        ("```\nIt gains 0.53.\n```", "It gains 0.53."),
        ('{"status": "answered", "answer": "It gains', "It gains"),
        ('{"response": "It gains 0.53."}', "It gains 0.53."),
        ("<think>It gains 0.53.", "It gains 0.53."),
        ("{}", ""),
        ('{"status": ', ""),
        ("", ""),
        ("a\x00b\x0crac", "a b\\frac"),
    ],
)
def test_readable_text(text: str, readable: str) -> None:
    assert readable_text(text, SCHEMA) == readable


def test_thoughts_are_left_out() -> None:
    assert without_thoughts("Well. <think>{</think> It is 5.") == "Well.  It is 5."
    assert without_thoughts("<thinking>only") == "only"


@pytest.mark.parametrize(
    ("begun", "text"),
    [
        ('<think>{"answer": "no"}', ""),
        ('<think>{"answer": "no"}</think>{"answer": "ye', "ye"),
        ("{'answer': 'it is", "it is"),
        (r'{"answer": "\fra', ""),
        (r'{"answer": "$\frac{1}{2}$ and \nab', r"$\frac{1}{2}$ and "),
        (r'{"answer": "$\frac{1}{2}$ and \nabla f', r"$\frac{1}{2}$ and \nabla f"),
        (GOOD + "\nDone.", WHOLE.answer),
    ],
)
def test_the_text_so_far(begun: str, text: str) -> None:
    assert partial_text(begun, "answer") == text


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for begun in (text, "{" + text, '{"answer": ' + text, '{"answer": "' + text):
        partial_text(begun, "answer")
        readable_text(begun, SCHEMA)
        try:
            answer = read(begun).answer
        except ValueError:
            continue
        assert "\x0c" not in answer


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "{" * n,
        lambda n: '["' * n,
        lambda n: "{'" * n,
        lambda n: '{"a":' * n,
        lambda n: '{"a":"' + '" ' * n,
        lambda n: '{"a": "' + " " * n + '"x' * 3,
        lambda n: "/*" * n,
        lambda n: '{"a":/*' * n,
        lambda n: "\\" * n,
        lambda n: '{"answer": "' + r"\nless" * n,
        lambda n: "```json\n{" * n,
        lambda n: "<think>" * n,
        lambda n: '{"answer": "' + '", "' * n,
        lambda n: '{"answer": {x' * n,
    ],
)
def test_reading_takes_linear_time(make: Callable[[int], str]) -> None:
    def seconds(count: int) -> float:
        text = make(count)
        best = float("inf")
        for _ in range(3):
            start = time.thread_time()
            for work in (lambda: read(text), lambda: readable_text(text, SCHEMA), lambda: partial_text(text, "answer")):
                with suppress(ValueError):
                    work()
            best = min(best, time.thread_time() - start)
        return best

    assert seconds(16_000) < max(10 * seconds(4_000), 0.2)
