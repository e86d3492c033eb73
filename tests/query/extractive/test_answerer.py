"""The embedded answerer as a whole: table or text, choices, formulas, and when it abstains."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from ingest.chunking import chunk_paper
from ingest.pdf import PdfParser
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import (
    Box,
    Cell,
    Chunk,
    Context,
    ContextSource,
    Element,
    Entity,
    Equation,
    Figure,
    Paper,
    PaperEntry,
    PaperFile,
    PaperImages,
    Passage,
    Place,
    Reference,
    Relation,
    Table,
)
from query.engine import QueryEngine
from query.evidence import Draft
from query.extractive import EmbeddedAnswerer

PAPER = "cccc00000001"


def place(page: int, top: float = 0.0) -> Place:
    return Place(paper=PAPER, page=page, box=Box(50.0, top, 300.0, top + 10.0))


def passage(number: int, text: str, *, page: int = 1, section: str = "") -> Passage:
    return Passage(id=f"{PAPER}/passage-{number}", place=place(page), order=number, text=text, section=section)


ROWS = (("System", "News", "Web"), ("LSTM-A", "90.1", "80.2"), ("LSTM-B", "91.4", "79.9"))
TABLE = Table(
    id=f"{PAPER}/table-1",
    place=place(2),
    order=50,
    cells=tuple(
        Cell(
            row=row,
            column=column,
            text=text,
            place=place(2, 10.0 * row + column),
            role="column_header" if row == 0 else "value" if column else "row_header",
        )
        for row, texts in enumerate(ROWS)
        for column, text in enumerate(texts)
    ),
    label="Table 1",
    caption="Accuracy of the taggers.",
    header_rows=1,
    confidence=0.4,
)
ELEMENTS: tuple[Element, ...] = (
    passage(1, "Tagging is a hard problem. We collect NewsBank, a Finnish corpus of radio news with 12 labels."),
    passage(2, "The English corpus WebBank was crawled. Annotators were paid by the hour.", page=2),
    passage(3, "The smoothing weight of a sample is given by:", section="3 Smoothing"),
    Equation(id=f"{PAPER}/equation-1", place=place(1, 90.0), order=4, text="w = 1 / (1 + n)", label="Equation 1"),
    passage(5, "Training diverges because the gradient of rare labels vanishes. We use a batch size of 32."),
    TABLE,
    Figure(
        id=f"{PAPER}/figure-1",
        place=place(3),
        order=60,
        label="Figure 1",
        caption="Learning curves of LSTM-A.",
        text="epoch",
    ),
    Reference(
        id=f"{PAPER}/reference-1", place=place(4), order=70, text="J. Doe. 2019. Taggers that smooth. In Proc. ACL."
    ),
)


class Shelf:
    """A corpus of one paper."""

    def __init__(self, paper: Paper, chunks: tuple[Chunk, ...]) -> None:
        self._paper = paper
        self._elements = {element.id: element for element in paper.elements}
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def entries(self) -> list[PaperEntry]:
        return []

    def paper(self, paper: str) -> Paper:
        return {self._paper.id: self._paper}[paper]

    def element(self, element: str) -> Element:
        return self._elements[element]

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        return {key: self._elements[key] for key in ids}

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        return {key: self._chunks[key] for key in ids}

    def images(self, paper: str) -> PaperImages:
        return PaperImages()

    def chunks_of(self, elements: object) -> list[Chunk]:
        wanted = set(elements) if isinstance(elements, list | tuple) else set()
        return [chunk for chunk in self._chunks.values() if wanted & set(chunk.elements)]

    def entities(self, ids: object, *, papers: object = ()) -> dict[str, Entity]:
        return {}

    def relations_of(self, entities: object, *, papers: object = (), limit: int) -> list[Relation]:
        return []

    def degrees(self, entities: object, *, papers: object = ()) -> dict[str, int]:
        return {}

    def crop(self, crop: str) -> bytes:
        raise KeyError(crop)


def shelf() -> Shelf:
    paper = Paper(
        id=PAPER,
        title="Smoothed Tagging",
        authors=(),
        sha256="",
        file="tag.pdf",
        pages=(),
        sections=(),
        elements=ELEMENTS,
    )
    chunks = tuple(
        Chunk(
            id=f"{PAPER}/chunk-{number}", paper=PAPER, text="", elements=(element.id,), section="", place=element.place
        )
        for number, element in enumerate(ELEMENTS)
    )
    return Shelf(paper, chunks)


def context(*elements: Element) -> Context:
    return Context(
        sources=tuple(
            ContextSource(id=number, content="", element=element.id, place=element.place)
            for number, element in enumerate(elements)
        )
    )


async def ask(question: str, *, named: tuple[str, ...] = ()) -> Draft:
    corpus: Corpus = shelf()
    return await EmbeddedAnswerer(corpus, FakeEmbedder()).answer(question, context(*ELEMENTS), named=named)


async def test_a_cell_is_looked_up_and_a_doubtful_grid_is_told() -> None:
    draft = await ask("What is the Web accuracy of LSTM-A?")
    assert draft.text == "In Table 1, LSTM-A has 80.2 under Web."
    assert draft.claims[0].evidence[0].place == place(2, 12.0)
    assert "low confidence" in draft.warnings[0]


async def test_only_the_named_table_is_read() -> None:
    draft = await ask("Which system has the highest value on News in Table 1?", named=(TABLE.id,))
    assert draft.text.startswith("LSTM-B has the highest value under News in Table 1: 91.4")


async def test_a_sentence_is_quoted_with_its_page_and_passage() -> None:
    draft = await ask("Why does training diverge?")
    assert draft.status == "answered"
    assert draft.text == "“Training diverges because the gradient of rare labels vanishes.” (page 1)"
    evidence = draft.claims[0].evidence[0]
    assert (evidence.element, evidence.quote) == (
        f"{PAPER}/passage-5",
        "Training diverges because the gradient of rare labels vanishes.",
    )


async def test_a_choice_is_made_by_what_stands_beside_the_name() -> None:
    assert (await ask("Is the NewsBank corpus Finnish or English?")).text.startswith("Finnish: “")
    assert (await ask("Is the WebBank corpus Finnish or English?")).text.startswith("English: “")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Were the annotators paid by the hour?", "Yes: “Annotators were paid by the hour.” (page 2)"),
        ("Were the annotators not paid by the hour?", "No: “Annotators were paid by the hour.” (page 2)"),
    ],
)
async def test_yes_and_no_come_with_the_sentence_that_settles_it(question: str, answer: str) -> None:
    assert (await ask(question)).text == answer


async def test_a_question_that_no_sentence_settles_is_left_open() -> None:
    assert (await ask("Were the annotators trained before the crawl?")).status == "unanswerable"


async def test_a_property_that_no_sentence_states_is_left_open() -> None:
    assert (await ask("What learning rate was used for WebBank?")).status == "unanswerable"


async def test_what_a_picture_shows_is_left_to_a_vision_model() -> None:
    draft = await ask("What is the color of the highest bar in Figure 1?")
    assert draft.status == "unanswerable"
    assert "What a picture shows is not read without a vision model." in draft.text


async def test_a_formula_comes_with_the_equation_behind_its_sentence() -> None:
    draft = await ask("How is the smoothing weight calculated?")
    assert "w = 1 / (1 + n)" in draft.text
    assert [evidence.element for evidence in draft.claims[0].evidence] == [f"{PAPER}/passage-3", f"{PAPER}/equation-1"]


async def test_references_answer_questions_about_publications_only() -> None:
    draft = await ask("In which year was 'Taggers that smooth' by Doe published?")
    assert "2019" in draft.text
    assert draft.claims[0].evidence[0].element == f"{PAPER}/reference-1"


@pytest.mark.parametrize(
    "question",
    [
        "What is the Web accuracy of GPT-9?",
        "What is the Web accuracy of LSTM-C2?",
        "Which optimiser and weight decay schedule were chosen?",
        "How many green bars appear in the picture?",
    ],
)
async def test_it_abstains_where_the_paper_does_not_say(question: str) -> None:
    draft = await ask(question)
    assert draft.status == "unanswerable"
    assert draft.claims == ()
    assert draft.text.startswith("The papers do not say.")


async def test_an_unknown_name_is_quoted_back() -> None:
    assert "Nothing in them mentions 9X." in (await ask("What is the Web accuracy of LSTM-9X?")).text


async def test_it_tells_how_much_of_the_question_its_evidence_accounts_for() -> None:
    whole, part = await ask("What is the Web accuracy of LSTM-A?"), await ask("Why does training on news diverge?")
    assert whole.confidence is not None
    assert part.confidence is not None
    assert 0 < part.confidence < whole.confidence <= 1
    assert (await ask("What is the Web accuracy of GPT-9?")).confidence is None


async def test_without_sources_it_abstains() -> None:
    draft = await EmbeddedAnswerer(shelf(), FakeEmbedder()).answer("What is the Web accuracy of LSTM-A?", Context())
    assert draft.status == "unanswerable"


async def test_it_is_deterministic() -> None:
    first, second = [await ask("By how much does LSTM-B exceed LSTM-A on News?") for _ in range(2)]
    assert first == second
    assert "91.4 − 90.1 = 1.3" in first.text


def parsed(file: Path) -> Shelf:
    paper = PdfParser(dpi=36).parse(PaperFile(file)).paper
    return Shelf(paper, chunk_paper(paper))


def first_source(corpus: Shelf, paper: Paper) -> Context:
    return context(next(element for element in paper.elements if element.kind == "passage"))


async def correct_share(file: Path, records: list[dict[str, str]], embedder: Embedder) -> float:
    corpus = parsed(file)
    paper = corpus._paper
    answerer = EmbeddedAnswerer(corpus, embedder)
    right = 0
    for record in records:
        question = f"What is the {record['col']} of {record['row']}?"
        draft = await answerer.answer(question, first_source(corpus, paper))
        quotes = [evidence.quote.replace("−", "-") for claim in draft.claims for evidence in claim.evidence]
        right += len(quotes) == 1 and quotes[0].split("(")[0].split("±")[0].strip() == record["answer"]
    return right / len(records)


def records_of(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
async def test_cells_of_the_reference_paper(shared: Path) -> None:
    folder = shared / "papers" / "acl-2020-45"
    records = records_of(folder / "cells.jsonl")[::3]
    assert await correct_share(folder / "paper.pdf", records, FakeEmbedder()) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1706.03762", "2305.03393"])
async def test_cells_of_papers_with_latex_sources(shared: Path, name: str) -> None:
    records = [
        {**record, "row": " / ".join(dict.fromkeys(record["row"].split(" / ")))}
        for record in records_of(shared / "eval" / "tablecells_latex.jsonl")
        if record["doc"] == name
    ]
    assert await correct_share(shared / "papers" / "latexgold" / f"{name}.pdf", records, FakeEmbedder()) >= 0.8


def test_an_engine_keeps_its_answerer_for_the_next_question() -> None:
    index = cast("GraphIndex", None)  # no question is asked
    engine = QueryEngine(shelf(), index, FakeEmbedder())
    assert engine._answerer() is engine._answerer()


def test_the_words_of_a_paper_are_counted_once_and_those_of_a_few_papers_remembered() -> None:
    answerer = EmbeddedAnswerer(shelf(), FakeEmbedder())
    papers = [replace(shelf()._paper, id=f"cccc000000{number:02}") for number in range(99)]
    first = answerer._vocabulary_of(papers[0])
    assert answerer._vocabulary_of(papers[0]) is first
    for paper in papers:
        answerer._vocabulary_of(paper)
    assert len(answerer._vocabularies) < len(papers)
    assert answerer._vocabulary_of(papers[0]) is not first
