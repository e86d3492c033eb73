"""An answering model looks up what its context lacks, and nothing if the context is enough."""

import json
from dataclasses import replace

import pytest

from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import ModelUnavailableError, QuestionBudgetError
from paperscope_core.models.budget import AccountedModel, Accounting
from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.settings import AnswerSettings, RetrievalSettings
from paperscope_core.types import (
    Answer,
    AskRequest,
    Context,
    Filters,
    ModelReply,
    ModelRequest,
    Paper,
    Passage,
    Prices,
    TextEvent,
)
from query import Progress, QueryEngine

PAPER = "aaaa00000001"
QUESTION = "Which entry does the work cite on rare tags?"
# One chunk is retrieved, so that the rest must be looked up.
NARROW = RetrievalSettings(chunks=1)


def reply(text: str, *evidence: str, status: str = "answered", look_up: object = None) -> str:
    claims = [{"text": text, "evidence": list(evidence)}]
    values = {"status": status, "answer": text, "claims": claims}
    return json.dumps(values if look_up is None else {**values, "look_up": look_up})


def call(tool: str, argument: str, **more: object) -> dict[str, object]:
    return {"tool": tool, "argument": argument, "paper": "", "part": 1, **more}


def missing(*calls: object) -> str:
    return reply("It is missing.", "S0", status="unanswerable", look_up=list(calls))


def picture(text: str, *, first: int = 1, agrees: bool = False) -> str:
    return json.dumps({"pictures": [{"picture": first, "finding": text, "relevant": True, "agrees": agrees}]})


class Asked:
    """An engine over the small library, with the requests that its models get."""

    def __init__(
        self,
        corpus: Corpus,
        model: FakeModel,
        vision: FakeModel | None = None,
        *,
        rounds: int = 1,
        settings: RetrievalSettings = NARROW,
        embedder: Embedder,
    ) -> None:
        assert isinstance(corpus, GraphIndex)
        self.model = model
        answering = AnswerSettings(rounds=rounds)
        self.engine = QueryEngine(
            corpus,
            corpus,
            embedder,
            model,
            vision,
            settings=settings,
            answering=answering,
            page_image=lambda _, page: f"page {page}".encode(),
        )

    async def answer(self, question: str = QUESTION, **filters: tuple[str, ...]) -> Answer:
        return await self.engine.ask(AskRequest(question=question, filters=Filters(**filters)))  # type: ignore[arg-type]

    def prompt(self, number: int) -> str:
        return self.model.requests[number].messages[-1].text


async def test_what_is_looked_up_becomes_rows_that_an_answer_cites(corpus: Corpus, embedder: Embedder) -> None:
    model = FakeModel([missing(call("reference", "[1]"), call("section", "A")), reply("Rare tags. 2019.", "S1")])
    asked = Asked(corpus, model, embedder=embedder)
    answer = await asked.answer()
    assert (answer.initial, answer.merged, answer.status) == ("It is missing.", "Rare tags. 2019.", "answered")
    assert "Rare tags. 2019." in asked.prompt(1)
    assert "Training took five hours" in asked.prompt(1)
    assert "reference '[1]': S1" in asked.prompt(1)
    assert {evidence.element for evidence in answer.evidence} == {f"{PAPER}/reference-1"}
    assert [evidence.quote for evidence in answer.evidence] == ["[1] Rare tags.", "2019."]
    assert [(one.call.tool, one.call.argument, one.rows) for one in answer.look_ups] == [
        ("reference", "[1]", (1,)),
        ("section", "A", (2,)),
    ]
    assert answer.usage.calls == 2
    assert [stage.stage for stage in answer.stages if stage.usage.calls] == ["answering", "merging"]
    assert from_json(Answer, to_json(answer)) == answer


@pytest.mark.parametrize("look_up", [None, [], "nothing", [{"tool": "browse", "argument": "x"}, 7]])
async def test_a_question_that_is_settled_takes_one_call(corpus: Corpus, embedder: Embedder, look_up: object) -> None:
    model = FakeModel([reply("169", "S0", look_up=look_up)])
    answer = await Asked(corpus, model, embedder=embedder).answer()
    assert (answer.text, answer.usage.calls, answer.look_ups, answer.merged) == ("169", 1, (), "")


async def test_a_settled_question_with_a_picture_takes_the_calls_of_one_without_look_ups(
    corpus: Corpus, embedder: Embedder
) -> None:
    calls = []
    for rounds in (0, 4):
        for agrees in (True, False):
            model = FakeModel(lambda _: reply("169", "S0"))
            vision = FakeModel(lambda _, agrees=agrees: picture("169", agrees=agrees))  # type: ignore[misc]
            asked = Asked(corpus, model, vision, rounds=rounds, settings=RetrievalSettings(), embedder=embedder)
            await asked.answer("What is the ratio for QUOREF in Table 1?")
            calls.append((len(model.requests), len(vision.requests)))
    assert calls == [(1, 1), (2, 1)] * 2


