"""Other types of entities than our own, from the settings to the merged graph."""

import json
from pathlib import Path

import pytest

from ingest.chunking import chunk_paper
from ingest.extraction import combine, extractor_for
from ingest.extraction.entity_types import DEFAULT_TYPES, TypeSystem
from paperscope_core.errors import SettingsError
from paperscope_core.models import FakeModel
from paperscope_core.settings import ExtractSettings, load_settings
from paperscope_core.types import Box, Entity, Extraction, Paper, Passage, Place

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
TYPES = {"gene": "a gene or protein", "method": "how it was found", "thing": "all else"}


def paper_of(text: str) -> Paper:
    passage = Passage(id="p/passage-1", place=PLACE, order=1, text=text)
    return Paper(id="p", title="", authors=(), sha256="", file="p.pdf", pages=(), sections=(), elements=(passage,))


async def test_a_settings_file_replaces_the_types(tmp_path: Path) -> None:
    file = tmp_path / "biology.toml"
    file.write_text("[extract.types]\n" + "\n".join(f'{name} = "{what}"' for name, what in TYPES.items()))
    settings = load_settings(environ={}, file=file).extract
    assert list(settings.types) == ["gene", "method", "thing"]
    told = {"TP53": "gene", "RNA sequencing": "assay", "named entity recognition": "task"}
    entities = [{"chunk": "C1", "mention": name, "type": kind, "description": ""} for name, kind in told.items()]
    model = FakeModel([json.dumps({"entities": entities, "relations": []})])
    paper = paper_of("TP53 is found by RNA sequencing, and named entity recognition (NER) finds TP53 in text.")
    extraction = await extractor_for(model, settings).extract(paper, chunk_paper(paper))
    types = {entity.name: entity.type for entity in extraction.entities}
    assert types["TP53"] == "gene"
    assert types["RNA sequencing"] == types["named entity recognition"] == "thing"
    assert set(types.values()) <= set(TYPES)
    system = model.requests[0].messages[0].text
    assert "  - gene: a gene or protein\n  - method: how it was found\n  - thing: all else\n" in system
    assert '"enum": ["gene", "method", "thing"]' in json.dumps(model.requests[0].schema)


async def test_without_a_model_the_rules_keep_to_the_types_as_well() -> None:
    paper = paper_of("We study named entity recognition (NER) and conditional random field models (CRF models).")
    extraction = await extractor_for(None, ExtractSettings(types=TYPES)).extract(paper, ())
    assert {entity.name: entity.type for entity in extraction.entities} == {
        "named entity recognition": "thing",
        "conditional random field models": "method",
    }


def test_the_more_telling_type_wins_and_a_stranger_loses() -> None:
    def of(kind: str) -> Extraction:
        entity = Entity(id="x", name="x", type=kind, description="", sources=())
        return Extraction(entities=(entity,), relations=())

    types = TypeSystem.of(TYPES)
    for one, other, best in [("thing", "gene", "gene"), ("thing", "alien", "thing"), ("table", "gene", "table")]:
        assert combine(of(one), of(other), types=types).entities[0].type == best
        assert combine(of(other), of(one), types=types).entities[0].type == best


def test_no_types_mean_our_own() -> None:
    assert TypeSystem.of({}).meanings == DEFAULT_TYPES
    assert TypeSystem().rest == "concept"


@pytest.mark.parametrize(
    ("types", "problem"),
    [
        ({"table": "one of ours"}, "'table' can't be a type"),
        ({"a\nb": "two lines"}, "can't be a type"),
        ({"gene": ""}, "say on one line what the type 'gene' is"),
        ({"gene": "a\nb"}, "say on one line"),
        ({"gene": 3}, "valid string"),
        ("gene", "write a list or table as JSON"),
    ],
)
def test_types_that_are_none_are_refused(types: object, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        load_settings(environ={}, overrides={"extract.types": types})
