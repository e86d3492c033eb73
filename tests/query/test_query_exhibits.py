"""What an answer cites comes back as values: tables with their cells, crops, the LaTeX of equations."""

import json

from paperscope.codec import from_json, to_json
from paperscope.models.fakes import FakeModel
from paperscope.protocols import Corpus, Embedder, GraphIndex
from paperscope.types import Answer, Claim, Evidence, ImageFinding, Table
from query import QueryEngine
from query.exhibits import exhibits_of

PAPER = "aaaa00000001"


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
    answer = await QueryEngine(corpus, index, embedder, model).ask("How much is the F1 of Dice on WSJ in Table 2?")
    assert [cited.cell.text for shown in answer.exhibits for cited in shown.cells] == ["94.90", "95.43 (+0.53)"]
    assert [(check.number, check.finding) for check in answer.checks] == [
        ("95.43", "printed"),
        ("0.53", "printed"),
        ("94.90", "printed"),
    ]
    assert answer.warnings == ("1 images bear on the question, but no vision model is configured to read them",)
    assert from_json(Answer, to_json(answer)) == answer