async def test_a_context_is_reduced_to_what_is_cited_when_something_was_found(
    corpus: Corpus, embedder: Embedder
) -> None:
    wide = RetrievalSettings()
    question = "What do Table 1 and the two treebanks in Table 2 show?"
    found, nothing = call("reference", "[1]"), call("element", "Table 77")
    for looked_up, kept in ((found, False), (nothing, True)):
        model = FakeModel([missing(looked_up), reply("x", "S0")])
        asked = Asked(corpus, model, settings=wide, embedder=embedder)
        await asked.answer(question)
        assert '\n1,"' in asked.prompt(0)
        assert ('\n1,"' in asked.prompt(1)) == kept
    assert "no element 'Table 77'" in asked.prompt(1)


async def test_a_failed_look_up_is_told_to_the_model_and_no_error(
    corpus: Corpus, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = FakeModel(
        [
            missing(call("section", "99"), call("search", "rare"), call("page", "1", paper="Nobody's")),
            reply("still x", "S0"),
        ]
    )
    asked = Asked(corpus, model, embedder=embedder)

    async def fails(_filters: Filters, text: str) -> Context:
        raise ModelUnavailableError(f"the embedder is down for {text}")

    monkeypatch.setattr(asked.engine, "_search", fails)
    answer = await asked.answer()
    assert answer.text == "still x"
    for message in ("no section '99'", "the embedder is down for rare", 'no paper "Nobody\'s"'):
        assert message in asked.prompt(1)
    assert [bool(one.message) for one in answer.look_ups] == [True] * 3


async def test_a_statement_of_a_whole_section_is_cited_where_it_stands(
    empty_corpus: Corpus, paper: Paper, embedder: Embedder
) -> None:
    first, second, *others = paper.elements
    assert isinstance(second, Passage)
    moved = replace(second, section=first.section)
    corpus = type(empty_corpus)(replace(paper, elements=(first, moved, *others)))  # type: ignore[call-arg]
    model = FakeModel([missing(call("section", "1")), reply("It needs no tuning.", "S1")])
    asked = Asked(corpus, model, embedder=embedder)
    answer = await asked.answer("Which machine took five hours?")
    [evidence] = answer.evidence
    assert (evidence.element, evidence.place, evidence.quote) == (moved.id, moved.place, "It needs no tuning.")
    [source] = [one for one in answer.context.sources if one.id == 1]
    assert source.content.startswith("Many tagging tasks")


async def test_at_most_four_look_ups_each_once(corpus: Corpus, embedder: Embedder) -> None:
    pages = [call("page", str(number)) for number in (1, 1, 2, 3, 4, 5)]
    answer = await Asked(corpus, FakeModel([missing(*pages), reply("x", "S0")]), embedder=embedder).answer()
    assert [one.call.argument for one in answer.look_ups] == ["1", "2", "3", "4"]


async def test_a_call_that_is_written_loosely_is_run(corpus: Corpus, embedder: Embedder) -> None:
    loose = {"tool": "page", "argument": 2, "paper": None, "why": "it is missing"}
    answer = await Asked(corpus, FakeModel([missing(loose), reply("x", "S0")]), embedder=embedder).answer()
    assert [str(one.call) for one in answer.look_ups] == ["page '2'"]


@pytest.mark.parametrize(("rounds", "calls"), [(0, 1), (1, 2), (3, 4)])
async def test_a_model_is_asked_again_at_most_as_often_as_the_setting_allows(
    corpus: Corpus, embedder: Embedder, rounds: int, calls: int
) -> None:
    model = FakeModel(lambda _: missing(call("page", "1")))
    asked = Asked(corpus, model, rounds=rounds, embedder=embedder)
    answer = await asked.answer()
    assert (len(model.requests), len(answer.look_ups), answer.status) == (calls, rounds, "unanswerable")
    offered = ["look_up" in request.messages[0].text for request in model.requests]
    schemas = ["look_up" in str(request.schema) for request in model.requests]
    assert offered == schemas == [True] * rounds + [False]


async def test_a_figure_that_is_looked_up_is_read_and_merged_in_one_call(corpus: Corpus, embedder: Embedder) -> None:
    model = FakeModel(
        [missing(call("element", "Equation 1"), call("element", "Table 2")), reply("α is a logarithm.", "I0")]
    )
    vision = FakeModel([picture("α = log(...)")])
    asked = Asked(corpus, model, vision, embedder=embedder)
    answer = await asked.answer()
    [request] = vision.requests
    # The cells of a table are text already.
    assert request.messages[-1].images == (b"crop-equation-1",)
    assert "I0 (Equation 1): α = log(...)" in asked.prompt(1)
    assert "Dice | WSJ: 95.43 (+0.53)" in asked.prompt(1)
    assert [evidence.element for evidence in answer.evidence] == [f"{PAPER}/equation-1"]
    assert (answer.usage.calls, len(answer.readings), len(answer.context.images)) == (3, 1, 1)


async def test_a_page_that_is_looked_up_is_read_as_a_picture(corpus: Corpus, embedder: Embedder) -> None:
    model = FakeModel([missing(call("page", "2")), reply("two curves", "I0")])
    vision = FakeModel([picture("two curves")])
    asked = Asked(corpus, model, vision, embedder=embedder)
    answer = await asked.answer()
    assert [request.messages[-1].images for request in vision.requests] == [(b"page 2",)]
    assert "All scores on the two treebanks" in asked.prompt(1)
    [evidence] = answer.evidence
    assert (evidence.place.page, evidence.quote) == (2, "two curves")


async def test_the_pictures_of_the_context_and_the_look_ups_share_their_calls(
    corpus: Corpus, embedder: Embedder
) -> None:
    def seen(request: ModelRequest) -> str:
        count = len(request.messages[-1].images)
        pictures = [json.loads(picture("x", first=number + 1))["pictures"][0] for number in range(count)]
        return json.dumps({"pictures": pictures})

    model, vision = FakeModel([missing(call("element", "Equation 1")), reply("x", "I0", "I1")]), FakeModel(seen)
    asked = Asked(corpus, model, vision, settings=RetrievalSettings(chunks=1), embedder=embedder)
    answer = await asked.answer("What is the ratio for QUOREF in Table 1?")
    assert [len(request.messages[-1].images) for request in vision.requests] == [2]
    assert [evidence.element for evidence in answer.evidence] == [f"{PAPER}/table-1", f"{PAPER}/equation-1"]
    assert answer.usage.calls == 3


class _Priced(FakeModel):
    """Each call costs 1."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = await super().complete(request)
        return replace(reply, usage=replace(reply.usage, cost=1.0))


@pytest.mark.parametrize(("max_cost", "text", "calls"), [(0, "Rare tags.", 2), (2.5, "Rare tags.", 2), (1.5, "", 1)])
async def test_further_calls_keep_to_the_budget_of_a_question(
    corpus: Corpus, embedder: Embedder, *, max_cost: float, text: str, calls: int
) -> None:
    model = _Priced([missing(call("reference", "[1]")), reply("Rare tags.", "S1")])
    # A call is expected to cost 1, too.
    accounted = AccountedModel(model, Accounting(prices=Prices(completion=1e6 / 300)))
    answering = AnswerSettings(max_cost=max_cost)
    assert isinstance(corpus, GraphIndex)
    engine = QueryEngine(corpus, corpus, embedder, accounted, settings=NARROW, answering=answering)
    answer = await engine.ask(AskRequest(question=QUESTION))
    assert (answer.merged, len(model.requests), answer.usage.cost) == (text, calls, calls)
    limited = [finding.message for finding in answer.findings if finding.kind == "note"]
    said = f"the budget of {max_cost:g} allows no further call"
    assert [said in message for message in limited] == [True] * (calls == 1)


async def test_a_question_whose_first_call_exceeds_its_budget_fails(corpus: Corpus, embedder: Embedder) -> None:
    assert isinstance(corpus, GraphIndex)
    model = AccountedModel(FakeModel([]), Accounting(prices=Prices(completion=1e6)))
    engine = QueryEngine(corpus, corpus, embedder, model, answering=AnswerSettings(max_cost=0.1))
    with pytest.raises(QuestionBudgetError):
        await engine.ask(AskRequest(question=QUESTION))


async def test_the_first_draft_is_streamed_and_replaced(corpus: Corpus, embedder: Embedder) -> None:
    model = FakeModel([missing(call("reference", "[1]")), reply("Rare tags. 2019.", "S1")])
    asked = Asked(corpus, model, embedder=embedder)
    stages: list[str] = []
    told: list[TextEvent] = []
    await asked.engine.ask(AskRequest(question=QUESTION), Progress(stages.append, told.append))
    anew = next(number for number, one in enumerate(told) if one.anew)
    assert "".join(one.text for one in told[:anew]) == "It is missing."
    assert "".join(one.text for one in told[anew:]) == "Rare tags. 2019."
    assert stages == ["retrieving", "answering", "looking up", "merging", "verifying"]


async def test_what_does_not_fit_a_request_is_left_out_and_named(corpus: Corpus, embedder: Embedder) -> None:
    model = FakeModel([missing(*(call("section", number) for number in ("1", "2", "3", "A"))), reply("x", "S1")])
    asked = Asked(corpus, model, settings=replace_tokens(NARROW, 500), embedder=embedder)
    asked.engine = QueryEngine(
        corpus,
        corpus,  # type: ignore[arg-type]
        embedder,
        model,
        settings=replace_tokens(NARROW, 500),
        count=lambda text: 10 * len(text.split()),
    )
    await asked.answer()
    assert "too long" in asked.prompt(1)


def replace_tokens(settings: RetrievalSettings, tokens: int) -> RetrievalSettings:
    return settings.model_copy(update={"tokens": tokens})
