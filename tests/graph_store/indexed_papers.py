"""Small made-up papers, and the ways the tests look at a library."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Box,
    Cell,
    Chunk,
    DataPoint,
    Element,
    Entity,
    Equation,
    Extraction,
    Figure,
    ImageDescription,
    IndexedPaper,
    Link,
    Mention,
    Page,
    Paper,
    PaperImages,
    Passage,
    Place,
    Reference,
    Relation,
    Section,
    SeenEntity,
    Shortfall,
    SkippedImage,
    Table,
    UnjudgedNames,
    UnreadChunk,
    UnreadImage,
    Verdict,
    content_hash,
)

EMBEDDER = "fake-8"
DIMENSION = 8
METHODS = ("BERT+DSC", "BERT", "BERT+", "F1", "SST-5", "OntoNotes4.0", "Dice loss", "β-VAE", "C++", "focal loss")


# A short form, and long forms that papers may give for it.
SHORT, *LONG = ("LLM", "large language model", "large language-model", "large language model method", "low-level mode")


def unit_vector(seed: int, *, dimension: int = DIMENSION) -> NDArray[float32]:
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=float32)


def crop_of(paper: str) -> bytes:
    return f"PNG of {paper}".encode()


def make_indexed(
    paper: str = "aaaa00000001",
    *,
    names: Sequence[str] = METHODS[:4],
    defined: Collection[str] = (),
    texts: Sequence[str] | None = None,
    weights: Sequence[float] = (1.0,),
    note: str = "",
    title: str | None = None,
    file: str | None = None,
    dimension: int = DIMENSION,
) -> IndexedPaper:
    """A paper that speaks of `names`, with a chunk for each text and a chain of relations from name to name.

    `defined` are those of the names for which it gives the short form SHORT.
    """
    texts = [f"We train {name} and report {name} {note}." for name in names] if texts is None else texts
    place = Place(paper=paper, page=1, box=Box(10.0, 20.0, 30.5, 40.0))
    passages = [
        Passage(id=f"{paper}/passage-{n}", place=place, order=n, text=text) for n, text in enumerate(texts, start=1)
    ]
    elements: tuple[Element, ...] = (*passages, *_floats(paper, place))
    chunks = tuple(
        Chunk(id=f"{paper}/chunk-{n}", paper=paper, text=one.text, elements=(one.id,), section="1 One", place=place)
        for n, one in enumerate(passages, start=1)
    )
    seeds = [int.from_bytes(content_hash(f"{chunk.id}{chunk.text}".encode()).encode()[:4]) for chunk in chunks]
    vectors = [unit_vector(seed, dimension=dimension) for seed in seeds]
    return IndexedPaper(
        paper=Paper(
            id=paper,
            title=f"On paper {paper}" if title is None else title,
            authors=("A. Writer", "B. Ødegård"),
            sha256=content_hash(f"{paper}{note}".encode()),
            file=file or f"{paper}.pdf",
            pages=(Page(number=1, width=595.0, height=842.0),),
            sections=(Section(id="s1", number="1", title="One", level=1, path="1 One"),),
            elements=elements,
            links=(Link(source=elements[0].id, target=elements[-1].id, text="Table 1"),),
        ),
        chunks=chunks,
        extraction=_extraction(paper, names, elements, defined=defined, weights=weights, note=note),
        vectors=np.stack(vectors) if vectors else np.zeros((0, dimension), dtype=float32),
        images=_images(elements, place, note) if note else PaperImages(),
    )


def _images(elements: Sequence[Element], place: Place, note: str) -> PaperImages:
    """A reading of each kind."""
    ids = [element.id for element in elements[-4:]]
    description = ImageDescription(
        element=ids[0],
        crop="c",
        place=place,
        picture="plot",
        text=note,
        visible_text=("F1", "β"),
        entities=(SeenEntity(name="F1", type="metric", description=note),),
        points=(DataPoint(series="", x="1", y="2 %", estimated=True),),
        latex=r"\frac{a}{b}",
        dropped=3,
    )
    skipped = SkippedImage(element=ids[2], crop="d", place=place, reason="blank")
    unread = UnreadImage(element=ids[3], crop="e", place=place, reason="no connection")
    return PaperImages(reader="model prompt", readings=(description, skipped, unread))


def _floats(paper: str, place: Place) -> tuple[Element, ...]:
    crop = content_hash(crop_of(paper))
    cells = (
        Cell(row=0, column=0, text="Model", place=place, role="column_header"),
        Cell(row=1, column=0, text="4.5", place=place, bold=True),
    )
    return (
        Equation(id=f"{paper}/equation-1", place=place, order=90, text="a = b"),
        Reference(id=f"{paper}/reference-1", place=place, order=91, text="[1] Li et al.", year=2020),
        Figure(id=f"{paper}/figure-1", place=place, order=92, caption="A figure", crop=crop),
        Table(id=f"{paper}/table-1", place=place, order=93, cells=cells, caption="A table", caption_place=place),
    )


def _extraction(
    paper: str,
    names: Sequence[str],
    elements: Sequence[Element],
    *,
    defined: Collection[str],
    weights: Sequence[float],
    note: str,
) -> Extraction:
    sources = (elements[0].id, f"{paper}/table-1")
    entities = tuple(
        Entity(
            id=entity_key(name),
            name=name,
            type="method" if number % 2 else "metric",
            description=f"{name} is used {note}".strip(),
            sources=sources[: 1 + number % 2],
            aliases=(f"{name} variant", *((SHORT,) if name in defined else ())),
            mentions=(Mention(element=sources[0], start=number, end=number + len(name)),),
        )
        for number, name in enumerate(names)
    )
    relations = tuple(
        Relation(
            source=one.id,
            target=other.id,
            kind="compared_with",
            description=f"{one.name} against {other.name}",
            sources=sources,
            weight=weights[number % len(weights)],
        )
        for number, (one, other) in enumerate(pairwise(entities))
    )
    unjudged = (UnjudgedNames(names=("A", "C"), reason=note),)
    shortfall = (
        Shortfall(unread=(UnreadChunk(chunk=f"{paper}/chunk-1", reason=note),), unjudged=unjudged)
        if note
        else Shortfall()
    )
    verdicts = (Verdict(names=("A", "B"), same=False, reason=note),) if note else ()
    return Extraction(entities=entities, relations=relations, shortfall=shortfall, verdicts=verdicts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One change of a random history: add the paper, or remove it where `indexed` is None."""

    paper: str
    indexed: IndexedPaper | None


