"""What was seen in pictures as part of the graph and of the chunks, never as the paper's own words."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ingest.captioning import add_to_chunks, add_to_graph
from ingest.chunking import chunk_paper
from paperscope_core.types import (
    DataPoint,
    Entity,
    Extraction,
    ImageDescription,
    PaperImages,
    Relation,
    SeenEntity,
    model_words,
    paper_words,
)
from tests.ingest.captioning.illustrated_papers import equation, figure, paper_of, passage, place, png

PICTURE = png()


def entity(name: str, kind: str, *, key: str = "", aliases: tuple[str, ...] = ()) -> Entity:
    return Entity(
        id=key or name.casefold(), name=name, type=kind, description=name, sources=("p/passage-1",), aliases=aliases
    )


PAPER = paper_of(passage(1, "Dice loss (DL) wins."), figure(1, PICTURE), equation(2, PICTURE, text="D = garbled"))
OWN = Extraction(
    entities=(
        entity("Figure 1", "figure", key="p/figure-1"),
        entity("Equation 2", "equation", key="p/equation-2"),
        entity("dice loss", "method", aliases=("DL",)),
        entity("area under curve", "metric", aliases=("AUC",)),
        entity("arabic university", "concept", aliases=("AUC",)),
    ),
    relations=(),
)


def seen(name: str, kind: str = "metric", what: str = "The higher bar.") -> SeenEntity:
    return SeenEntity(name=name, type=kind, description=what)


def description(element: str = "p/figure-1", *entities: SeenEntity, latex: str = "") -> ImageDescription:
    return ImageDescription(
        element=element,
        crop="",
        place=place(),
        picture="plot",
        text="Bars of two losses.",
        visible_text=("F1 (%)", "Dice loss"),
        entities=entities,
        points=(
            DataPoint(series="dev", x="DL", y="90", estimated=True),
            DataPoint(series="", x="CE", y="80", estimated=False),
        ),
        latex=latex,
    )


def images(*descriptions: ImageDescription) -> PaperImages:
    return PaperImages(reader="fake", readings=descriptions)


def graph(*descriptions: ImageDescription, own: Extraction = OWN) -> tuple[dict[str, Entity], tuple[Relation, ...]]:
    extraction = add_to_graph(PAPER, own, images(*descriptions))
    return {one.id: one for one in extraction.entities}, extraction.relations


def test_the_papers_own_entity_stays_as_it_is_and_the_picture_depicts_it() -> None:
    for name in ("Dice Loss", "DL", "dice losses"):
        entities, (relation,) = graph(description("p/figure-1", seen(name)))
        assert entities["dice loss"] == next(one for one in OWN.entities if one.id == "dice loss")
        assert (relation.source, relation.target, relation.kind) == ("p/figure-1", "dice loss", "depicts")
        assert relation.sources == ("p/figure-1",)
        assert paper_words(relation.description) == ""
        assert "seen in Figure 1: The higher bar." in relation.description


def test_a_name_that_only_the_picture_has_is_an_entity_that_says_so() -> None:
    entities, relations = graph(
        description("p/figure-1", seen("focal loss", "method")), description("p/equation-2", seen("Focal Loss", "task"))
    )
    fresh = entities["focal loss"]
    assert (fresh.name, fresh.type) == ("focal loss", "task")
    assert fresh.sources == ("p/equation-2", "p/figure-1")
    assert paper_words(fresh.description) == ""
    assert ["seen in " + name in fresh.description for name in ("Figure 1", "Equation 2")] == [True, True]
    assert sorted(relation.source for relation in relations) == ["p/equation-2", "p/figure-1"]


def test_passages_that_hold_a_telling_name_are_sources_of_what_was_seen_and_its_first_sentence_is_quoted() -> None:
    paper = paper_of(passage(1, "We train KLUE-NER models. They are exact."), figure(1, PICTURE))
    found = description("p/figure-1", seen("KLUE-NER", "dataset"), seen("exact"), seen("focal loss"))
    own = Extraction(entities=OWN.entities[:1], relations=())
    extraction = add_to_graph(paper, own, images(found))
    entities = {one.id: one for one in extraction.entities}
    assert entities["klue ner"].sources == ("p/figure-1", "p/passage-1")
    assert paper_words(entities["klue ner"].description) == "We train KLUE-NER models."
    assert [entities[name].sources for name in ("exact", "focal loss")] == [("p/figure-1",)] * 2
    assert [paper_words(entities[name].description) for name in ("exact", "focal loss")] == ["", ""]


def test_an_ambiguous_name_joins_neither_of_its_meanings() -> None:
    entities, (relation,) = graph(description("p/figure-1", seen("AUC")))
    assert relation.target == "auc"
    assert {"area under curve", "arabic university"} <= entities.keys()


def test_the_pictures_entity_has_its_description_beside_its_own_words_and_latex_replaces_nothing() -> None:
    entities, _ = graph(description("p/equation-2", latex=r"D = \frac{a}{b}"))
    described = entities["p/equation-2"].description
    assert paper_words(described) == "Equation 2"
    assert r"LaTeX: D = \frac{a}{b}" in described


def test_a_picture_without_a_name_gets_one_once_it_is_described() -> None:
    own = replace(OWN, entities=OWN.entities[2:])
    entities, (relation,) = graph(description("p/figure-1", seen("DL")), own=own)
    assert (entities["p/figure-1"].name, entities["p/figure-1"].sources) == ("figure on page 1", ("p/figure-1",))
    assert relation.source == "p/figure-1"


def test_nothing_seen_changes_nothing() -> None:
    entities, relations = graph()
    assert (sorted(entities.values(), key=lambda one: one.id), relations) == (
        sorted(OWN.entities, key=lambda one: one.id),
        (),
    )


def test_a_chunk_is_searched_by_what_was_seen_and_keeps_its_own_text() -> None:
    chunks = chunk_paper(PAPER)
    described = add_to_chunks(chunks, images(description()))
    assert [chunk.text for chunk in described] == [chunk.text for chunk in chunks]
    assert [chunk.elements for chunk in described if chunk.seen] == [("p/figure-1",)]
    (chunk,) = (chunk for chunk in described if chunk.seen)
    assert chunk.searched.splitlines() == [
        "Figure 1: F1 of Dice loss.",
        "Bars of two losses.",
        "Printed in it: F1 (%)",
        "Read off: dev, DL: about 90; CE: 80",
    ]
    assert chunk.shown == f"{chunk.text}\n{model_words(chunk.seen)}"
    assert paper_words(chunk.shown) == chunk.text


def test_a_figure_without_words_has_a_chunk_once_it_is_described() -> None:
    paper = paper_of(passage(1, "Text."), replace(figure(1, PICTURE), label="", caption=""))
    assert len(chunk_paper(paper)) == 1
    chunks = add_to_chunks(chunk_paper(paper, pictured={"p/figure-1"}), images(description()))
    assert [(chunk.id, chunk.text, bool(chunk.seen)) for chunk in chunks] == [
        ("p/chunk-1", "Text.", False),
        ("p/chunk-2", "", True),
    ]
    assert chunks[1].searched.startswith("Bars of two losses.")
    assert paper_words(chunks[1].shown) == ""


@given(st.text(), st.text(), st.text())
def test_no_words_of_a_model_pass_for_the_papers(before: str, said: str, after: str) -> None:
    mixed = paper_words(f"{before}\n{model_words(said + 'ZZZ')}{after}")
    assert "ZZZ" not in mixed or "ZZZ" in before + after
