"""Row ids become places: a cell where the claim's number stands, a sentence, or nothing."""

import json
from dataclasses import replace

import pytest

from paperscope_core.codec import from_json, to_json
from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import (
    Answer,
    AskRequest,
    Box,
    Check,
    Claim,
    Context,
    ContextEntity,
    ContextSource,
    Evidence,
    Finding,
    ImageFinding,
    Passage,
    Place,
    PrintedLine,
    Table,
    model_words,
)
from query import QueryEngine
from query.evidence import EvidenceFinder, EvidenceNamer, exhibits_of
from query.retrieval.context_builder import table_excerpt
from tests.query.conftest import PAPER, TREE, MemoryLibrary, place


def source(number: int, corpus: Corpus, name: str) -> ContextSource:
    [chunk] = corpus.chunks_of([f"{PAPER}/{name}"])
    return ContextSource(id=number, content=chunk.text, element=chunk.elements[0], place=chunk.place)


@pytest.fixture
def finder(corpus: Corpus) -> EvidenceFinder:
    table = corpus.element(f"{PAPER}/table-2")
    figure = corpus.element(f"{PAPER}/figure-1")
    return EvidenceFinder(
        corpus=corpus,
        context=Context(
            entities=(
                ContextEntity(id=0, entity="Dice", type="method", description="A loss.", rank=1, places=(table.place,)),
                ContextEntity(id=1, entity="Nowhere", type="method", description="A loss.", rank=1),
            ),
            sources=(source(0, corpus, "table-2"), source(1, corpus, "passage-2")),
        ),
        findings={0: ImageFinding(element=figure.id, crop="c", place=figure.place, text="It falls.", relevant=True)},
    )


def test_a_table_is_narrowed_to_the_cells_with_the_claims_numbers(finder: EvidenceFinder) -> None:
    cells = finder.find("S0", claim="Dice gains 0.53 over Plain's 94.9 on WSJ")
    assert {evidence.quote for evidence in cells} == {"95.43 (+0.53)", "94.90"}
    assert len({evidence.place for evidence in cells}) == 2
    assert {evidence.element for evidence in cells} == {f"{PAPER}/table-2"}


def test_a_table_whose_cells_hold_no_number_of_the_claim_is_cited_whole(finder: EvidenceFinder, corpus: Corpus) -> None:
    [evidence] = finder.find("S0", claim="Dice is best")
    assert evidence.place == corpus.element(f"{PAPER}/table-2").place
    assert "Dice" in evidence.quote


def test_an_excerpt_of_a_table_leads_to_the_cells_of_the_whole(finder: EvidenceFinder, corpus: Corpus) -> None:
    whole = corpus.element(f"{PAPER}/table-2")
    assert isinstance(whole, Table)
    content = table_excerpt(whole, "What does Dice reach on CTB5?", tokens=1, count=len)
    excerpt = replace(finder.context.sources[0], content=content)
    reduced = replace(finder, context=replace(finder.context, sources=(excerpt,)))
    [cell] = reduced.find("S0", claim="Dice reaches 96.30 on CTB5")
    assert (cell.element, cell.quote) == (whole.id, "96.30")
    assert cell.place in {one.place for one in whole.cells}
    [quoted] = reduced.find("S0", claim="1 of 2 rows and 2 of 3 columns are shown")
    assert "shown" not in quoted.quote


def test_a_quotation_is_cited_by_its_own_lines() -> None:
    first, second = Box(50, 700, 300, 712), Box(50, 60, 300, 72)
    passage = Passage(
        id=f"{PAPER}/passage-1",
        place=Place(paper=PAPER, page=1, box=first),
        order=0,
        text="The fee is 0.75 dollars. It was raised to 0.90 dollars later.",
        more_places=(Place(paper=PAPER, page=2, box=second),),
        lines=(PrintedLine(0, 1, first), PrintedLine(39, 2, second)),
    )
    whole = ContextSource(id=0, content=passage.text, element=passage.id, place=passage.place)
    finder = EvidenceFinder(corpus=MemoryLibrary(replace(TREE, elements=(passage,))), context=Context(sources=(whole,)))
    [later] = finder.find("S0", claim="Later it was raised to 0.90")
    assert [place.page for place in later.places] == [1, 2]
    [paid] = finder.find("S0", claim="The fee is 0.75")
    assert [place.page for place in paid.places] == [1]


