"""Questions on the library are answered from its list; small talk gets a reply that says what one may ask."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import Context, DoneEvent, Filters, Paper, PaperEntry, Turn
from query import QueryEngine
from query.listing import library_reply, talk_reply
from query.question import understanding
from query.question.kinds import MessageKind
from tests.query.conftest import MemoryLibrary

AUTHORS = {"bbbb00000002": ("Ann Li", "Bo May"), "cccc00000003": ("Carl Smith",), "dddd00000004": ("Dora O’Neil",)}
YEARS = {"bbbb00000002": 2019, "cccc00000003": 2023}


class Listed(MemoryLibrary):
    """Three papers with authors, one of them without a year."""

    def entries(self) -> Sequence[PaperEntry]:
        return [replace(one, authors=AUTHORS[one.id], year=YEARS.get(one.id)) for one in super().entries()]


@pytest.fixture
def papers(paper: Paper) -> Corpus:
    def moved(number: int, key: str) -> Paper:
        first = paper.elements[0]
        place = replace(first.place, paper=key)
        elements = (replace(first, id=f"{key}/passage-1", place=place),)
        return replace(paper, id=key, title=f"Paper Number {number}", file=f"{number}.pdf", elements=elements, links=())

    return Listed(*(moved(number, key) for number, key in enumerate(AUTHORS, start=1)))


@pytest.mark.parametrize(
    ("question", "numbers", "head"),
    [
        ("Which papers do you have?", [1, 2, 3], "The library has 3 papers:"),
        ("How many papers are from 2023?", [2], "The library has 3 papers, 1 of 2023:"),
        ("Which papers appeared after 2019?", [2], "The library has 3 papers, 1 of 2020–…:"),
        ("Anything since 2019?", [1, 2], "The library has 3 papers, 2 of 2019–…:"),
        ("Papers from 2019 on?", [1, 2], "The library has 3 papers, 2 of 2019–…:"),
        ("Which are older than 2023?", [1], "The library has 3 papers, 1 of …–2022:"),
        ("What was published until 2019?", [1], "The library has 3 papers, 1 of …–2019:"),
        ("Between 2018 and 2020?", [1], "The library has 3 papers, 1 of 2018–2020:"),
        ("Anything from 2001?", [], "The library has 3 papers, none of 2001."),
        ("Is there something by Smith?", [2], "The library has 3 papers, 1 by Smith:"),
        ("anything by ann li?", [1], "The library has 3 papers, 1 by li:"),
        ("What has Li’s group written?", [1], "The library has 3 papers, 1 by Li:"),
        ("Papers of O’Neil?", [3], "The library has 3 papers, 1 by O’Neil:"),
        ("Is there something by Jane Doe?", [], "The library has 3 papers, none by Jane Doe."),
        ("Something by Li of 2023?", [], "The library has 3 papers, none by Li of 2023."),
        ("May I see the papers?", [1, 2, 3], "The library has 3 papers:"),
        ("Do you have “Paper Number 2”?", [2], "The library has 3 papers, 1 of this name:"),
    ],
)
def test_the_list_is_selected_by_what_the_question_names(
    papers: Corpus, question: str, numbers: list[int], head: str
) -> None:
    reply = library_reply(question, papers, Filters())
    lines = reply.text.splitlines()
    assert lines[0] == head
    shown = [claim.text.partition(" (")[0].partition(",")[0] for claim in reply.claims]
    assert shown == [f"Paper Number {number}" for number in numbers]
    assert [claim.evidence[0].place.paper for claim in reply.claims] == [list(AUTHORS)[one - 1] for one in numbers]
    assert ("The year of 1 paper is not known." in lines) == any(digit in question for digit in ("200", "201", "202"))


def test_the_filters_restrict_the_list(papers: Corpus) -> None:
    one = library_reply("Which papers do you have?", papers, Filters(papers=("bbbb00000002",)))
    assert one.text == "The library has 1 paper:\n1. Paper Number 1 (2019), by Ann Li, Bo May"
    assert "2 (2023)" in library_reply("Which papers?", papers, Filters(first_year=2020)).text
    assert library_reply("Which papers?", MemoryLibrary(), Filters()).text == "The library has no papers."


def test_small_talk_is_answered_with_what_one_may_ask(papers: Corpus) -> None:
    assert "Which papers do you have?" in talk_reply(papers.entries()).text
    assert "Paper Number 1" in talk_reply(papers.entries()).text
    assert "no papers yet" in talk_reply([]).text


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tells three messages from questions on papers."""

    async def kind_of(message: str, _: Embedder) -> MessageKind:
        if message.startswith(("Which papers", "How many papers")):
            return "library"
        return "talk" if message in ("Hi!", "Hi, on QUOREF, please") else "papers"

    monkeypatch.setattr(understanding, "kind_of", kind_of)


@pytest.mark.usefixtures("kinds")
async def test_neither_is_looked_up(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    engine = QueryEngine(corpus, index, embedder)
    hello, papers = await engine.ask("Hi!"), await engine.ask("Which papers do you have?")
    assert (hello.status, hello.claims, hello.context, hello.warnings) == ("answered", (), Context(), ())
    assert (papers.status, papers.context, papers.warnings) == ("answered", Context(), ())
    assert "Dice Losses for Imbalanced Tagging" in papers.text
    assert Turn.of(papers).papers == tuple(entry.id for entry in corpus.entries())
    assert "retrieving" not in [stage.stage for stage in papers.stages]
    events = [event async for event in engine.stream("Hi!")]
    assert isinstance(events[-1], DoneEvent)
    assert events[-1].answer.text == hello.text


@pytest.mark.usefixtures("kinds")
async def test_small_talk_that_names_what_the_papers_name_is_looked_up(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    answer = await QueryEngine(corpus, index, embedder).ask("Hi, on QUOREF, please")
    assert answer.context.sources


@pytest.mark.usefixtures("kinds")
async def test_a_follow_up_on_the_library_is_on_the_library(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    engine = QueryEngine(corpus, index, embedder)
    first = Turn.of(await engine.ask("How many papers do you have?"))
    answer = await engine.ask("And from 2021?", history=[first])
    assert answer.text.startswith("The library has 1 paper, none of 2021.")


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"kind": "talk", "reply": "Bonjour !"}, "Bonjour !"),
        ({"kind": "talk"}, "Which papers do you have?"),
        ({"kind": "library"}, "1 paper:"),
    ],
)
async def test_a_model_confirms_it_and_replies_in_one_call(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, reply: dict[str, str], text: str
) -> None:
    model = FakeModel([json.dumps({"question": "Hi!", "same_papers": False, **reply})])
    answer = await QueryEngine(corpus, index, embedder, model).ask("Hi!")
    assert text in answer.text
    assert len(model.requests) == 1
    assert answer.usage.calls == 1
    assert answer.asked_as == ""


@pytest.mark.usefixtures("kinds")
async def test_a_model_may_find_that_it_is_a_question_on_papers(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    written = json.dumps({"status": "answered", "answer": "It is 95.43.", "claims": []})
    model = FakeModel([json.dumps({"question": "Hi!"}), written])
    answer = await QueryEngine(corpus, index, embedder, model).ask("Hi!")
    assert answer.text == "It is 95.43." or answer.status == "unanswerable"
