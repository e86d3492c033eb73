"""Works as entities: who cites what, with what, and how papers meet."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph_store.merged_graph import merge_entities
from ingest.extraction import LocalExtractor
from paperscope_core.types import (
    WORK,
    Box,
    Element,
    Entity,
    Extraction,
    Link,
    Paper,
    ParsedPaper,
    Passage,
    Place,
    Reference,
    Relation,
)

TITLE = "Dice Losses for Imbalanced Tagging"
DEVLIN = "Jacob Devlin and Ming Chang. 2018. Bert: Pre-training of deep transformers. arXiv preprint."
SENTENCE = "Our CRF starts from word pieces (Devlin and Chang, 2018)."


def element(kind: type[Passage] | type[Reference], id_: str, text: str, **options: str) -> Element:
    paper = id_.partition("/")[0]
    place = Place(paper=paper, page=1, box=Box(0, 0, 1, 1))
    return kind(id=id_, place=place, order=int(id_.rpartition("-")[2]), text=text, **options)  # type: ignore[arg-type]


def paper_of(id_: str, title: str, author: str, *references: tuple[str, str], text: str = SENTENCE) -> Paper:
    elements = (
        element(Passage, f"{id_}/passage-1", title, role="title"),
        element(Passage, f"{id_}/passage-2", "We study imbalanced data with a dice loss.", role="abstract"),
        element(
            Passage, f"{id_}/passage-3", "A conditional random field (CRF) helps. The dice loss helps imbalanced data."
        ),
        element(Passage, f"{id_}/passage-4", text),
        *(
            element(Reference, f"{id_}/reference-{number}", entry, label=label)
            for number, (label, entry) in enumerate(references, start=1)
        ),
    )
    links = tuple(
        Link(source=f"{id_}/passage-4", target=f"{id_}/reference-{number}", text=label)
        for number, (label, _) in enumerate(references, start=1)
        if label in text
    )
    return Paper(
        id=id_,
        title=title,
        authors=(author,),
        sha256="",
        file="",
        pages=(),
        sections=(),
        elements=elements,
        links=links,
    )


def drawn(paper: Paper) -> Extraction:
    return asyncio.run(LocalExtractor().extract(paper, []))


def works(extraction: Extraction) -> dict[str, Entity]:
    return {entity.name: entity for entity in extraction.entities if entity.type == WORK}


def relations(extraction: Extraction, kind: str) -> list[Relation]:
    return [relation for relation in extraction.relations if relation.kind == kind]


CITING = paper_of("a", TITLE, "Ada King", ("Devlin and Chang, 2018", DEVLIN))


def test_a_cited_work_is_named_by_its_title_and_stands_on_its_entry() -> None:
    extraction = drawn(CITING)
    bert = works(extraction)["Bert: Pre-training of deep transformers"]
    assert bert.sources == ("a/reference-1",)
    assert bert.aliases == ("Devlin and Chang, 2018",)
    assert works(extraction)[TITLE].sources == ("a/passage-1",)


def test_the_paper_cites_it_and_the_citing_sentence_is_the_evidence() -> None:
    extraction = drawn(CITING)
    [cites] = relations(extraction, "cites")
    found = works(extraction)
    assert (cites.source, cites.target) == (found[TITLE].id, found["Bert: Pre-training of deep transformers"].id)
    assert cites.description == SENTENCE
    assert cites.sources == ("a/passage-4", "a/reference-1")


def test_what_the_citing_sentence_names_is_cited_with_it() -> None:
    extraction = drawn(CITING)
    together = relations(extraction, "cited with")
    assert {relation.source for relation in together} == {"conditional random field", "word piece"}
    assert all(relation.sources == ("a/passage-4",) and relation.description == SENTENCE for relation in together)


def test_the_paper_names_what_its_abstract_names() -> None:
    extraction = drawn(CITING)
    own = works(extraction)[TITLE].id
    named = {relation.target for relation in relations(extraction, "mentions") if relation.source == own}
    assert "dice loss" in named


def test_a_number_is_no_name_and_an_entry_without_a_title_stays_the_papers_own() -> None:
    text = "Our CRF rests on [1] and [2]."
    paper = paper_of("a", TITLE, "Ada King", ("[1]", f"[1] {DEVLIN}"), ("[2]", "[2] Anonymous, 1999"), text=text)
    found = works(drawn(paper))
    assert found["Bert: Pre-training of deep transformers"].aliases == ()
    assert found["[2]"].id == "a/reference-2"


def test_papers_meet_in_the_work_that_both_cite_and_in_the_paper_that_one_cites() -> None:
    again = "Chang, M. (2018). BERT: Pre-\u00adtraining of deep transformers. Journal of Trees, 1(2)."
    entry = f"Ada King. 2019. {TITLE.lower()}. In Proceedings of Trees."
    other = paper_of("b", "Reading Trees by Night", "Bo Li", ("King, 2019", entry), ("Devlin and Chang, 2018", DEVLIN))
    merged = merge_entities([*drawn(CITING).entities, *drawn(other).entities])
    by_sources = {entity.sources for entity in merged.values() if entity.type == WORK}
    assert ("a/passage-1", "b/reference-1") in by_sources
    assert ("a/reference-1", "b/reference-2") in by_sources
    third = paper_of("c", "Reading Trees by Day", "Cy Wu", ("Chang, 2018", again))
    assert not {one.id for one in works(drawn(third)).values()} & {one.id for one in works(drawn(CITING)).values()}


def test_a_paper_that_cites_itself_has_one_node() -> None:
    entry = f"Ada King. 2019. {TITLE}. In Proceedings of Trees."
    paper = paper_of("a", TITLE, "Ada King", ("King, 2019", entry), ("Devlin and Chang, 2018", DEVLIN))
    assert sorted(works(drawn(paper))) == ["Bert: Pre-training of deep transformers", TITLE]


def test_two_entries_of_one_work_are_one_entity() -> None:
    paper = paper_of("a", TITLE, "Ada King", ("Devlin and Chang, 2018a", DEVLIN), ("Devlin and Chang, 2018b", DEVLIN))
    [bert] = [one for one in works(drawn(paper)).values() if one.name != TITLE]
    assert bert.sources == ("a/reference-1", "a/reference-2")


def test_text_without_spaces_makes_no_endless_id() -> None:
    title = " ".join("x" * 400 for _ in range(25))
    found = works(
        drawn(paper_of("a", TITLE, "Ada King", ("[1]", f"[1] Li, X. (2020). {title}. Venue."), text=SENTENCE))
    )
    assert found[title].id.startswith("paper li xxx")
    assert max(len(one.id) for one in found.values()) == 300


def test_a_paper_without_its_title_on_paper_has_no_works() -> None:
    assert works(drawn(replace(CITING, title=""))) == {}
    assert works(drawn(replace(CITING, title="Another title"))) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("citing", "cited"), [("2310.07609v1", "2023.acl-long.386")])
def test_real_papers_meet(shared: Path, parse_once: Callable[[Path], ParsedPaper], citing: str, cited: str) -> None:
    papers = [parse_once(shared / f"papers/mmlongbench/{name}.pdf").paper for name in (citing, cited)]
    one, other = (drawn(paper) for paper in papers)
    own = next(entity.id for entity in other.entities if entity.type == WORK and entity.name == papers[1].title)
    assert own in {entity.id for entity in one.entities}
    assert {relation.kind for relation in one.relations if relation.target == own} == {"cites", "cited with"}


def test_entries_of_one_longer_title_are_one_work_however_their_authors_are_read() -> None:
    other = "Ming Chang and Jacob Devlin. 2019. Bert: Pre-training of deep transformers. In NAACL."
    cited = works(drawn(paper_of("p", TITLE, "Ada Lovelace", ("1", DEVLIN), ("2", other))))
    assert cited["Bert: Pre-training of deep transformers"].sources == ("p/reference-1", "p/reference-2")
