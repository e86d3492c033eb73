"""Papers without pages from the documents of a LightRAG working directory."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph_store.lightrag.working_dir import Document, Item, WorkingDir
from paperscope_core.text.words import singular_key
from paperscope_core.types import (
    Box,
    Chunk,
    Entity,
    Extraction,
    Page,
    Paper,
    Passage,
    Place,
    Relation,
    content_hash,
)

__all__ = ["ImportPlan", "ImportedPaper", "plan_import"]

_NO_FILE = {"", "unknown_source", "no-file-path"}
_ID_LENGTH = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedPaper:
    """A document as a paper, still without vectors; `source` names the document."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportPlan:
    """The papers to add, and how many things of each sort have no place in them."""

    papers: tuple[ImportedPaper, ...]
    entities: int
    relations: int
    left_out: Mapping[str, int]


def plan_import(found: WorkingDir) -> ImportPlan:
    """Make papers of documents. A chunk becomes a passage and a chunk; entities and relations keep their chunks.

    An entity or relation is stated by every document that has one of its chunks; its weight is divided among them.
    """
    left_out: Counter[str] = Counter()
    papers = {one.paper.id: one for one in map(_paper_of, found.documents, [found] * len(found.documents))}
    left_out["documents with the text of another one"] = len(found.documents) - len(papers)
    left_out["documents that LightRAG has not finished"] = len(found.unfinished)
    homes = {key: home for one, document in _with_documents(papers, found) for key, home in _homes(one, document)}
    entities: dict[str, dict[str, Entity]] = defaultdict(dict)
    for item in found.entities:
        places = _places(item, homes)
        left_out["entities whose chunks are missing"] += not places
        for paper, sources in places.items():
            entity = _entity(item, sources)
            known = entities[paper].get(entity.id)
            left_out["names that mean an entity already named"] += known is not None
            entities[paper][entity.id] = entity if known is None else _merged(known, entity)
    relations: dict[str, list[Relation]] = defaultdict(list)
    for item in found.relations:
        places = _places(item, homes)
        source, target = (_key(end) for end in item.ends)
        stated = {
            paper: sources
            for paper, sources in places.items()
            if source != target and source in entities[paper] and target in entities[paper]
        }
        left_out["relations whose chunks or entities are missing"] += not stated
        for paper, sources in stated.items():
            relations[paper].append(_relation(item, sources, weight=item.weight / len(stated)))
    return ImportPlan(
        papers=tuple(
            replace(
                one,
                extraction=Extraction(entities=tuple(entities[paper].values()), relations=_distinct(relations[paper])),
            )
            for paper, one in papers.items()
        ),
        entities=len({key for own in entities.values() for key in own}),
        relations=len({tuple(sorted((one.source, one.target))) for own in relations.values() for one in own}),
        left_out={what: count for what, count in left_out.items() if count},
    )


def _paper_of(document: Document, found: WorkingDir) -> ImportedPaper:
    sha256 = content_hash("\n".join(document.chunks.values()).encode())
    paper = sha256[:_ID_LENGTH]
    passages: list[Passage] = []
    first = 1
    for order, text in enumerate(document.chunks.values(), start=1):
        last = first + text.count("\n")
        place = Place(paper=paper, page=1, box=Box(0.0, float(first), 0.0, float(last)))
        passages.append(Passage(id=f"{paper}/passage-{order}", place=place, order=order, text=text))
        first = last + 1
    file = document.id if document.file in _NO_FILE else document.file.rpartition("/")[2]
    return ImportedPaper(
        paper=Paper(
            id=paper,
            title=file,
            authors=(),
            sha256=sha256,
            file=file,
            pages=(Page(number=1, width=0.0, height=0.0),),
            sections=(),
            elements=tuple(passages),
            format="text",
        ),
        chunks=tuple(
            Chunk(
                id=f"{paper}/chunk-{one.order}",
                paper=paper,
                text=one.text,
                elements=(one.id,),
                section="",
                place=one.place,
            )
            for one in passages
        ),
        extraction=Extraction(entities=(), relations=()),
        source=str(found.folder.resolve() / document.id),
    )


def _with_documents(papers: Mapping[str, ImportedPaper], found: WorkingDir) -> Iterator[tuple[ImportedPaper, Document]]:
    sources = {one.source: one for one in papers.values()}
    for document in found.documents:
        one = sources.get(str(found.folder.resolve() / document.id))
        if one is not None:
            yield one, document


def _homes(paper: ImportedPaper, document: Document) -> Iterator[tuple[str, tuple[str, str]]]:
    """The paper and the element of each of LightRAG's chunks."""
    for key, element in zip(document.chunks, paper.paper.elements, strict=True):
        yield key, (paper.paper.id, element.id)


def _places(item: Item, homes: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The elements that state an item, by paper."""
    found: dict[str, list[str]] = defaultdict(list)
    for chunk in item.chunks:
        if chunk in homes:
            paper, element = homes[chunk]
            found[paper].append(element)
    return {paper: tuple(dict.fromkeys(elements)) for paper, elements in found.items()}


def _key(name: str) -> str:
    return singular_key(name) or name


def _entity(item: Item, sources: Sequence[str]) -> Entity:
    name = item.ends[0]
    return Entity(
        id=_key(name), name=name, type=item.kind.lower(), description=item.description, sources=tuple(sources)
    )


def _merged(one: Entity, other: Entity) -> Entity:
    return replace(
        one,
        aliases=tuple(dict.fromkeys((*one.aliases, other.name))),
        sources=tuple(dict.fromkeys((*one.sources, *other.sources))),
    )


def _relation(item: Item, sources: Sequence[str], *, weight: float) -> Relation:
    source, target = (_key(end) for end in item.ends)
    return Relation(
        source=source,
        target=target,
        kind=item.kind,
        description=item.description,
        sources=tuple(sources),
        weight=max(weight, 0.0),
    )


def _distinct(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """One relation for each pair of entities and kind; names that mean one entity may repeat it."""
    return tuple({(one.source, one.target, one.kind): one for one in relations}.values())