def test_a_passage_is_quoted_by_the_sentence_nearest_to_the_claim(finder: EvidenceFinder, corpus: Corpus) -> None:
    place = corpus.element(f"{PAPER}/passage-2").place
    assert finder.find("S1", claim="The weight needs no tuning") == (
        Evidence(element=f"{PAPER}/passage-2", place=place, quote="It needs no tuning."),
    )


def test_entities_and_findings_lead_to_elements(finder: EvidenceFinder) -> None:
    [entity] = finder.find("E0", claim="")
    assert (entity.element, entity.quote) == (f"{PAPER}/table-2", "A loss.")
    [finding] = finder.find("I0", claim="")
    assert (finding.element, finding.quote) == (f"{PAPER}/figure-1", "It falls.")


@pytest.mark.parametrize("row", ["[S1]", " S1 ", "S 1"])
def test_small_liberties_are_taken(finder: EvidenceFinder, row: str) -> None:
    assert finder.find(row, claim="tuning")


@pytest.mark.parametrize("row", ["S9", "E1", "I1", "R0", "X0", "S", "", "Sources 1", "S0 and S1", "../S0"])
def test_rows_that_lead_nowhere_are_no_evidence(finder: EvidenceFinder, row: str) -> None:
    assert finder.find(row, claim="tuning") == ()


def test_what_a_vision_model_saw_is_never_quoted_as_the_papers_words(corpus: Corpus) -> None:
    [chunk] = corpus.chunks_of([f"{PAPER}/figure-1"])
    seen = replace(chunk, seen="The zebra falls from 93 to 83.")
    words = model_words("The zebra falls from 93 to 83.")
    rows = (
        ContextEntity(id=0, entity="zebra", type="method", description=words, rank=1, places=(chunk.place,)),
        ContextEntity(
            id=1, entity="Figure 1", type="figure", description=f"Own.\n{words}", rank=1, places=(chunk.place,)
        ),
    )
    source = ContextSource(id=0, content=seen.shown, element=f"{PAPER}/figure-1", place=chunk.place)
    finder = EvidenceFinder(corpus=corpus, context=Context(entities=rows, sources=(source,)))
    [evidence] = finder.find("S0", claim="The zebra falls from 93 to 83.")
    assert evidence.element == f"{PAPER}/figure-1"
    assert evidence.quote
    assert evidence.quote in chunk.text
    assert [item.quote for row in ("E0", "E1") for item in finder.find(row, claim="zebra")] == ["", "Own."]


def cites(corpus: Corpus, name: str, *, quote: str = "") -> Evidence:
    element = corpus.element(f"{PAPER}/{name}")
    place = element.place
    if isinstance(element, Table) and quote:
        place = next(cell.place for cell in element.cells if cell.text == quote)
    return Evidence(element=element.id, place=place, quote=quote)


def test_cited_cells_bring_the_headers_of_their_row_and_column(corpus: Corpus) -> None:
    claim = Claim(text="", evidence=(cites(corpus, "table-2", quote="95.43 (+0.53)"), cites(corpus, "passage-1")))
    [table] = exhibits_of(corpus, [claim, claim], [])
    assert (table.kind, table.label, table.crops) == ("table", "Table 2", ("crop-table-2",))
    [cited] = table.cells
    assert (cited.row, cited.column, cited.cell.text) == ("Dice", "WSJ", "95.43 (+0.53)")