PAPER_IDS = tuple(f"{digit * 4}0000000{number}" for number, digit in enumerate("abcd", start=1))


@st.composite
def indexed_papers(draw: st.DrawFn, ids: st.SearchStrategy[str] | None = None) -> IndexedPaper:
    paper = draw(st.sampled_from(PAPER_IDS) if ids is None else ids)
    names = draw(st.lists(st.sampled_from((*METHODS, SHORT, *LONG)), unique_by=entity_key, max_size=6))
    defined = draw(st.sets(st.sampled_from(LONG), max_size=2))
    texts = draw(st.lists(st.text(max_size=30) | st.sampled_from(METHODS), min_size=1, max_size=4))
    weights = draw(st.lists(st.sampled_from((0.1, 0.2, 0.5, 1.0, 3.0)), min_size=1, max_size=3))
    note = draw(st.sampled_from(("", "here", "THERE", "in a longer note")))
    return make_indexed(paper, names=names, defined=defined, texts=texts, weights=weights, note=note)


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    steps = []
    for paper in draw(st.lists(st.sampled_from(PAPER_IDS), min_size=1, max_size=6)):
        removed = draw(st.booleans()) and draw(st.booleans())
        indexed = None if removed else draw(indexed_papers(ids=st.just(paper)))
        steps.append(Step(paper=paper, indexed=indexed))
    return steps


def add(store: Store, indexed: IndexedPaper, *, embedder: str = EMBEDDER, replaces: str | None = None) -> int:
    data = crop_of(indexed.paper.id)
    source = str(Path("/papers") / indexed.paper.file)
    crops = {content_hash(data): data}
    return store.add(indexed, crops=crops, source=source, embedder=embedder, replaces=replaces)


def play(store: Store, steps: Sequence[Step]) -> None:
    for step in steps:
        if step.indexed is not None:
            add(store, step.indexed)
        elif step.paper in {entry.id for entry in store.entries()}:
            store.remove(step.paper)


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """All that a library says of its papers and graph, comparable; revisions and their tokens are left out."""

    papers: Mapping[str, Paper]
    chunks: Mapping[str, tuple[Chunk, ...]]
    vectors: Mapping[str, bytes]
    extractions: Mapping[str, Extraction]
    images: Mapping[str, PaperImages]
    entities: Mapping[str, Entity]
    nodes: Mapping[str, Mapping[str, Sequence[str]]]
    relations: tuple[Relation, ...]
    degrees: Mapping[str, int]


def nodes_of(store: Store, indexed: IndexedPaper) -> Mapping[str, Sequence[str]]:
    own = [entity.id for entity in indexed.extraction.entities]
    return store.library_ids(own, papers=[indexed.paper.id])


def view(store: Store) -> View:
    papers = {paper.id: paper for paper in store.papers()}
    indexed = {paper: store.indexed(paper) for paper in papers}
    nodes = {paper: nodes_of(store, one) for paper, one in indexed.items()}
    ids = sorted({node for mapped in nodes.values() for found in mapped.values() for node in found})
    return View(
        papers=papers,
        chunks={paper: one.chunks for paper, one in indexed.items()},
        vectors={paper: one.vectors.tobytes() for paper, one in indexed.items()},
        extractions={paper: one.extraction for paper, one in indexed.items()},
        images={paper: store.images(paper) for paper in papers},
        entities=store.entities(ids),
        nodes=nodes,
        relations=tuple(store.relations_of(ids, limit=1000)),
        degrees=dict(store.degrees(ids)),
    )
