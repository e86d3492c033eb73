"""`bench graph`: the synthetic papers, the loop, and the figures."""

import json
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main
from paperscope_lab.evaluation.bench.growth import Checkpoint, Growth
from paperscope_lab.evaluation.bench.synthetic_library import extraction_of, paper_of
from paperscope_lab.evaluation.peers.synthetic import CHUNKS, ENTITIES, RELATIONS, synthetic_paper
from paperscope_lab.evaluation.peers.timing import question_about

from paperscope_core.types import content_hash


def test_a_synthetic_paper_has_its_sizes_and_names_its_entities_in_their_sources() -> None:
    document = synthetic_paper(7, seed=1)
    names = {entity.name for entity in document.entities}
    texts = {unit.id: unit.text for unit in document.units}
    assert (len(texts), len(names), len(document.relations)) == (CHUNKS, ENTITIES, RELATIONS)
    assert all(entity.name in texts[unit] for entity in document.entities for unit in entity.sources)
    assert all(entity.sources for entity in document.entities)
    assert len({frozenset((one.source, one.target)) for one in document.relations}) == RELATIONS
    for relation in document.relations:
        assert {relation.source, relation.target} <= {entity.id for entity in document.entities}
        assert relation.description in texts[relation.sources[0]]


def test_a_synthetic_paper_depends_on_its_number_and_the_seed_alone() -> None:
    assert synthetic_paper(3, seed=0) == synthetic_paper(3, seed=0)
    assert synthetic_paper(3, seed=0) != synthetic_paper(3, seed=1)


def test_a_third_of_the_entities_recur() -> None:
    papers = [{entity.name for entity in synthetic_paper(number, seed=0).entities} for number in range(1, 41)]
    shared = [sum(any(name in other for other in papers if other is not paper) for name in paper) for paper in papers]
    assert all(5 <= count <= ENTITIES // 3 for count in shared)


def test_our_paper_has_the_content_of_the_document() -> None:
    document = synthetic_paper(2, seed=0)
    paper = paper_of(document, sha256=content_hash(b"2"))
    extraction = extraction_of(document, paper)
    texts = {element.id: getattr(element, "text", "") for element in paper.elements}
    assert list(texts.values()) == [unit.text for unit in document.units]
    assert [entity.name for entity in extraction.entities] == [entity.name for entity in document.entities]
    assert all(entity.name in texts[source] for entity in extraction.entities for source in entity.sources)
    assert all(relation.description in texts[relation.sources[0]] for relation in extraction.relations)


@pytest.mark.slow
def test_ours_grows_and_a_peer_that_runs_out_of_time_keeps_its_papers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, python = tmp_path / "growth.json", tmp_path / "python"
    step = {"paper": 1, "add": 0.5, "add_cpu": 0.25, "retrieve": 0.125, "memory_mb": 10.0, "disk_mb": 1.0}
    python.write_text(f"#!/bin/sh\necho '{json.dumps(step)}' > $4\nprintf '{{\"paper\": 2' >> $4\nexec sleep 60\n")
    python.chmod(0o755)
    options = ["--peers-python", str(python), "--peer-seconds", "0.5", "--out", str(out)]
    assert main(["graph", "--papers", "11", *options]) == 0
    assert "LightRAG: 1 papers in 1 s (stopped after 0 s)." in capsys.readouterr().out
    ours, peer = json.loads(out.read_text())
    assert (ours["papers"], ours["note"], peer["papers"]) == (11, "", 1)
    assert [checkpoint["paper"] for checkpoint in ours["checkpoints"]] == [1, 10, 11]
    assert all(
        checkpoint["add"] > 0 and checkpoint["retrieve"] > 0 and checkpoint["memory_mb"] > 20
        for checkpoint in ours["checkpoints"]
    )
    first, tenth, _ = ours["checkpoints"]
    assert first["disk_mb"] < tenth["disk_mb"]
    assert ours["ratios"]["add"] > 0


def _checkpoint(paper: int, add: float) -> Checkpoint:
    return Checkpoint(paper=paper, first=paper, last=paper, add=add, add_cpu=1, retrieve=1, memory_mb=1, disk_mb=1)


def test_the_ratio_is_that_of_the_last_mark_to_the_tenth_paper() -> None:
    checkpoints = (_checkpoint(1, 9.0), _checkpoint(10, 2.0), _checkpoint(100, 5.0), _checkpoint(1000, 3.0))
    assert Growth(name="x", papers=1000, seconds=1, checkpoints=checkpoints).ratio("add") == 1.5
    assert Growth(name="x", papers=10, seconds=1, checkpoints=checkpoints[:2]).ratio("add") == 0
    assert Growth(name="x", papers=0, seconds=0, checkpoints=()).ratio("add") == 0


def test_the_question_names_a_shared_and_an_own_entity() -> None:
    document = synthetic_paper(5, seed=0)
    assert document.entities[0].name in question_about(document)
    assert document.entities[-1].name in question_about(document)
