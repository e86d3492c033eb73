"""Types of entities by a recognizer."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.pipeline import extractor_for
from ingest.extraction.recognized import RecognizedTypes
from ner.examples import Example, Span
from paperscope_core.settings import ExtractSettings
from paperscope_core.types import Chunk, Entity, Extraction, Paper
from tests.ingest.extraction.paper_builders import paper_of, passages, table_of

PAPER = paper_of(*passages("GLUE is used. We train on GLUE and Dice losses.", "Dice loss is hard."), table_of("a|b"))


class FakeRecognizer:
    name = "fake"

    def __init__(self, found: dict[str, tuple[str, float | None]]) -> None:
        self._found = found

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        assert [example.document for example in examples] == ["p", "p"]
        return [
            replace(
                example,
                spans=tuple(
                    Span(start=start, end=start + len(name), label=label, confidence=confidence)
                    for name, (label, confidence) in self._found.items()
                    if (start := example.text.find(name)) >= 0
                ),
            )
            for example in examples
        ]


def types_of(found: dict[str, tuple[str, float | None]], types: TypeSystem = TypeSystem()) -> dict[str, str]:
    entities = [
        Entity(id=name.casefold(), name=name, type=kind, description="", sources=())
        for name, kind in (("GLUE", "concept"), ("Dice loss", "metric"), ("Table 1", "table"), ("rest", "concept"))
    ]

    async def rules(_paper: Paper, _chunks: Sequence[Chunk]) -> Extraction:
        return Extraction(entities=tuple(entities), relations=())

    extractor = RecognizedTypes(rules, lambda: FakeRecognizer(found), types=types)
    return {entity.name: entity.type for entity in asyncio.run(extractor.extract(PAPER, [])).entities}


@pytest.mark.parametrize(
    ("found", "types"),
    [
        ({}, ["concept", "metric", "table", "concept"]),
        ({"GLUE": ("Dataset", 0.4), "Table 1": ("Method", 1.0)}, ["dataset", "metric", "table", "concept"]),
        # "Dice losses" and "Dice loss" are one name; their confidences are summed.
        ({"Dice losses": ("Task", 0.9), "Dice loss": ("Method", 0.5)}, ["concept", "method", "table", "concept"]),
        ({"GLUE": ("Person", None)}, ["concept", "metric", "table", "concept"]),
    ],
)
def test_a_term_gets_the_type_with_most_confidence(
    found: dict[str, tuple[str, float | None]], types: list[str]
) -> None:
    assert list(types_of(found).values()) == types


@pytest.mark.slow
def test_the_installed_recognizer_is_used_if_the_settings_name_it() -> None:
    text = "We train ConvNeXt on the ImageNet dataset for image classification. ImageNet and ConvNeXt are compared."
    extractor = extractor_for(None, ExtractSettings(recognizer="papers"))
    extraction = asyncio.run(extractor.extract(paper_of(*passages(text)), []))
    types = {entity.name: entity.type for entity in extraction.entities}
    assert (types["ConvNeXt"], types["ImageNet"]) == ("method", "dataset")


def test_a_type_that_the_settings_lack_is_the_rest() -> None:
    types = TypeSystem(meanings={"metric": "", "thing": ""})
    assert types_of({"GLUE": ("Dataset", None)}, types)["GLUE"] == "thing"
