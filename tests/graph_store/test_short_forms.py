"""Short forms that one paper uses and others define: one entity where all agree, one a paper where they don't."""

import dataclasses
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from graph_store import NativeGraphIndex, Store
from graph_store.short_forms import ShortForm, agreed_entity, short_forms_of
from paperscope_core.types import (
    STANDS_FOR,
    WORK,
    Entity,
    Extraction,
    Filters,
    IndexedPaper,
    Relation,
    RetrievalRequest,
)
from tests.graph_store.indexed_papers import LONG, PAPER_IDS, SHORT, add, make_indexed, unit_vector, view

ONE, TWO, THREE, FOUR = PAPER_IDS
MEANT, OTHER = LONG[0], "low level mode"


def defining(paper: str, long: str = MEANT) -> IndexedPaper:
    return make_indexed(paper, names=("BERT", long), defined=[long])


def using(paper: str) -> IndexedPaper:
    return make_indexed(paper, names=(SHORT, "F1"))


def library(folder: Path, *papers: IndexedPaper) -> Store:
    store = Store.open(folder)
    for indexed in papers:
        add(store, indexed)
    return store


@pytest.fixture
def store(stored: Store) -> Store:
    return stored


def test_a_short_form_joins_what_the_papers_that_define_it_mean(store: Store) -> None:
    for indexed in (using(THREE), defining(ONE), make_indexed(TWO, names=(MEANT, "F1"))):
        add(store, indexed)
    assert store.library_ids(["llm", "f1"]) == {"llm": [MEANT], "f1": ("f1",)}
    entity = store.entities(["llm"])["llm"]
    assert entity == store.entities([MEANT])[MEANT]
    assert (entity.id, entity.name) == (MEANT, MEANT)
    assert SHORT in entity.aliases
    assert {source.partition("/")[0] for source in entity.sources} == {ONE, TWO, THREE}
    [ranked, *_] = store.relations_of([MEANT], limit=5)
    assert (ranked.source, ranked.target, ranked.weight) == (MEANT, "f1", 2.0)
    assert store.degrees(["llm", MEANT]) == {"llm": 2, MEANT: 2}
    assert store.homes([THREE]) == {THREE: {"llm": MEANT}}
    assert [(edge.source, edge.target) for edge in store.edges([THREE])[THREE]] == [("llm", "f1")]


def test_a_question_finds_the_one_entity(store: Store) -> None:
    add(store, defining(ONE))
    add(store, using(THREE))
    index = NativeGraphIndex.open(store)
    for papers in ((), (ONE,), (THREE,)):
        found = index.retrieve(
            RetrievalRequest(text="Which LLM?", vector=unit_vector(1), filters=Filters(papers=papers))
        )
        assert found.named[0].id == MEANT
        assert [hit.id for hit in found.named].count(MEANT) == 1
    assert {hit.id for hit in index.retrieve(RetrievalRequest(text="LLM", vector=unit_vector(1))).reached} == {
        "f1",
        "bert",
    }
    index.close()


def test_where_papers_disagree_each_keeps_its_own(store: Store) -> None:
    for indexed in (defining(ONE), defining(TWO, LONG[-1]), using(THREE), using(FOUR)):
        add(store, indexed)
    apart = [f"{THREE}/llm", f"{FOUR}/llm"]
    assert store.library_ids(["llm"]) == {"llm": sorted(apart)}
    assert store.library_ids(["llm"], papers=[FOUR]) == {"llm": [apart[1]]}
    assert store.entities(["llm"]) == {}
    for paper, node in zip((THREE, FOUR), apart, strict=True):
        assert store.entities([node])[node].sources == (f"{paper}/passage-1",)
        assert [(one.source, one.target) for one in store.relations_of([node], limit=5)] == [(node, "f1")]
        assert store.degrees([node]) == {node: 1}
    assert store.degrees(["llm"]) == {}
    index = NativeGraphIndex.open(store)
    assert index.named("LLM", papers=[THREE])[0].id == apart[0]
    index.close()
    store.remove(TWO)
    assert store.library_ids(["llm"]) == {"llm": [MEANT]}