def test_a_cited_equation_brings_what_it_was_read_as(corpus: Corpus) -> None:
    [equation] = exhibits_of(corpus, [Claim(text="", evidence=(cites(corpus, "equation-1"),))], [])
    assert equation.latex == r"\alpha = \log\frac{n - n_t}{n_t} + K"
    assert equation.caption == "α = log((n − n_t)/n_t + K)"


def test_what_was_read_is_shown_after_what_is_cited(corpus: Corpus) -> None:
    figure = corpus.element(f"{PAPER}/figure-1")
    reading = ImageFinding(element=figure.id, crop="crop-figure-1", place=figure.place, text="a curve", relevant=False)
    claim = Claim(text="", evidence=(cites(corpus, "table-1"),))
    assert [one.element for one in exhibits_of(corpus, [claim], [reading, reading])] == [f"{PAPER}/table-1", figure.id]


async def test_an_answer_carries_its_exhibits_and_checks(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    text = "Dice has 95.43 on WSJ, 0.53 more than Plain (94.90)."
    claims = [{"text": text, "evidence": ["S0", "S1", "S2", "S3"]}]
    model = FakeModel([json.dumps({"status": "answered", "answer": text, "claims": claims})])
    answer = await QueryEngine(corpus, index, embedder, model).ask(
        AskRequest(question="How much is the F1 of Dice on WSJ in Table 2?")
    )
    assert [cited.cell.text for shown in answer.exhibits for cited in shown.cells] == ["94.90", "95.43 (+0.53)"]
    assert [(check.number, check.finding) for check in answer.checks] == [
        ("95.43", "printed"),
        ("0.53", "printed"),
        ("94.90", "printed"),
    ]
    message = "1 images bear on the question, but no vision model is configured to read them"
    assert answer.findings == (Finding(kind="vision", message=message),)
    assert from_json(Answer, to_json(answer)) == answer


TITLE = "Dice Losses for Imbalanced Tagging"


@pytest.mark.parametrize(
    ("element", "pages", "name"),
    [
        ("table-2", (2,), f"{TITLE}, Table 2, page 2"),
        ("table-2", (2, 3), f"{TITLE}, Table 2, pages 2, 3"),
        ("reference-1", (3,), f"{TITLE}, [1], page 3"),
        ("passage-1", (1,), f"{TITLE}, page 1"),
    ],
)
def test_evidence_is_named_by_paper_label_and_pages(element: str, pages: tuple[int, ...], name: str) -> None:
    first, *more = (place(page, 30.0) for page in pages)
    evidence = Evidence(element=f"{PAPER}/{element}", place=first, more_places=tuple(more))
    namer = EvidenceNamer(MemoryLibrary(TREE))
    [claim] = namer.claims([Claim(text="", evidence=(evidence,))])
    [check] = namer.checks([Check(number="1", finding="printed", support=(evidence,))])
    assert claim.evidence == check.support
    assert str(claim.evidence[0]) == name
    assert str(evidence).startswith(f"{PAPER}/{element}, page")


def test_a_passage_is_named_by_its_section() -> None:
    elements = tuple(replace(one, section=f"{PAPER}/section-4") for one in TREE.elements)
    namer = EvidenceNamer(MemoryLibrary(replace(TREE, elements=elements, title=f"{TITLE}: A Study")))
    evidence = Evidence(element=f"{PAPER}/passage-1", place=place(1, 30.0))
    [claim] = namer.claims([Claim(text="", evidence=(evidence,))])
    assert claim.evidence[0].name == f"{TITLE}, Section 3.1, page 1"


def test_papers_of_one_name_are_told_apart() -> None:
    other = replace(TREE, id="bbbb00000002", elements=(), links=())
    namer = EvidenceNamer(MemoryLibrary(TREE, other))
    [claim] = namer.claims([Claim(text="", evidence=(Evidence(element=f"{PAPER}/table-1", place=place(1, 0)),))])
    assert claim.evidence[0].name == f"{TITLE} [{PAPER}], Table 1, page 1"
