"""A battery of faulty replies: each kind on each role, and streamed, through a server on this machine.

No text that can be read is lost, none has a control character, and a reply costs at most one call more.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from ingest.chunking import chunk_paper
from ingest.extraction import ModelExtractor
from ingest.extraction.pipeline import ResolvingExtractor
from paperscope_core.errors import ContextTooLongError, ModelError
from paperscope_core.models import build_model
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.retry import RetryPolicy
from paperscope_core.protocols import Corpus, LanguageModel
from paperscope_core.settings import AnswerSettings, CallSettings
from paperscope_core.types import AskRequest, Context, ImageFinding, TextEvent, Turn
from query import Progress
from query.answering.image_reader import ImageReader
from query.answering.model_answerer import ModelAnswerer, WrittenAnswer
from query.question.understanding import Understanding
from tests.ingest.extraction.test_summaries import MUCH
from tests.ingest.extraction.test_summaries import PAPER as MUCH_SAID
from tests.ingest.extraction.test_synonyms import Drawing
from tests.model_server import Body, ModelServer, serve, words
from tests.query.answering.test_model_answerer import QUESTION, context

# Every command begins with a letter that JSON escapes, or with none.
TEXT = r"Dice gains $\frac{1}{2} \times \beta$ points, by \nu, \rho and \theta in {braces}; it's \alpha."
Reply = str | dict[str, Any]
Fault = Callable[[dict[str, Any]], Reply]


def unescaped(value: Mapping[str, Any]) -> str:
    return json.dumps(value).replace("\\\\", "\\")


def broken_lines(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1).replace("gains ", "gains\n")


def lacking(value: dict[str, Any]) -> str:
    """With other keys, and without those that have a default."""
    kept = {key: one for key, one in value.items() if key not in ("status", "claims")}
    return json.dumps({"confidence": 0.9, **kept, "notes": ["x"]})


FAULTS: dict[str, Fault] = {
    "thoughts": lambda value: f"<think>Is it {{a}} or {{'b': [1}}?</think>\n{json.dumps(value)}",
    "prose": lambda value: f"By {{S1}}, sure:\n\n{json.dumps(value)}\n\nSee {{S1}}.",
    "fence": lambda value: f"Here:\n```json\n{json.dumps(value, indent=2)}\n```\nDone.",
    "commas": lambda value: re.sub(r"(\n *[}\]])", r",\1", json.dumps(value, indent=1)),
    "single quotes": repr,
    "raw line breaks": broken_lines,
    "comments": lambda value: json.dumps(value, indent=1).replace("{\n", "{ // so far\n /* {} */\n", 1),
    "twice": lambda value: f"{json.dumps(value)}\n{json.dumps(value)}",
    "keys": lacking,
    "parts": lambda value: {
        "content": [{"type": "thinking", "thinking": "{"}, {"type": "text", "text": json.dumps(value)}]
    },
    "reasoning": lambda value: {"content": None, "reasoning_content": json.dumps(value)},
    "latex": unescaped,
}
ROLES = ("answer", "image_findings", "question", "entities", "summaries")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve(lambda _body: "") as model:
        model.streams = True
        yield model


def model_of(server: ModelServer, **extra: object) -> LanguageModel:
    role = AnswerSettings(model="m", base_url=server.url, extra=extra)
    model = build_model(role, MemoryCallCache(), calls=CallSettings(timeout=10, retries=1))
    assert model is not None
    return model


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryPolicy, "_backoff", lambda _self, _attempt: 0.0)


def good(role: str, body: Body) -> dict[str, Any]:
    """What a careful model replies in this role."""
    if role == "image_findings":
        return {"pictures": [{"picture": 1, "finding": TEXT, "relevant": True, "agrees": True}]}
    if role == "question":
        return {"question": TEXT, "same_papers": True}
    if role == "entities":
        entity = {"chunk": "C1", "mention": "focal loss", "type": "method", "description": TEXT}
        return {"entities": [entity], "relations": []}
    if role == "summaries":
        return {"terms": [{"term": "T1", "summary": TEXT}]}
    return {"status": "answered", "answer": TEXT, "claims": [{"text": TEXT, "evidence": ["S0"]}]}


@dataclass
class Told:
    """The events of a streamed answer."""

    events: list[TextEvent]

    def take(self, event: TextEvent) -> None:
        self.events.append(event)

    @property
    def text(self) -> str:
        text = ""
        for event in self.events:
            text = event.text if event.anew else text + event.text
        return text


async def answered(
    model: LanguageModel, corpus: Corpus, told: Told | None = None, *, sources: int = 1
) -> WrittenAnswer:
    async def search(_text: str) -> Context:
        return Context()

    found = context(corpus)
    found = Context(sources=found.sources * sources)
    progress = Progress(on_text=told.take if told else None)
    written = await ModelAnswerer(corpus, model, search=search).answer(QUESTION, found, progress)
    progress.end(written.draft.text)
    return written


async def read_by(role: str, model: LanguageModel, corpus: Corpus) -> str:
    """The text that a role makes of a reply."""
    if role == "image_findings":
        readings, _ = await ImageReader(corpus, model).read(QUESTION, context(corpus, "table-2").images, answer="")
        return "".join(one.text for one in readings if isinstance(one, ImageFinding))
    if role == "question":
        history = (Turn(question="Which loss?", answer="Dice."),)
        asked = await Understanding(corpus, model).read(AskRequest(question="why?", history=history), Progress())
        return asked.question
    if role == "entities":
        extraction = await ModelExtractor(model).extract(MUCH_SAID, chunk_paper(MUCH_SAID)[:1])
        return "".join(entity.description for entity in extraction.entities)
    if role == "summaries":
        extraction = await ResolvingExtractor(Drawing(MUCH).extract, model).extract(MUCH_SAID, ())
        return extraction.entities[0].description
    return (await answered(model, corpus)).draft.text


def plain(text: str) -> str:
    return " ".join(text.split())


def assert_clean(text: str) -> None:
    assert plain(text).isprintable()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", FAULTS)
async def test_each_faulty_reply_in_each_role(server: ModelServer, corpus: Corpus, role: str, kind: str) -> None:
    server.reply = lambda body: FAULTS[kind](good(role, body))
    text = await read_by(role, model_of(server), corpus)
    assert TEXT in plain(text)
    assert_clean(text)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("kind", FAULTS)
async def test_each_faulty_reply_streamed(server: ModelServer, corpus: Corpus, kind: str) -> None:
    server.reply = lambda body: FAULTS[kind](good("answer", body))
    told = Told([])
    written = await answered(model_of(server), corpus, told)
    assert plain(written.draft.text) == plain(told.text) == TEXT
    for event in told.events:
        assert_clean(event.text)
    assert len(server.bodies) == 1
    assert kind == "keys" or len(written.draft.claims) == 1
    assert written.draft.findings == ()


@pytest.mark.parametrize("fault", ["told", "cut", "502", "429"])
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_call_that_fails_is_repeated(server: ModelServer, corpus: Corpus, fault: str, streamed: bool) -> None:
    server.reply = lambda body: json.dumps(good("answer", body))
    faults = [fault]
    server.fault = lambda _body: faults.pop() if faults else ""
    server.breaks = int(fault == "cut" and streamed)
    told = Told([])
    written = await answered(model_of(server), corpus, told if streamed else None)
    assert written.draft.text == TEXT
    assert not streamed or told.text == TEXT
    assert len(server.bodies) == 2


@pytest.mark.parametrize("role", ["answer", "image_findings", "question"])
@pytest.mark.parametrize(
    "reply",
    [
        TEXT,
        f"<think>{{hm}}</think>{TEXT}",
        f"```\n{TEXT}\n```",
        {"content": [{"type": "text", "text": TEXT}]},
        {"content": "", "reasoning": TEXT},
        {"content": None, "reasoning_content": TEXT},
    ],
)
async def test_text_in_place_of_an_object_is_shown(
    server: ModelServer, corpus: Corpus, role: str, reply: Reply
) -> None:
    server.reply = lambda _body: reply
    text = await read_by(role, model_of(server), corpus)
    assert plain(text) == TEXT
    assert len(server.bodies) == 2
    assert "This is the schema" in words(server.bodies[1])


@pytest.mark.parametrize("streamed", [True, False])
async def test_plain_text_is_an_answer_with_a_finding_and_without_claims(
    server: ModelServer, corpus: Corpus, streamed: bool
) -> None:
    server.reply = lambda _body: TEXT
    told = Told([])
    written = await answered(model_of(server), corpus, told if streamed else None)
    assert (written.draft.text, written.draft.claims) == (TEXT, ())
    [finding] = written.draft.findings
    assert finding.kind == "reply"
    assert "is not the JSON object that it was asked for" in finding.message
    assert not streamed or told.text == TEXT


async def test_what_was_cut_off_is_shown_as_far_as_it_goes(server: ModelServer, corpus: Corpus) -> None:
    whole = json.dumps(good("answer", {}))
    server.reply = lambda _body: {"content": whole[: whole.index("; it")], "finish_reason": "length"}
    written = await answered(model_of(server), corpus)
    assert written.draft.text == TEXT[: TEXT.index("; it")]
    assert "cut off at its token limit" in written.draft.findings[0].message
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": None}, "a reply without text"),
        ({"content": "  ", "finish_reason": "stop"}, "a reply without text"),
        ({"content": None, "refusal": "I won't."}, 'refuses to answer: "I won\'t."'),
        ({"content": "", "finish_reason": "content_filter"}, "refuses to answer: 'content filter'"),
        (
            {"content": "", "reasoning": "So far", "finish_reason": "length"},
            "cut off at its token limit before it began",
        ),
        ({"content": "{}"}, "twice gave no valid 'answer' but '{}'"),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
async def test_what_is_no_answer_has_a_clear_message(
    server: ModelServer, corpus: Corpus, message: dict[str, Any], said: str, streamed: bool
) -> None:
    server.reply = lambda _body: message
    with pytest.raises(ModelError, match=re.escape(said)):
        await answered(model_of(server), corpus, Told([]) if streamed else None)


@pytest.mark.parametrize("most", [1, 2])
async def test_images_are_read_by_as_many_as_the_server_takes(server: ModelServer, corpus: Corpus, most: int) -> None:
    def images(body: Body) -> int:
        return sum(part["type"] == "image_url" for part in body["messages"][-1]["content"])

    def seen(body: Body) -> str:
        pictures = good("image_findings", body)["pictures"] * images(body)
        return json.dumps({"pictures": [{**one, "picture": number} for number, one in enumerate(pictures, start=1)]})

    refused = f"400 At most {most} image(s) may be provided in one request."
    server.reply, server.fault = seen, lambda body: refused if images(body) > most else ""
    # The third is the first again, and its reply is cached.
    pictured = context(corpus, "table-1", "table-2", "table-1").images
    for _ in range(2):
        readings, _ = await ImageReader(corpus, model_of(server)).read(QUESTION, pictured, answer="")
        assert [getattr(one, "text", "") for one in readings] == [TEXT] * 3
    sizes = [images(body) for body in server.bodies]
    assert (sizes[0], sorted(sizes[1:])) == (3, [1] * 4 if most == 1 else [1, 1, 2, 2])


TOO_LONG = {
    "vllm": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8000 in the "
    "messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    "llama.cpp": "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "ollama": "the input length exceeds the context length",
}


@pytest.mark.parametrize("said", TOO_LONG.values(), ids=TOO_LONG)
async def test_a_context_that_is_too_long_is_halved(server: ModelServer, corpus: Corpus, said: str) -> None:
    server.reply = lambda body: json.dumps(good("answer", body))
    faults = [f"400 {said}"] * 2
    server.fault = lambda _body: faults.pop() if faults else ""
    written = await answered(model_of(server), corpus, sources=8)
    assert (written.draft.text, len(written.context.sources), len(server.bodies)) == (TEXT, 2, 3)
    first, second, third = (len(words(body)) for body in server.bodies)
    assert first > second > third
    [finding] = written.draft.findings
    assert "the last 6 of 8 sources were left out; lower retrieval.tokens" in finding.message


async def test_a_context_that_can_not_be_halved_names_the_setting(server: ModelServer, corpus: Corpus) -> None:
    server.fault = lambda _body: f"400 {TOO_LONG['vllm']}"
    with pytest.raises(ContextTooLongError, match=r"lower retrieval\.tokens"):
        await answered(model_of(server), corpus, sources=2)
    assert len(server.bodies) == 2
