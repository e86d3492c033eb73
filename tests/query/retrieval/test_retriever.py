"""The context holds what the question names, what answers it, and only images that bear on it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.settings import RetrievalSettings
from paperscope_core.types import WORK, Candidates, Context, Filters, Finding, Hit, RetrievalRequest, Table
from query import Retrieval, Retriever
from query.content_words import Rarity, content_words
from query.context import render_for_model
from query.outline import is_outline
from query.question.named_elements import References
from query.retrieval.candidates import best_first, fuse
from query.retrieval.image_selection import ImageCandidate, ImageSelector
from tests.query.conftest import ELEMENTS

PAPER = "aaaa00000001"


@pytest.fixture
def retriever(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> Retriever:
    return Retriever(corpus, index, embedder)


def sources(context: Context) -> list[str]:
    return [source.element.removeprefix(f"{PAPER}/") for source in context.sources]


def images(context: Context) -> list[str]:
    return [image.element.removeprefix(f"{PAPER}/") for image in context.images]


async def test_what_the_question_names_comes_first(retriever: Retriever) -> None:
    found = await retriever.retrieve("How long did training take on one machine according to Table 1?")
    assert found.named == (f"{PAPER}/table-1",)
    assert sources(found.context)[0] == "table-1"
    assert images(found.context) == ["table-1"]


SECTION = ("passage-3", "table-2", "figure-1")


async def test_a_section_or_page_that_the_question_names_is_given_whole_in_reading_order(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    retriever = Retriever(corpus, index, embedder, settings=RetrievalSettings(chunks=1, images=0))
    context = (await retriever.retrieve("What does Section 3.1 say of the F1 of the taggers?")).context
    assert sources(context)[:3] == list(SECTION)
    assert [is_outline(source) for source in context.sources[3:]] == [False, True]
    context = (await retriever.retrieve("How many treebanks are on page 3?")).context
    assert "reference-1" in sources(context)


async def test_what_does_not_fit_of_a_section_is_noted(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    settings = RetrievalSettings(tokens=800, images=0)
    retriever = Retriever(corpus, index, embedder, settings=settings, count=lambda text: 12 * len(text.split()))
    context = (await retriever.retrieve("What does Section 3.1 say?")).context
    [finding] = context.findings
    assert finding.kind == "note"
    assert "the first 2 of 3 parts" in finding.message
    shown = sources(context)
    assert shown.index("table-2") == shown.index("passage-3") + 1


@pytest.mark.parametrize(("tokens", "whole"), [(12_000, True), (500, False)])
async def test_a_paper_is_given_whole_where_it_fits(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, *, tokens: int, whole: bool
) -> None:
    settings = RetrievalSettings(chunks=1, images=0, tokens=tokens)
    count = (lambda text: 5 * len(text.split())) if not whole else (lambda text: len(text.split()))
    retriever = Retriever(corpus, index, embedder, settings=settings, count=count, whole_papers=True)
    context = (await retriever.retrieve("Which machine was it?")).context
    names = [element.id.removeprefix(f"{PAPER}/") for element in ELEMENTS]
    assert sources(context) == (names if whole else ["passage-4"])


async def test_a_reference_that_the_question_names_is_given_with_what_cites_it(retriever: Retriever) -> None:
    found = await retriever.retrieve("What is the title of [1]?")
    assert sources(found.context)[0] == "reference-1"


async def test_a_table_one_hop_away_is_found_through_the_passage_that_mentions_it(retriever: Retriever) -> None:
    found = await retriever.retrieve("On which treebanks does it help rare tags?")
    assert sources(found.context)[0] == "passage-3"
    assert "table-2" in sources(found.context)


async def test_without_the_graph_what_is_only_linked_is_not_found(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    question = "On which treebanks does it help rare tags?"
    retriever = Retriever(corpus, index, embedder, settings=RetrievalSettings(images=0), graph=False)
    assert "table-2" not in sources((await retriever.retrieve(question)).context)


async def test_where_a_relation_of_a_named_entity_is_stated_is_a_source(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = Candidates(by_words=(Hit(id=f"{PAPER}/chunk-4", score=0.5),), named=(Hit(id="dice", score=5.0),))
    monkeypatch.setattr(index, "retrieve", lambda _request: hits)
    for graph, expected in ((True, ["passage-4", "passage-3"]), (False, ["passage-4"])):
        settings = RetrievalSettings(chunks=2, images=0)
        retriever = Retriever(corpus, index, embedder, settings=settings, graph=graph)
        context = (await retriever.retrieve("Is dice of any use?")).context
        assert sources(context) == expected
        assert [row.description for row in context.relations] == ["Dice is used for QUOREF."]


async def test_the_source_of_a_chosen_image_is_always_among_the_sources(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    retriever = Retriever(corpus, index, embedder, settings=RetrievalSettings(chunks=2, images=1))
    context = (await retriever.retrieve("What ratio does the table of imbalance give for QUOREF?")).context
    assert images(context) == ["table-1"]
    assert "table-1" in sources(context)
    assert [is_outline(source) for source in context.sources] == [False, False, True]


async def test_a_formula_is_looked_at_only_for_a_question_on_formulas(retriever: Retriever) -> None:
    asked = await retriever.retrieve("How is the coefficient of a sample defined?")
    assert "equation-1" in images(asked.context)
    other = await retriever.retrieve("Which sample needs no tuning?")
    assert "equation-1" not in images(other.context)


async def test_an_irrelevant_image_is_not_worth_a_call(retriever: Retriever) -> None:
    context = (await retriever.retrieve("How many hours did training take?")).context
    assert sources(context)[0] == "passage-4"
    assert images(context) == []


async def test_entities_and_relations_come_with_their_places(retriever: Retriever, corpus: Corpus) -> None:
    context = (await retriever.retrieve("Is dice used for QUOREF?")).context
    assert [(row.entity, row.rank) for row in context.entities] == [("Dice", 1), ("QUOREF", 1)]
    assert context.entities[0].places == (corpus.element(f"{PAPER}/table-2").place,)
    [relation] = context.relations
    assert (relation.source, relation.target, relation.rank) == ("Dice", "QUOREF", 2)


async def test_a_rerankers_order_takes_the_place_of_words_and_vectors(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    question = "How does the dice loss help training?"
    plain = sources((await Retriever(corpus, index, embedder).retrieve(question)).context)
    last = plain[-1]
    [wanted] = corpus.chunks_of([f"{PAPER}/{last}"])

    class Favouring:
        async def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return [float(text == wanted.text) for text in texts]

    other = sources((await Retriever(corpus, index, embedder, reranker=Favouring()).retrieve(question)).context)
    assert other.index(last) < plain.index(last)


async def test_row_ids_count_from_0(retriever: Retriever) -> None:
    context = (await retriever.retrieve("Is dice used for QUOREF in Tables 1 and 2?")).context
    for rows in (context.entities, context.relations, context.sources, context.images):
        assert [row.id for row in rows] == list(range(len(rows)))


async def test_the_best_source_is_there_whatever_the_budget(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    retriever = Retriever(corpus, index, embedder, settings=RetrievalSettings.model_construct(tokens=1))
    [text] = (await retriever.retrieve("How many hours did training take?")).context.sources
    [chunk] = corpus.chunks_of([f"{PAPER}/passage-4"])
    assert text.content == chunk.text
    [table] = (await retriever.retrieve("What does Table 2 show for Dice on CTB5?")).context.sources
    assert table.content.splitlines() == [
        "Table 2: F1 of the taggers.",
        "Columns: Model | CTB5",
        "Dice | CTB5: 96.30",
        "… 1 of 2 rows, 2 of 3 columns shown",
    ]


async def test_the_budget_counts_what_a_model_gets_with_its_tokenizer(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    question = "Is dice used for QUOREF in Tables 1 and 2 on rare tags?"

    def words(text: str) -> int:
        return len(text.split())

    async def ask(tokens: int) -> Context:
        settings = RetrievalSettings.model_construct(tokens=tokens)
        return (await Retriever(corpus, index, embedder, settings=settings, count=words).retrieve(question)).context

    whole = await ask(10_000)
    for tokens in (40, 60, 80):
        context = await ask(tokens)
        # The head and the fences of the sources, which are not counted.
        assert words(render_for_model(context)) <= tokens + 4
        assert 0 < len(context.sources) < len(whole.sources)
    assert len((await ask(40)).sources) < len((await ask(80)).sources)


@pytest.mark.parametrize("question", ["Ratio of QUOREF?", "What ratio does 2020.dice-45.pdf give for QUOREF?"])
async def test_given_or_named_papers_restrict_the_search(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    requests: list[RetrievalRequest] = []

    def note(request: RetrievalRequest) -> Candidates:
        requests.append(request)
        return Candidates()

    monkeypatch.setattr(index, "retrieve", note)
    await Retriever(corpus, index, embedder).retrieve(
        question, filters=Filters(papers=() if "pdf" in question else (PAPER,))
    )
    assert [request.filters.papers for request in requests] == [(PAPER,)]


async def test_nothing_is_found_in_an_empty_library(empty_corpus: Corpus, embedder: Embedder) -> None:
    assert isinstance(empty_corpus, GraphIndex)
    found = await Retriever(empty_corpus, empty_corpus, embedder).retrieve("What does Table 1 show?")
    assert found == Retrieval(context=Context())


LONG = dict.fromkeys("abc", "word " * 100)


def test_words_rank_where_a_text_holds_what_is_asked_and_vectors_where_none_does() -> None:
    vectors = (Hit(id="c", score=0.6), Hit(id="b", score=0.5), Hit(id="a", score=0.4))
    telling = (Hit(id="a", score=0.5), Hit(id="b", score=0.1))
    assert best_first(fuse(Candidates(by_words=telling, by_vectors=vectors), LONG)) == ["a", "b", "c"]
    common = tuple(replace(hit, score=hit.score / 10) for hit in telling)
    assert best_first(fuse(Candidates(by_words=common, by_vectors=vectors), LONG)) == ["c", "b", "a"]


def test_a_text_in_one_list_only_has_the_least_of_the_other() -> None:
    scores = fuse(
        Candidates(
            by_words=(Hit(id="a", score=1.0), Hit(id="b", score=0.2)),
            by_vectors=(Hit(id="b", score=0.5), Hit(id="c", score=-0.5)),
        ),
        LONG,
    )
    assert scores == pytest.approx({"a": 0.7, "b": 0.14 + 0.15, "c": 0.0})
    assert fuse(Candidates(), {}) == {}


@pytest.mark.parametrize(("length", "words"), [(10, 0.5), (65, 0.6), (200, 0.7)])
def test_vectors_count_more_the_shorter_the_texts_are(length: int, words: float) -> None:
    found = Candidates(by_words=(Hit(id="a", score=1.0),), by_vectors=(Hit(id="b", score=1.0), Hit(id="a", score=0.0)))
    scores = fuse(found, dict.fromkeys("ab", "word " * length))
    assert scores == pytest.approx({"a": words, "b": 1 - words})


def test_rarity_weighs_telling_words_more() -> None:
    rarity = Rarity.of(["score of dice", "score of focal", "score of plain"])
    assert rarity.weight("dice") > rarity.weight("score") > 0
    assert rarity.coverage(content_words("dice score"), "dice") > 0.5
    assert rarity.coverage(content_words("dice score"), "dice scores") == 1.0
    assert rarity.coverage(frozenset(), "dice") == 0.0


def test_a_picture_without_a_crop_is_never_chosen(corpus: Corpus) -> None:
    table = corpus.element(f"{PAPER}/table-1")
    assert isinstance(table, Table)
    chooser = ImageSelector(question="Table 1?", rarity=Rarity.of([]), references=References(elements=(table.id,)))
    assert chooser.choose([ImageCandidate(picture=table)], limit=2) == [table]
    assert chooser.choose([ImageCandidate(picture=replace(table, crop=None))], limit=2) == []


def test_words_fold_case_plural_and_keep_compounds() -> None:
    assert content_words("What do the BERT+DSC models score on SST-5?") == {
        "bert+dsc",
        "bert",
        "dsc",
        "model",
        "score",
        "sst-5",
        "sst",
        "5",
    }
    assert content_words("studies, classes, analysis") == {"study", "class", "analysis"}


async def test_of_the_graph_only_what_the_papers_asked_about_state_is_read(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, tuple[str, ...]]] = []
    for name in ("entities", "relations_of", "degrees"):

        def noted(*given: object, _name: str = name, papers: tuple[str, ...] = (), **more: object) -> object:
            read.append((_name, papers))
            return getattr(type(corpus), _name)(corpus, *given, papers=papers, **more)

        monkeypatch.setattr(corpus, name, noted)
    for papers in ((), (PAPER,)):
        context = (
            await Retriever(corpus, index, embedder).retrieve("Is dice used?", filters=Filters(papers=tuple(papers)))
        ).context
        assert context.entities
        assert {name for name, _ in read} == {"entities", "relations_of", "degrees"}
        assert {papers for _, papers in read} == {(PAPER,)}


async def test_a_work_that_is_cited_stands_in_a_row_only_where_the_question_names_it(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice, quoref = corpus.entities(["dice", "quoref"]).values()
    both = {"dice": dice, "quoref": replace(quoref, type=WORK)}
    monkeypatch.setattr(corpus, "entities", lambda ids, **_: {key: both[key] for key in ids if key in both})

    async def rows(score: float) -> tuple[list[str], int]:
        hits = (Hit(id="dice", score=2.0), Hit(id="quoref", score=score))
        monkeypatch.setattr(index, "retrieve", lambda _request: Candidates(named=hits, reached=hits[1:]))
        context = (await Retriever(corpus, index, embedder).retrieve("Is dice used?")).context
        return [row.entity for row in context.entities], len(context.relations)

    assert await rows(0.5) == (["Dice"], 0)
    assert await rows(7.0) == (["Dice", "QUOREF"], 1)


@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        (Filters(sections=("3.1",)), {"passage-3", "table-2", "figure-1"}),
        (Filters(sections=("results",)), {"passage-3", "table-2", "figure-1"}),
        (Filters(sections=("Section 3",), kinds=("text", "figure")), {"passage-3", "figure-1"}),
        (Filters(sections=("Appendix A",)), {"passage-4"}),
        (Filters(kinds=("table",)), {"table-1", "table-2"}),
        (Filters(kinds=("equation", "reference")), {"equation-1", "reference-1"}),
    ],
)
async def test_filters_leave_only_what_they_allow(retriever: Retriever, filters: Filters, allowed: set[str]) -> None:
    question = (
        "Which tags, losses, tasks, curves and samples are in Table 1 and Table 2 for QUOREF and Dice on a machine?"
    )
    context = (await retriever.retrieve(question, filters=filters)).context
    assert sources(context)
    assert {*sources(context), *images(context)} <= allowed
    elements = {f"{PAPER}/{name}" for name in allowed}
    places = {one.place for one in ELEMENTS if one.id in elements}
    stated = [place for row in context.entities for place in row.places]
    stated += [place for row in context.relations for place in row.places]
    assert set(stated) <= places


async def test_a_year_chooses_papers_and_those_without_one_are_counted(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, question = corpus.entries()[0], "Ratio of QUOREF?"
    retriever = Retriever(corpus, index, embedder)

    async def ask(*years: int | None, filters: Filters) -> Retrieval:
        monkeypatch.setattr(corpus, "entries", lambda: [replace(entry, year=year) for year in years])
        return await retriever.retrieve(question, filters=filters)

    found = await ask(2020, filters=Filters(first_year=2019, last_year=2020))
    assert sources(found.context)
    assert found.context.findings == ()
    nothing = await ask(2021, None, filters=Filters(last_year=2020))
    messages = (
        "no paper of …–2020 is among those that were asked",
        "1 paper, whose year is not known, left out: only papers of …–2020 were asked",
    )
    findings = tuple(Finding(kind="year", subject="…–2020", message=message) for message in messages)
    assert nothing.context == Context(findings=findings)
