"""Pictures one hop from what was found may be worth a look; what is said of them elsewhere helps to choose."""

from dataclasses import replace

import pytest

from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import Candidates, Figure, Hit, Paper
from query import Retriever
from query.content_words import Rarity
from query.question.named_elements import References
from query.retrieval.candidates import CandidatePool
from query.retrieval.image_selection import ImageCandidate, ImageSelector, image_candidates

PAPER = "aaaa00000001"


def found(corpus: Corpus, *chunks: str) -> CandidatePool:
    """A pool of these elements' chunks."""
    wanted = corpus.chunks_of([f"{PAPER}/{element}" for element in chunks])
    return CandidatePool(corpus, Candidates(by_words=tuple(Hit(id=chunk.id, score=0.5) for chunk in wanted)))


def named(candidates: list[ImageCandidate]) -> dict[str, float]:
    return {one.picture.id.removeprefix(f"{PAPER}/"): one.nearness for one in candidates}


def test_a_picture_is_as_near_as_the_text_it_is_in_and_less_near_one_hop_on(corpus: Corpus, paper: Paper) -> None:
    candidates = image_candidates(corpus, found(corpus, "passage-3", "table-1"), [paper], [])
    assert named(candidates) == {"table-1": 1.0, "table-2": pytest.approx(0.4)}


def test_the_pictures_that_an_entity_is_seen_in_are_candidates(corpus: Corpus, paper: Paper) -> None:
    pool = found(corpus, "passage-4")
    sources = [f"{PAPER}/figure-1", f"{PAPER}/passage-1"]
    assert named(image_candidates(corpus, pool, [paper], [sources])) == {"figure-1": 0.0}
    everywhere = [f"{PAPER}/figure-{number}" for number in range(1, 12)]
    assert named(image_candidates(corpus, pool, [paper], [everywhere])) == {}


def test_only_the_sentences_that_refer_to_a_picture_are_said_of_it(corpus: Corpus, paper: Paper) -> None:
    [candidate] = image_candidates(corpus, found(corpus, "passage-3"), [paper], [])
    assert candidate.said.split("\n")[-1] == "All scores on the two treebanks are in Table 2."


def test_what_is_said_of_a_picture_helps_to_choose_it(corpus: Corpus) -> None:
    figure = corpus.element(f"{PAPER}/figure-1")
    assert isinstance(figure, Figure)
    one, other = (replace(figure, id=f"{PAPER}/figure-{number}") for number in (1, 2))
    chooser = ImageSelector(
        question="Which figure shows where overfitting begins?", rarity=Rarity.of([]), references=References()
    )
    said = ImageCandidate(picture=other, nearness=0.5, said="Figure 2 shows that overfitting begins late.")
    assert chooser.choose([ImageCandidate(picture=one, nearness=0.5), said], limit=2) == [other]


async def test_a_figure_that_no_found_chunk_holds_is_looked_at(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    [chunk] = corpus.chunks_of([f"{PAPER}/passage-4"])
    only = Candidates(by_words=(Hit(id=chunk.id, score=0.5),), named=(Hit(id="dice", score=5.0),))
    monkeypatch.setattr(index, "retrieve", lambda _request: only)
    dice = replace(corpus.entities(["dice"])["dice"], sources=(f"{PAPER}/figure-1",))
    monkeypatch.setattr(corpus, "entities", lambda ids, **_: {"dice": dice} if "dice" in ids else {})
    context = (await Retriever(corpus, index, embedder).retrieve("Which curves does the figure of dice show?")).context
    assert [image.element for image in context.images] == [f"{PAPER}/figure-1"]
    assert f"{PAPER}/figure-1" in {source.element for source in context.sources}
