"""The graph suite from its data to its report."""

import json
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from paperscope_lab.evaluation.gold.graphs import GoldRelation
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper
from paperscope_lab.evaluation.graph.suite import SUITE, open_extractor, score_document
from paperscope_lab.evaluation.suite import Request
from tests.evaluation.gold.test_graphs import EXPANDED, IDENTIFIED, SCIER, SCIERC, SCIREX
from tests.evaluation.graph.test_scoring import GOLD, figures

from ingest.chunking import chunk_paper
from ingest.extraction import extractor_for
from paperscope_core.models import FakeModel
from paperscope_core.settings import ExtractSettings, Settings
from paperscope_core.types import ModelRequest

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate


def test_a_document_is_a_paper_of_headings_and_paragraphs() -> None:
    sections = [TextSection(path=("Intro",), paragraphs=("One. Two.",)), TextSection(path=(), paragraphs=("Three.",))]
    paper = text_paper("d", title="", sections=sections, with_headings=True)
    assert [(element.id.partition("/")[2], element.section.partition("/")[2]) for element in paper.elements] == [
        ("passage-1", "section-1"),
        ("passage-2", "section-1"),
        ("passage-3", "section-2"),
    ]
    assert not paper.paged
    assert [chunk.text for chunk in chunk_paper(paper)] == ["Intro\nOne. Two.", "Three."]


@pytest.fixture
def data(tmp_path: Path, short_paper: Path) -> Path:
    """A line of each set, and a paper."""
    folder = tmp_path / "data"
    (folder / "eval").mkdir(parents=True)
    for name, line in (
        ("kg_scierc", SCIERC),
        ("kg_scier", SCIER),
        ("kg_scirex", SCIREX),
        ("acronym_identification", IDENTIFIED),
        ("acronym_disambiguation", EXPANDED),
    ):
        (folder / "eval" / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    (folder / "papers" / "example").mkdir(parents=True)
    shutil.copy(short_paper, folder / "papers" / "example" / "paper.pdf")
    return folder


@pytest.mark.slow
def test_the_command(data: Path, tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]) -> None:
    (data / "papers" / "broken.pdf").write_bytes(b"%PDF-1.5 nothing")
    scier = data / "eval" / "kg_scier.jsonl"
    scier.write_text(scier.read_text() + "{}")
    first, second = tmp_path / "first", tmp_path / "second"
    only = [
        part
        for name in ("scierc", "scier", "scirex", "papers", "library", "acronym_identification")
        for part in ("--only", name)
    ]
    assert evaluate("graph", "--data", data, "--out", first, *only) == 1
    said = capsys.readouterr().out
    assert "kg_scier.jsonl:2: field 'doc_id' is missing" in said
    assert "papers/broken: 'broken.pdf' is damaged" in said
    figures = json.loads((first / "graph.json").read_text())["figures"]
    assert set(figures) == {"all", "scierc", "scier", "scirex", "papers", "library", "acronym_identification"}
    assert figures["acronym_identification"]["acronyms.long.recall"]["value"] == 1
    assert figures["papers"]["grounded.entities"]["items"] == 1
    assert figures["papers"]["graph.entities"]["right"] > 10
    assert 10 < figures["library"]["library.entities"]["right"] < figures["papers"]["graph.entities"]["right"]
    assert figures["library"]["library.shared"]["right"] == 0
    evaluate("graph", "--data", data, "--out", second, "--only", "scierc")
    again = json.loads((second / "graph.json").read_text())["figures"]["scierc"]
    for metric, figure in figures["scierc"].items():
        assert metric.startswith("seconds") or again[metric] == figure


def test_a_model_is_measured_with_the_rules() -> None:
    """The model names both ends and their relation in a kind that the gold has, too."""

    def reply(_: ModelRequest) -> str:
        names = {"chunk": "C1", "description": ""}
        return json.dumps(
            {
                "entities": [
                    names | {"mention": "naive Bayes", "type": "method"},
                    names | {"mention": "text classification", "type": "task"},
                ],
                "relations": [
                    {
                        "chunk": "C1",
                        "source": "text classification",
                        "target": "naive Bayes",
                        "kind": "uses",
                        "evidence": "naive Bayes serves text classification",
                    }
                ],
            }
        )

    text = "Here naive Bayes serves text classification."
    gold = replace(
        GOLD,
        sections=(TextSection(path=(), paragraphs=(text,)),),
        relations=(GoldRelation(source=0, target=1, kind="USED-FOR"),),
    )
    found = figures(score_document(gold, extractor_for(FakeModel(reply))))
    assert found["entities.typed.recall"] == (2, 4)
    assert found["relations.kind.recall"] == (1, 1)


def test_the_mode_decides_the_extractor(data: Path, tmp_path: Path) -> None:
    role = ExtractSettings(model="m", base_url="http://localhost:1/v1")
    settings = Settings().model_copy(update={"extract": role})
    for mode in ("model", "local"):
        request = Request(data=data, mode=mode, settings=settings, work=tmp_path / mode)
        with ExitStack() as stack:
            used, _ = open_extractor(request, stack)
            assert used.extract.configured == (mode == "model")
            assert (tmp_path / mode / "calls").exists() == (mode == "model")
        with SUITE.open(request) as loaded:
            assert {item.name.partition("/")[0] for item in loaded.items} >= {"scierc", "scier", "scirex", "papers"}


def test_the_mode_model_needs_a_model(data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("graph", "--data", data, "--mode", "model") == 2
    assert "mode 'model' needs a model that extracts: set PAPERSCOPE_EXTRACT__MODEL" in capsys.readouterr().err


def test_a_folder_without_anything_to_score_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("graph", "--data", tmp_path) == 2
    assert "nothing to score here" in capsys.readouterr().err
