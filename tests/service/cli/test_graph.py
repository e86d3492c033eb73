"""`paperscope graph`: the neighbourhood on the terminal, as a drawing, GraphML and JSON."""

import io
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from PIL import Image

from paperscope.library import Library
from paperscope_core.errors import UnknownEntityError

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.mark.parametrize("name", ["Stochastic Weight Averaging", "swa", "SWA"])
def test_an_entity_is_found_by_each_of_its_names(run: "Run", example_library: Path, name: str) -> None:
    shown = run("graph", name, "--library", example_library)
    assert shown.code == 0
    assert "Stochastic Weight Averaging" in shown.out.splitlines()[0]
    assert "also: SWA" in shown.out
    assert "SWA keeps a running mean of the weights." in shown.out
    assert "page 3" in shown.out
    assert "“Stochastic Weight Averaging (SWA)”  Four Reports" in shown.out


def test_json_holds_entities_relations_and_their_sources(run: "Run", example_library: Path) -> None:
    found = json.loads(run("graph", "Table 5", "--library", example_library, "--json").out)
    ids = [entity["id"] for entity in found["entities"]]
    assert ids[0] == found["center"]["id"]
    assert len(set(ids)) == len(ids)
    assert len(found["relations"]) > 5
    at_center = [found["center"]["id"] in (one["source"], one["target"]) for one in found["relations"]]
    # Those among its neighbours are last.
    assert at_center == sorted(at_center, reverse=True)
    assert len(set(at_center)) == 2
    for relation in found["relations"]:
        assert {relation["source"], relation["target"]} <= set(ids)
        assert relation["sources"]


def test_files_for_other_programs(run: "Run", example_library: Path, tmp_path: Path) -> None:
    import networkx as nx

    png, graphml = tmp_path / "swa.png", tmp_path / "swa.graphml"
    shown = run("graph", "Table 5", "--library", example_library, "--png", png, "--graphml", graphml)
    assert shown.code == 0
    assert str(png) in shown.err.replace("\n", "")
    with Image.open(io.BytesIO(png.read_bytes())) as drawing:
        assert drawing.width > 600
        assert len(drawing.convert("RGB").getcolors(1 << 24) or ()) > 20
    first = png.read_bytes()
    assert run("graph", "table 5", "--library", example_library, "--png", png).code == 0
    assert png.read_bytes() == first
    graph = nx.read_graphml(graphml)
    found = json.loads(run("graph", "Table 5", "--library", example_library, "--json").out)
    assert set(graph) == {entity["id"] for entity in found["entities"]}
    assert graph.number_of_edges() == len(found["relations"])
    assert ElementTree.parse(graphml).getroot().tag == f"{GRAPHML}graphml"  # noqa: S314 # our own file


def test_more_steps_reach_further_and_the_limit_holds(example_library: Path) -> None:
    with Library.open(example_library) as library:
        near, far = (library.neighbourhood("Table 5", steps=steps, limit=200) for steps in (1, 2))
        assert set(near.relations) < set(far.relations)
        assert len(far.entities) > len(near.entities)
        small = library.neighbourhood("Table 5", steps=2, limit=3)
        assert small.relations == near.relations[:3]
        assert {end for one in small.relations for end in (one.source, one.target)} == {e.id for e in small.entities}


def test_an_unknown_entity_is_named_with_those_that_may_be_meant(run: "Run", example_library: Path) -> None:
    shown = run("graph", "weight averaging", "--library", example_library)
    assert shown.code == 2
    assert "no entity 'weight averaging' in the graph; did you mean '" in shown.err
    assert "Stochastic Weight Averaging" in shown.err
    assert "paperscope show PAPER" in run("graph", "qqq zzz", "--library", example_library).err


def test_a_name_that_several_papers_have_needs_the_paper(example_library: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Other\n\nTable 5: Scores of the other paper.\n\n| a | b |\n|---|---|\n| c | 1 |\n")
    with Library.open(Path(shutil.copytree(example_library, tmp_path / "library"))) as library:
        library.add(other)
        with pytest.raises(UnknownEntityError, match=r"'Table 5' may be any of .* name the paper too") as error:
            library.neighbourhood("Table 5")
        assert str(error.value).count("/table-5'") == 2
        found = library.neighbourhood("Table 5", papers=["other.md"])
        assert found.center.sources[0].startswith(library.paper("other.md").id)
        assert library.neighbourhood(found.center.id) == found


def test_a_drawing_and_a_file_of_hostile_names() -> None:
    import networkx as nx

    from paperscope.neighbourhood import Neighbourhood
    from paperscope_core.types import Entity, Relation

    def entity(key: str, name: str) -> Entity:
        return Entity(id=key, name=name, type="concept", description="a\x00b <&>", sources=())

    both = (entity("a", "$\\frac{1}{$"), entity("b", "\x08 & <b>"))
    relation = Relation(source="a", target="b", kind="mentions", description="\ud800 \x01", sources=())
    found = Neighbourhood(center=both[0], entities=both, relations=(relation,))
    assert found.to_png().startswith(b"\x89PNG")
    graph = nx.read_graphml(io.BytesIO(found.to_graphml()))
    assert graph.nodes["b"]["name"] == " & <b>"


def test_a_cited_work_shows_who_cites_it_and_what_it_is_cited_with(run: "Run", example_library: Path) -> None:
    title = "RoBERTa: A Robustly Optimized BERT Pretraining Approach"
    found = json.loads(run("graph", title, "--library", example_library, "--json").out)
    assert found["center"]["type"] == "paper"
    names = {entity["id"]: entity["name"] for entity in found["entities"]}
    [cites] = [relation for relation in found["relations"] if relation["kind"] == "cites"]
    assert names[cites["source"]].startswith("Four Reports, Four Rulers")
    assert "Liu et al." in cites["description"]
    assert run("graph", "Liu et al., 2019", "--library", example_library).out.startswith(title)
