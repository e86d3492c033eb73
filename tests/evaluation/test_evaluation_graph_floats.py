"""Which tables and figures count as linked: those whose node stands where the text names them."""

import numpy as np
import pytest

from evaluation.graph.floats import score_floats
from paperscope_core.types import (
    Box,
    Element,
    Entity,
    Extraction,
    Figure,
    IndexedPaper,
    Paper,
    Passage,
    Place,
    Relation,
    Table,
)

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
TABLE = Table(id="p/table-1", place=PLACE, order=9, cells=(), label="Table 2", caption="Results.", header_rows=0)
FIGURE = Figure(id="p/figure-1", place=PLACE, order=9, label="Figure A.1", caption="Curves.")


def linked(
    text: str, *floats: Element, sources: tuple[str, ...] = (), told: tuple[str, ...] = ()
) -> tuple[float, float]:
    """Right and total, for a graph in which each float stands on `sources`, and in a relation on `told`."""
    passages = (
        Passage(id="p/passage-1", place=PLACE, order=1, text=text),
        Passage(id="p/passage-2", place=PLACE, order=2, text="The weather is fine."),
    )
    paper = Paper(
        id="p", title="", authors=(), sha256="", file="", pages=(), sections=(), elements=(*passages, *floats)
    )
    entities = [
        Entity(id=one.id, name=one.id, type=one.kind, description="", sources=(one.id, *sources)) for one in floats
    ]
    loss = Entity(id="loss", name="loss", type="method", description="", sources=("p/passage-2",))
    relations = [
        Relation(source=entity.id, target="loss", kind="mentions", description="", sources=told) for entity in entities
    ]
    extraction = Extraction(entities=(*entities, loss), relations=tuple(relations) if told else ())
    indexed = IndexedPaper(paper=paper, chunks=(), extraction=extraction, vectors=np.zeros((0, 2), np.float32))
    tally = score_floats(indexed).tallies["floats.linked"]
    return tally.right, tally.total


@pytest.mark.parametrize(
    "text", ["See Table 2.", "See Tables 1 and 2.", "see Tab. 2(a)", "Table 1, 2 and 3 show", "Tables (1) & (2)"]
)
def test_a_table_is_linked_by_standing_on_the_passage_that_names_it(text: str) -> None:
    assert linked(text, TABLE, sources=("p/passage-1",)) == (1, 1)
    assert linked(text, TABLE, told=("p/passage-1",)) == (1, 1)
    assert linked(text, TABLE) == (0, 1)
    assert linked(text, TABLE, sources=("p/passage-2",)) == (0, 1)


@pytest.mark.parametrize(
    "text", ["See Table 20.", "See Figure 2.", "2 tables", "Table 2.1 and Section 2", "portable 2"]
)
def test_what_names_another_is_no_mention(text: str) -> None:
    assert linked(text, TABLE) == (0, 0)


def test_figures_with_letters_and_floats_without_captions() -> None:
    assert linked("as in Fig. A.1", FIGURE, sources=("p/passage-1",)) == (1, 1)
    bare = Figure(id="p/figure-2", place=PLACE, order=9, label="Figure 2")
    assert linked("as in Fig. 2", bare) == (0, 0)
