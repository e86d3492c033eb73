"""The routes that show the graph."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from graph_store import Store
from paperscope_core.types import Publication
from tests.graph_store.indexed_papers import add, make_indexed
from tests.service.conftest import settings_of
from tests.service.servers import serve_app

EXAMPLE = "b1810c2e3f4a"


@pytest.fixture(scope="module")
def address(example_library: Path) -> Iterator[str]:
    with serve_app(settings_of(example_library)) as address:
        yield f"{address}/v1/graph"


def test_a_neighbourhood_comes_with_its_sources(address: str) -> None:
    found = httpx2.get(address, params={"entity": "entity f1", "limit": 5}).json()
    assert found["center"]["name"] == "Entity F1"
    assert found["entities"][0] == found["center"]
    assert len(found["relations"]) == 5
    known = {entity["id"] for entity in found["entities"]}
    for relation in found["relations"]:
        assert {relation["source"], relation["target"]} <= known
        assert relation["sources"]


def test_a_neighbourhood_has_the_definition_of_each_paper_by_year(tmp_path: Path) -> None:
    texts = {
        "aaaa00000001": (2021, "An owl index is a number that orders forests."),
        "bbbb00000002": (None, "We define the owl index as owls per tree."),
        "cccc00000003": (2019, "Owl index refers to a ratio."),
        "dddd00000004": (2018, "The owl index is high in each forest."),
    }
    with closing(Store.open(tmp_path)) as store:
        for paper, (year, text) in texts.items():
            made = make_indexed(paper, names=("owl index",), texts=(f"Owls hoot. {text}",))
            add(store, replace(made, paper=replace(made.paper, publication=Publication(year=year, venue="Owls"))))
    with serve_app(settings_of(tmp_path)) as address:
        found = httpx2.get(f"{address}/v1/graph", params={"entity": "owl index"}).json()["definitions"]
    papers = ("cccc00000003", "aaaa00000001", "bbbb00000002")
    assert [(one["place"]["paper"], one["quote"]) for one in found] == [(one, texts[one][1]) for one in papers]
    assert found[0]["name"] == "On paper cccc00000003 (2019), page 1"


def test_the_graph_is_sent_as_graphml(address: str, tmp_path: Path) -> None:
    import networkx as nx

    params: dict[str, str | int] = {"entity": "Entity F1", "limit": 5, "paper": EXAMPLE}
    response = httpx2.get(address, params={**params, "format": "graphml"})
    assert response.headers["content-type"] == "application/graphml+xml"
    assert 'filename="graph.graphml"' in response.headers["content-disposition"]
    file = tmp_path / "graph.graphml"
    file.write_bytes(response.content)
    graph = nx.read_graphml(file)
    shown = httpx2.get(address, params=params).json()
    assert set(graph.nodes) == {entity["id"] for entity in shown["entities"]}


def test_the_most_connected_entities_of_a_paper(address: str) -> None:
    listed = httpx2.get(f"{address}/entities", params={"paper": EXAMPLE, "limit": 7}).json()["entities"]
    degrees = [entity["relations"] for entity in listed]
    assert len(degrees) == 7
    assert degrees == sorted(degrees, reverse=True)
    found = httpx2.get(address, params={"entity": listed[0]["name"], "paper": EXAMPLE, "limit": 1000}).json()
    around = [one for one in found["relations"] if found["center"]["id"] in (one["source"], one["target"])]
    assert len(around) == degrees[0]


def test_an_unknown_entity_is_quoted_with_near_ones(address: str) -> None:
    response = httpx2.get(address, params={"entity": "Karakter F1"})
    assert response.status_code == 404
    assert response.json()["type"] == "urn:paperscope:problem:unknown-entity"
    assert "'Karakter F1'" in response.json()["detail"]


@pytest.mark.parametrize("params", [{"paper": "0123456789ab"}, {"entity": "F1", "paper": "0123456789ab"}])
def test_an_unknown_paper_is_quoted(address: str, params: dict[str, str]) -> None:
    response = httpx2.get(address if "entity" in params else f"{address}/entities", params=params)
    assert response.status_code == 404
    assert "'0123456789ab'" in response.json()["detail"]


@pytest.mark.parametrize(
    "params", [{}, {"entity": ""}, {"entity": "x" * 301}, {"entity": "F1", "steps": 9}, {"entity": "F1", "limit": 0}]
)
def test_invalid_parameters_are_refused(address: str, params: dict[str, str | int]) -> None:
    response = httpx2.get(address, params=params)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
