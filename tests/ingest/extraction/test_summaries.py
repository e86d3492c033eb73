"""What a paper says much of is summed up by a model, marked as its words; what it says little of is not."""

import json
import re

import pytest

from ingest.extraction import extractor_for
from ingest.extraction.pipeline import ResolvingExtractor
from paperscope_core.errors import ModelUnavailableError
from paperscope_core.models import FakeModel
from paperscope_core.types import (
    Box,
    Entity,
    Extraction,
    ModelRequest,
    Paper,
    Passage,
    Place,
    UnsummarisedEntity,
    model_words,
)
from tests.ingest.extraction.test_synonyms import Drawing, term

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
MUCH, LITTLE = term("focal loss", "FL", said="The focal loss is a loss."), term("sentence encoder")


def paper_of(*texts: str) -> Paper:
    passages = tuple(
        Passage(id=f"p/passage-{n}", place=PLACE, order=n, text=text, role="paragraph")
        for n, text in enumerate(texts, start=1)
    )
    return Paper(id="p", title="", authors=(), sha256="", file="p.pdf", pages=(), sections=(), elements=passages)


SENTENCES = [f"In experiment number {n} the {'focal loss' if n % 2 else 'FL'} reaches {n} points." for n in range(40)]
PAPER = paper_of(" ".join(SENTENCES), "A sentence encoder is used, too.")


def summing_up(summary: str) -> FakeModel:
    def reply(request: ModelRequest) -> str:
        terms = re.findall(r"^(T\d+) \{", request.messages[1].text, re.MULTILINE)
        return json.dumps({"terms": [{"term": name, "summary": summary} for name in terms]})

    return FakeModel(reply)


async def extract(model: FakeModel | None, *entities: Entity, paper: Paper = PAPER) -> Extraction:
    return await ResolvingExtractor(Drawing(*entities).extract, model).extract(paper, ())


async def test_much_is_summed_up_behind_the_papers_own_words() -> None:
    model = summing_up(" It reaches\n 39 points. ")
    extraction = await extract(model, MUCH, LITTLE)
    much, little = extraction.entities
    assert much.description == f"{MUCH.description}\n{model_words('It reaches 39 points.')}"
    assert (much.sources, much.aliases, little) == (MUCH.sources, MUCH.aliases, LITTLE)
    [asked] = model.requests
    [shown] = re.findall(r"^T1 (.*)$", asked.messages[1].text, re.MULTILINE)
    sentences = json.loads(shown)["sentences"]
    assert sentences == SENTENCES[: len(sentences)]
    assert 1200 < sum(map(len, sentences)) <= 2400


async def test_little_and_no_model_mean_no_call() -> None:
    assert await extract(None, MUCH) == Drawing(MUCH).drawn
    model = summing_up("Never.")
    assert await extract(model, MUCH, paper=paper_of(" ".join(SENTENCES[:9]))) == Drawing(MUCH).drawn
    assert model.requests == []


@pytest.mark.parametrize(
    "model",
    [
        summing_up(""),
        summing_up("x" * 801),
        FakeModel(lambda _: '{"terms": []}'),
        FakeModel(lambda _: "no JSON"),
        FakeModel([ModelUnavailableError("down")]),
    ],
)
async def test_a_bad_reply_is_counted_and_changes_nothing(model: FakeModel) -> None:
    extraction = await extract(model, MUCH, LITTLE)
    assert extraction.entities == (MUCH, LITTLE)
    [lacking] = extraction.shortfall.unsummarised
    assert isinstance(lacking, UnsummarisedEntity)
    assert (lacking.entity, bool(lacking.reason)) == (MUCH.name, True)
    assert extraction.shortfall.can_shrink


async def test_terms_share_calls() -> None:
    entities = [term(f"method number{'abcdefghijklmnopqrstuvwxyz'[n]}") for n in range(26)]
    texts = [f"We run {one.name} {n} times and then once more." for one in entities for n in range(40)]
    model = summing_up("It is run.")
    extraction = await ResolvingExtractor(Drawing(*entities).extract, model).extract(paper_of(" ".join(texts)), ())
    asked = [request for request in model.requests if request.schema_name == "summaries"]
    assert (len(asked), sum("It is run." in one.description for one in extraction.entities)) == (2, 24)


async def test_the_extractor_with_a_model_sums_up() -> None:
    model = summing_up("It weighs examples.")
    extraction = await extractor_for(model).extract(paper_of("We train with the focal loss (FL).", *SENTENCES), ())
    [entity] = [one for one in extraction.entities if one.id == "focal loss"]
    assert entity.description.endswith(model_words("It weighs examples."))
    assert extraction.shortfall.unsummarised == ()
