"""The knowledge graph: an entity's neighbourhood, and a paper's most connected entities."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from paperscope.library import Neighbourhood
from service.http.auth import ComputingLibraryOf
from service.http.parameters import PAPER_PATTERN
from service.http.responses import document_example, file_response, json_response
from service.http.views import ConnectedEntities, ConnectedEntity, EntityMatches

__all__ = ["router"]

router = APIRouter(prefix="/v1/graph", tags=["graph"])

_GRAPHML = "application/graphml+xml"
_PaperId = Annotated[str, Query(pattern=PAPER_PATTERN)]


@router.get(
    "",
    summary="Show an entity's neighbourhood",
    response_model=Neighbourhood,
    responses=document_example("neighbourhood", alternative=_GRAPHML),
)
def show_neighbourhood(
    library: ComputingLibraryOf,
    *,
    entity: Annotated[
        str, Query(min_length=1, max_length=300, description="Its name, an alias or its id.", examples=["Entity F1"])
    ],
    steps: Annotated[int, Query(ge=1, le=4, description="How many relations away from it.")] = 1,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many relations.")] = 40,
    paper: Annotated[
        tuple[_PaperId, ...], Query(max_length=100, description="Ids of papers that must mention the entity.")
    ] = (),
    form: Annotated[
        Literal["json", "graphml"], Query(alias="format", description="GraphML opens in Gephi, Cytoscape, yEd.")
    ] = "json",
) -> Response:
    """Return an entity, the relations within some steps of it in order of weight, and all entities that they
    connect."""
    papers = [library.entry(one).id for one in paper]
    found = library.neighbourhood(entity, papers=papers, steps=steps, limit=limit)
    if form == "json":
        return json_response(found)
    return file_response(found.to_graphml(), name="graph.graphml", media_type=_GRAPHML)


@router.get(
    "/entities",
    summary="List a paper's most connected entities",
    response_model=ConnectedEntities,
    responses=document_example("entities"),
)
def list_entities(
    library: ComputingLibraryOf,
    paper: Annotated[_PaperId, Query(description="A paper's id.", examples=["b1810c2e3f4a"])],
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 20,
) -> Response:
    """Return a paper's entities with the most relations, in descending order; `/v1/graph` shows each."""
    degrees = library.most_connected(library.entry(paper).id, limit=limit)
    entities = tuple(ConnectedEntity(name=name, relations=degree) for name, degree in degrees.items())
    return json_response(ConnectedEntities(entities=entities))


@router.get(
    "/search",
    summary="Search entities",
    response_model=EntityMatches,
    responses=document_example("matches"),
)
def search_entities(
    library: ComputingLibraryOf,
    query: Annotated[
        str, Query(min_length=1, max_length=300, description="The beginnings of words of a name.", examples=["char f"])
    ],
    kind: Annotated[str, Query(alias="type", max_length=100, description="Only entities of this type.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 20,
) -> Response:
    """Return entities in whose name each word of the query begins a word; `/v1/graph` shows each by its id."""
    return json_response(EntityMatches(entities=tuple(library.search_entities(query, kind=kind, limit=limit))))