@pytest.mark.parametrize("long", LONG[1:3])
def test_a_longer_long_form_does_not_contradict(store: Store, long: str) -> None:
    for indexed in (defining(TWO, long), defining(ONE), using(THREE)):
        add(store, indexed)
    assert len(store.library_ids(["llm"])["llm"]) == 1


@pytest.mark.slow
def test_every_order_of_adding_and_removing_gives_the_same(tmp_path: Path) -> None:
    papers = {one.paper.id: one for one in (defining(ONE), defining(TWO, LONG[-1]), using(THREE))}
    for number, order in enumerate(permutations(papers)):
        with closing(library(tmp_path / str(number), *map(papers.get, order))) as store:  # type: ignore[arg-type]
            for gone in order[:2]:
                store.remove(gone)
            with closing(library(tmp_path / f"{number}-alone", papers[order[2]])) as alone:
                assert view(store) == view(alone)


def test_a_common_word_is_no_short_form(store: Store) -> None:
    add(store, defining(ONE))
    add(store, make_indexed(TWO, names=("llm", "F1")))
    assert store.library_ids(["llm"]) == {"llm": ("llm",)}
    add(store, using(THREE))
    assert store.library_ids(["llm"]) == {"llm": [MEANT, "llm"]}


def test_a_short_form_of_two_letters_needs_two_papers(store: Store) -> None:
    def two_letters(paper: str) -> IndexedPaper:
        one = make_indexed(paper, names=("language model", "F1"))
        entity, *rest = one.extraction.entities
        entities = (dataclasses.replace(entity, aliases=("LM",)), *rest)
        return dataclasses.replace(one, extraction=dataclasses.replace(one.extraction, entities=entities))

    for indexed in (two_letters(ONE), make_indexed(TWO, names=("LM", "F1"))):
        add(store, indexed)
    assert store.library_ids(["lm"]) == {"lm": ("lm",)}
    add(store, two_letters(THREE))
    assert store.library_ids(["lm"]) == {"lm": ["language model"]}


def entity(name: str, *aliases: str, id_: str = "", type_: str = "method") -> Entity:
    return Entity(id=id_ or name.casefold(), name=name, type=type_, description="", sources=(), aliases=aliases)


def test_what_counts_as_a_definition() -> None:
    entities = (
        entity("convolutional network", "CNs", "CN layers"),
        entity("general pretrained model", "GPT"),  # its initials don't spell it
        entity("CNN"),
        entity("condensed nearest neighbour"),
        entity("GAN", "Generative adversarial networks"),
        entity("LLMs", id_="llm"),
        entity("Gan"),
        entity("BERT", id_="work/bert", type_=WORK),
    )
    relation = Relation(source="cnn", target="condensed nearest neighbour", kind=STANDS_FOR, description="", sources=())
    assert short_forms_of(Extraction(entities=entities, relations=(relation,))) == [
        ShortForm(entity="cnn", short="CNN"),
        ShortForm(entity="condensed nearest neighbour", short="CNN", sense="condensed nearest neighbour"),
        ShortForm(entity="convolutional network", short="CN", sense="convolutional network"),
        ShortForm(entity="gan", short="GAN"),
        ShortForm(entity="generative adversarial network", short="GAN", sense="generative adversarial network"),
        ShortForm(entity="llm", short="LLM"),
    ]


@pytest.mark.parametrize(
    ("senses", "home"),
    [
        ({"recurrent neural network": 9, "recursive neural network": 1}, None),
        ({"convolutional neural network": 2, "convolution neural network": 1, "convolutional neutral network": 1}, 0),
        ({"cross entropy objective": 1, "cross entropy": 2}, 1),
        ({"out of vocab": 1, "out of vocabulary": 7}, 1),
        ({"maximum spaning tree": 1, "maximum spanning tree": 1}, 0),
        ({"average precision": 3, "averaged perceptron": 3}, None),
    ],
)
def test_slips_are_no_other_meaning(senses: dict[str, int], home: int | None) -> None:
    expected = None if home is None else list(senses)[home]
    assert agreed_entity({(sense, sense): papers for sense, papers in senses.items()}) == expected
    assert agreed_entity({(sense, sense): senses[sense] for sense in reversed(senses)}) == expected
