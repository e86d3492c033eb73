"""A text that several rows of a context have is written once."""

import pytest

from paperscope_core.types import Box, Context, ContextEntity, ContextRelation, ContextSource, Place, model_words
from query import compact

HERE, ELSEWHERE = (Place(paper="abc", page=page, box=Box(1.0, 2.0, 3.0, 4.5)) for page in (1, 2))
PROSE = "Figure 2 shows the five modules. A verifier decides whether the context suffices."
TABLE = "Table 6: Results of reading.\nPlain | WSJ F1: 94.90 | CTB5 F1: 94.10\nDice | WSJ F1: 95.43 | CTB5 F1: 96.30"
OTHER = "It is fast and rather small."
FACT = "Dice, WSJ: F1 95.43 (Table 6)"


def entity(description: str, *, number: int = 0, place: Place = ELSEWHERE) -> ContextEntity:
    return ContextEntity(id=number, entity="verifier", type="method", description=description, rank=3, places=(place,))


def relation(description: str, *, number: int = 0, place: Place = ELSEWHERE) -> ContextRelation:
    return ContextRelation(
        id=number, source="a", target="b", description=description, weight=1.0, rank=3, places=(place,)
    )


def short(source: str, description: str, *, place: Place = ELSEWHERE) -> ContextRelation:
    sources = (ContextSource(id=4, content=source, element="abc/table-6", place=HERE),)
    [row] = compact(Context(sources=sources, relations=(relation(description, place=place),))).relations
    return row


@pytest.mark.parametrize(
    ("description", "left"),
    [
        ("A verifier decides whether the context suffices.", "see S4"),
        ("a verifier  decides whether the context", "see S4"),
        ("It is fast and rather small. A verifier decides whether the context suffices.", f"{OTHER} see S4"),
        ("A verifier decides whether the context suff…", "see S4"),
        ("A verifier decides whether the context never suffices.",) * 2,
        ("the five modules",) * 2,
        ("", ""),
    ],
)
def test_a_sentence_of_a_source_is_referred_to(description: str, left: str) -> None:
    assert short(PROSE, description).description == left


def test_a_fact_of_a_table_is_referred_to_where_the_table_is_shown_as_a_whole() -> None:
    assert short(TABLE, FACT, place=HERE).description == "see S4"
    assert short(TABLE, FACT.replace("95.43", "95.44"), place=HERE).description != "see S4"
    assert short(TABLE, FACT, place=ELSEWHERE).description == FACT
    assert short(f"{TABLE}\n… 2 of 9 rows, 3 of 3 columns shown", FACT, place=HERE).description == FACT


def test_the_places_of_a_row_are_those_of_its_source_if_it_refers_to_it() -> None:
    assert short(TABLE, FACT, place=HERE).places == ()
    assert short(TABLE, "Dice never gains on any treebank.", place=HERE).places == (HERE,)


def test_the_words_of_a_model_are_one_text() -> None:
    seen = "Three bars rise to the right.\nLaTeX: a = b"
    source = f"Figure 1: Curves.\n{model_words(seen + chr(10) + 'Printed in it: epoch')}"
    assert short(source, f"Figure 1: Curves.\n{model_words(seen)}").description == "Figure 1: Curves. see S4"
    other = model_words("Three bars rise to the left.")
    assert short(source, other).description == other


def test_rows_refer_to_earlier_rows() -> None:
    text = "It answers questions about papers with care."
    found = compact(
        Context(entities=(entity(text), entity(text, number=1)), relations=(relation(text), relation("b", number=1)))
    )
    assert [row.description for row in found.entities] == [text, "see E0"]
    assert [row.description for row in found.relations] == ["see E0", "b"]
    assert found.entities[1].places == (ELSEWHERE,)
