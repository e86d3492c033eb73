"""The context's CSV: the owner's headings and columns, and equal values back, whatever the fields hold."""

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.types import (
    Box,
    Context,
    ContextEntity,
    ContextImage,
    ContextRelation,
    ContextSource,
    Place,
    model_words,
)
from query import compact, render_context, render_for_model
from tests.context_parsing import parse_context

NASTY = st.sampled_from(
    [
        "```",
        "```csv",
        "-----Sources-----",
        "\r",
        "\n",
        "\r\n",
        '"',
        ",",
        "; ",
        "a,b\n1,2\n",
        "id,content",
        "\0",
        "'",
        "",
    ]
)
TEXTS = st.lists(st.one_of(NASTY, st.text(max_size=8)), max_size=5).map("".join)
COUNTS = st.integers(0, 10_000)
TENTHS = st.integers(-100, 20_000).map(lambda value: value / 10)
PLACES = st.builds(
    Place,
    paper=st.text("0123456789abcdef", min_size=1, max_size=12),
    page=st.integers(1, 999),
    box=st.builds(Box, TENTHS, TENTHS, TENTHS, TENTHS),
)
MANY_PLACES = st.lists(PLACES, max_size=3).map(tuple)
WEIGHTS = st.floats(allow_nan=False)
CONTEXTS = st.builds(
    Context,
    entities=st.lists(
        st.builds(
            ContextEntity, id=COUNTS, entity=TEXTS, type=TEXTS, description=TEXTS, rank=COUNTS, places=MANY_PLACES
        ),
        max_size=3,
    ).map(tuple),
    relations=st.lists(
        st.builds(
            ContextRelation,
            id=COUNTS,
            source=TEXTS,
            target=TEXTS,
            description=TEXTS,
            weight=WEIGHTS,
            rank=COUNTS,
            places=MANY_PLACES,
        ),
        max_size=3,
    ).map(tuple),
    sources=st.lists(
        st.builds(
            ContextSource,
            id=COUNTS,
            content=TEXTS,
            element=TEXTS,
            place=PLACES,
            more_places=MANY_PLACES,
            paper=TEXTS,
            section=TEXTS,
            label=TEXTS,
        ),
        max_size=3,
    ).map(tuple),
    images=st.lists(
        st.builds(ContextImage, id=COUNTS, element=TEXTS, label=TEXTS, caption=TEXTS, crop=TEXTS, place=PLACES),
        max_size=3,
    ).map(tuple),
)
SOMEWHERE = Place(paper="abc", page=1, box=Box(1.0, 2.0, 3.0, 4.5))


def source(content: str) -> Context:
    row = ContextSource(
        id=0,
        content=content,
        element="abc/table-1",
        place=SOMEWHERE,
        paper="Dice (2020)",
        section="4 Results > 4.2 KLUE",
        label="Table 3",
    )
    return Context(sources=(row,))


@given(CONTEXTS)
def test_any_context_comes_back_equal_from_rows_as_long_as_their_header(context: Context) -> None:
    text = render_context(context)
    assert parse_context(text) == context
    columns = data = 0
    for row in csv.reader(io.StringIO(text, newline=""), strict=True):
        if row[0] == "id":
            columns = len(row)
        elif len(row) > 1:
            data += 1
            assert len(row) == columns
    assert data == sum(map(len, (context.entities, context.relations, context.sources, context.images)))


def test_the_sections_are_headed_as_the_owner_asked() -> None:
    text = render_context(source("a"))
    assert re.findall("-----.*\n```csv\n.*", text) == [
        "-----Entities-----\n```csv\nid,entity,type,description,rank,place",
        "-----Relationships-----\n```csv\nid,source,target,description,weight,rank,place",
        "-----Sources-----\n```csv\nid,content,element,place,paper,section,label,page",
        "-----Images-----\n```csv\nid,element,label,caption,crop,place",
    ]
    place = '"abc p.1 [1.0 2.0 3.0 4.5]","Dice (2020)","4 Results > 4.2 KLUE","Table 3","page 1"'
    assert f'\n0,"a","abc/table-1",{place}\n```\n' in text


def test_a_field_longer_than_the_csv_modules_limit_survives() -> None:
    context = source("x, " * 100_000)
    assert parse_context(render_context(context)) == context


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-----Sources-----", "-----Quellen-----", "Quellen"),
        ("id,content,element,place", "id,content", "expected 'id,content,element,place,paper,section,label,page'"),
        ('0,"a",', '0,"a","b",', "9 columns in Sources"),
        ('"a"', '"a"b', "CSV is damaged"),
        ("[1.0 2.0 3.0 4.5]", "[1.0 2.0]", "not a place"),
    ],
)
def test_a_damaged_text_is_an_error_that_quotes_the_damage(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_context(render_context(source("a")).replace(old, new))


def test_text_that_is_cut_short_or_goes_on_is_an_error() -> None:
    text = render_context(source("a"))
    with pytest.raises(ValueError, match="has no end"):
        parse_context(text.removesuffix("```\n"))
    with pytest.raises(ValueError, match="follows its last section"):
        parse_context(text + "more\n")


def test_a_model_reads_no_coordinates_no_ids_of_elements_no_images_and_no_empty_section() -> None:
    place = Place(paper="abc", page=7, box=Box(1.0, 2.0, 3.0, 4.5))
    image = ContextImage(id=0, element="abc/figure-1", label="Figure 1", caption="c", crop="d", place=place)
    row = ContextEntity(id=0, entity="e", type="t", description="d", rank=2, places=(place,))
    context = Context(entities=(row,), sources=(replace(source("a").sources[0], place=place),), images=(image,))
    assert render_for_model(context) == (
        '-----Entities-----\n```csv\nid,entity,type,description,rank\n0,"e","t","d",2\n```\n'
        "-----Sources-----\n```csv\nid,content,paper,section,label,page\n"
        '0,"a","Dice (2020)","4 Results > 4.2 KLUE","Table 3","page 7"\n```\n'
    )


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


def test_a_model_reads_no_entity_and_no_relation_that_the_sources_say_in_full() -> None:
    sources = (ContextSource(id=0, content=PROSE, element="abc/passage-1", place=HERE),)
    said = "A verifier decides whether the context suffices."
    entities = (entity(said), entity(f"{said} It was trained on 4,096 labelled questions.", number=1))
    relations = (relation(said), relation(f"Verifier (new). {said}", number=1), relation("uses", number=2))
    text = render_for_model(Context(entities=entities, relations=relations, sources=sources))
    assert '0,"verifier"' not in text
    assert '1,"verifier","method","It was trained on 4,096 labelled questions. see S0",3' in text
    assert text.partition("-----Sources-----")[0].endswith('2,"a","b","uses",1.0,3\n```\n')
    assert '0,"a"' not in text
    assert '1,"a"' not in text


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
