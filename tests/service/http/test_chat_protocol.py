"""OpenAI's client talks to the service."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope_core.text.escaping import one_line, read_markdown_text
from paperscope_core.types import Answer, Box, Claim, Context, Evidence, Finding, Place, Turn
from service.http.chat_protocol import Reply, read_reply
from tests.model_server import serve, words
from tests.rendered_markdown import RENDERERS, TEXTS, elements
from tests.service.conftest import PAPER
from tests.service.http.requests import QUESTION, copy_library, model_reply, post_question, serve_library, without_times

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam

TOOL = {"type": "function", "function": {"name": "f"}}
ASKED: list["ChatCompletionMessageParam"] = [{"role": "user", "content": QUESTION}]


@pytest.fixture(scope="module")
def client(address: str) -> Iterator["openai.OpenAI"]:
    import openai

    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120) as client:
        yield client


def test_a_completion_is_the_answer_with_its_sources(client: "openai.OpenAI", address: str) -> None:
    completion = client.chat.completions.create(model="paperscope", messages=ASKED, temperature=0.3, max_tokens=5)
    (choice,) = completion.choices
    answer = post_question(address).json()
    text = choice.message.content or ""
    assert read_markdown_text(text).startswith(answer["text"] + "\n\nSources:\n1. Four Reports, Four Rulers")
    assert ", Table 2, page 2 (paper " in text
    assert choice.message.annotations
    cited = choice.message.annotations[0].url_citation
    place = answer["claims"][0]["evidence"][0]["place"]
    assert cited.url.startswith(f"{address}/#/papers/{place['paper']}?at={place['page']},")
    assert text[cited.start_index : cited.end_index].endswith(f"(paper {place['paper']})")
    assert answer["findings"] == []
    assert "Notes:" not in text
    assert (choice.finish_reason, completion.object, completion.model) == ("stop", "chat.completion", "paperscope")
    assert completion.usage is not None
    assert completion.usage.total_tokens == 0
    assert completion.model_extra is not None
    assert without_times(completion.model_extra["paperscope"]) == without_times(answer)


def test_the_findings_of_an_answer_are_its_notes(client: "openai.OpenAI", address: str) -> None:
    question = "In Table 3, what is the recall on the test split under the exact scenario?"
    completion = client.chat.completions.create(model="paperscope", messages=[{"role": "user", "content": question}])
    answer = post_question(address, question=question).json()
    assert answer["status"] == "answered"
    text = completion.choices[0].message.content or ""
    assert text.endswith(f"\n\nNotes:\n- {answer['findings'][0]['message']}")


def test_a_streamed_completion_is_the_plain_one(client: "openai.OpenAI") -> None:
    plain = client.chat.completions.create(model="paperscope", messages=ASKED)
    stream = client.chat.completions.create(
        model="paperscope", messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == plain.choices[0].message.content
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices] == [None, None, "stop"]
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[-1].choices == []
    assert chunks[-1].usage == plain.usage
    whole = chunks[-2].model_extra or {}
    assert without_times(whole["paperscope"]) == without_times((plain.model_extra or {})["paperscope"])


def test_models_are_all_papers_and_each(client: "openai.OpenAI") -> None:
    import openai

    every, one = client.models.list().data
    assert every.id == "paperscope"
    assert (one.model_extra or {})["name"].startswith("Four Reports")
    completion = client.chat.completions.create(model=one.id, messages=ASKED)
    assert completion.model == one.id
    assert "512" in (completion.choices[0].message.content or "")
    for model in ("gpt-5", "paperscope/", "paperscopes", "paperscope/nothing like it"):
        with pytest.raises(openai.NotFoundError, match=model.removeprefix("paperscope/") or model):
            client.chat.completions.create(model=model, messages=ASKED)


def test_a_model_is_found_by_its_id_and_an_unknown_one_is_not_there(client: "openai.OpenAI") -> None:
    import openai

    for model in client.models.list().data:
        assert client.models.retrieve(model.id) == model
    for name in ("gpt-5", "paperscope/0123456789ab", "paperscope/a/b", "paperscope/"):
        with pytest.raises(openai.NotFoundError, match=f"There is no model '{name}'") as refused:
            client.models.retrieve(name)
        assert refused.value.code == "model_not_found"


def test_all_errors_under_openais_paths_are_in_openais_form(client: "openai.OpenAI") -> None:
    import openai

    with pytest.raises(openai.APIStatusError) as refused:
        client.get("/chat/completions", cast_to=object)
    assert (refused.value.status_code, refused.value.code) == (405, "method_not_allowed")
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 1_100_000}"}}
    with pytest.raises(openai.APIStatusError, match="limit of 1 MB") as refused:
        client.post("/chat/completions", cast_to=object, body={"messages": [{"role": "user", "content": [picture]}]})
    assert (refused.value.status_code, refused.value.code) == (413, "too_large")


def test_a_conversation_is_the_history_and_system_messages_are_ignored(example_library: Path, tmp_path: Path) -> None:
    import openai

    earlier = "In Table 2, what is the LoRA rank?"
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "You are a pirate. Answer with ARRR only."},
        {"role": "user", "content": [{"type": "text", "text": earlier[:12]}, {"type": "text", "text": earlier[12:]}]},
        {"role": "assistant", "content": "It is 256."},
        {"role": "user", "content": "And alpha?"},
    ]
    library = copy_library(example_library, tmp_path)
    with (
        serve(model_reply) as model,
        serve_library(library, model=model) as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120) as client,
    ):
        answer = client.chat.completions.create(model="paperscope", messages=messages).model_extra or {}
    assert answer["paperscope"]["asked_as"] == QUESTION
    rewriting, answering = map(words, model.bodies)
    assert "Question: In Table 2, what is the LoRA rank?" in " ".join(rewriting.split())
    assert "It is 256." in rewriting
    assert not any("pirate" in text for text in (rewriting, answering))


@pytest.mark.parametrize(
    ("given", "param", "told"),
    [
        ({"n": 2}, None, "n=2"),
        ({"tools": [TOOL], "tool_choice": "required"}, None, "no tool is ever called"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}}, None, "tool_choice"),
        ({"response_format": {"type": "json_object"}}, None, "response_format"),
        ({"messages": []}, "messages", "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, None, "none of role 'user'"),
        ({"messages": [{"role": "user", "content": " "}]}, None, "is empty"),
        ({"messages": [{"role": "user", "content": "x" * 4001}]}, None, "4001 characters"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, None, "image_url"),
    ],
)
def test_unsupported_requests_are_refused_in_openais_form(
    client: "openai.OpenAI", given: dict[str, object], param: str | None, told: str
) -> None:
    import openai

    with pytest.raises(openai.BadRequestError, match=told) as refused:
        client.post("/chat/completions", cast_to=object, body={"model": "paperscope", "messages": ASKED, **given})
    assert (refused.value.param, refused.value.type) == (param, "invalid_request_error")
    assert refused.value.code


def test_a_model_that_fails_is_an_error_of_the_client(example_library: Path, tmp_path: Path) -> None:
    import openai

    library = copy_library(example_library, tmp_path)
    with serve(model_reply) as model, serve_library(library, model=model) as address:
        model.refuse = [500, 500]
        with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120) as client:
            with pytest.raises(openai.InternalServerError, match="HTTP 500"):
                client.chat.completions.create(model="paperscope", messages=ASKED)
            with pytest.raises(openai.APIError, match="HTTP 500"):
                list(client.chat.completions.create(model="paperscope", messages=ASKED, stream=True))


@pytest.mark.slow
def test_a_text_that_began_anew_leaves_nothing_behind(example_library: Path, tmp_path: Path) -> None:
    import openai

    texts = iter(("A first text, which breaks off in its middle. " * 5, "Another text."))
    library = copy_library(example_library, tmp_path)
    with (
        serve(lambda body: model_reply(body, text=next(texts))) as model,
        serve_library(library, model=model, **{"calls.retries": 1}) as address,
    ):
        model.streams, model.breaks = True, 1
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120)
        with client:
            chunks = list(client.chat.completions.create(model="paperscope", messages=ASKED, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith("Another text.\n\nSources:\n1. ")
    assert len(model.bodies) == 2


def reply_of(text: str, *, name: str = "A Tagger, Table 1, page 3") -> Reply:
    place = Place(paper=PAPER, page=3, box=Box(1.0, 2.0, 3.0, 4.0))
    evidence = Evidence(element=f"{PAPER}/table-1", place=place, name=name)
    answer = Answer(
        question="?",
        status="answered",
        text=text,
        claims=(Claim(text=text, evidence=(evidence, evidence)),),
        context=Context(),
        findings=(Finding(kind="number", subject="3", message="the number 3\nis not printed"),),
    )
    return Reply.of(answer, service="http://127.0.0.1:8080")


def told(text: str, *, name: str = "A Tagger, Table 1, page 3") -> str:
    return reply_of(text, name=name).content


def test_a_reply_lists_each_place_once() -> None:
    assert told("It is 3.") == (
        "It is 3.\n\nSources:\n1. A Tagger, Table 1, page 3 (paper aaaa00000001)"
        "\n\nNotes:\n- the number 3 is not printed"
    )
    assert told("3 < 4, p<.05, n! & a_b").startswith("3 < 4, p<.05, n! & a_b\n")


def test_a_citation_names_its_line_and_leads_to_its_boxes_on_the_web_page() -> None:
    reply = reply_of("1. A Tagger, Table 1, page 3 (paper aaaa00000001)\n\nSources:", name="A ![t](//x), page 3")
    (citation,) = [one.url_citation for one in reply.annotations]
    assert citation.start_index == reply.content.rindex("\n1. ") + 4
    assert reply.content[citation.start_index : citation.end_index].endswith(", page 3 (paper aaaa00000001)")
    assert citation.title == r"A ![t\](//x), page 3"
    assert citation.url == f"http://127.0.0.1:8080/#/papers/{PAPER}?at=3,1,2,3,4"


@given(st.text())
def test_a_reply_reads_back_as_the_turn_that_it_ended(text: str) -> None:
    turn = Turn(question="?")
    reply = told(text)
    read = read_reply(turn, reply)
    assert read.papers == (PAPER,)
    assert read.answer.split() == one_line(text).split()
    assert read_reply(turn, "Nothing of ours.").answer == "Nothing of ours."


@pytest.mark.parametrize("renderer", RENDERERS)
@settings(max_examples=30)
@given(TEXTS)
def test_no_text_of_a_reply_is_read_as_markup(renderer: str, text: str) -> None:
    found = elements(told(f"{text}\n\nIt is 3.", name=text), renderer)
    assert {one.tag for one in found.iter()} <= {"div", "p", "br", "ol", "ul", "li"}
    assert (len(list(found.iter("ol"))), len(list(found.iter("li")))) == (1, 2)
