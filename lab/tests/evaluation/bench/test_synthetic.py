"""`bench graph` and `bench query`: the synthetic papers, the questions, and the figures."""

import json
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main
from paperscope_lab.evaluation.bench.growth import Checkpoint, ratios
from paperscope_lab.evaluation.bench.synthetic import (
    CHUNKS,
    ENTITIES,
    RELATIONS,
    SHARED,
    papers_with,
    questions_over,
    synthetic_names,
    synthetic_paper,
)


def test_a_paper_has_its_sizes_and_states_its_entities_and_relations() -> None:
    made = synthetic_paper(7, seed=1)
    entities, relations = made.extraction.entities, made.extraction.relations
    texts = {element.id: getattr(element, "text", "") for element in made.paper.elements}
    assert (len(texts), len({entity.name for entity in entities}), len(relations)) == (CHUNKS, ENTITIES, RELATIONS)
    assert all(entity.name in texts[source] for entity in entities for source in entity.sources)
    assert all(entity.sources for entity in entities)
    assert len({frozenset((one.source, one.target)) for one in relations}) == RELATIONS
    for relation in relations:
        assert {relation.source, relation.target} <= {entity.id for entity in entities}
        assert relation.description in texts[relation.sources[0]]


def test_a_paper_depends_on_its_number_and_the_seed_alone() -> None:
    assert synthetic_paper(3, seed=0) == synthetic_paper(3, seed=0)
    assert synthetic_paper(3, seed=0) != synthetic_paper(3, seed=1)


def test_a_third_of_the_entities_recur() -> None:
    papers = [set(synthetic_names(number, seed=0)) for number in range(1, 41)]
    shared = [sum(any(name in other for other in papers if other is not paper) for name in paper) for paper in papers]
    assert all(5 <= count <= ENTITIES // 3 for count in shared)


def test_the_papers_have_the_entities_and_one_paper_fewer_does_not() -> None:
    papers = papers_with(150, seed=3)
    names = [set(synthetic_names(number, seed=3)) for number in range(1, papers + 1)]
    assert len(set.union(*names)) >= 150 > len(set[str]().union(*names[:-1]))


def test_questions_depend_on_the_seed_and_name_what_their_kind_says() -> None:
    questions = questions_over(4, count=6, seed=3)
    assert questions == questions_over(4, count=6, seed=3)
    assert questions != questions_over(4, count=6, seed=4)
    names = [synthetic_names(number, seed=3) for number in range(1, 5)]
    shared = {name for paper in names for name in paper[:SHARED]}
    own = {name for paper in names for name in paper[SHARED:]}
    named = [[any(name in question for name in known) for known in (shared, own)] for question in questions]
    assert named == [[True, True], [False, True], [False, False]] * 2


@pytest.mark.slow
def test_a_library_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "growth.json"
    assert main(["graph", "--papers", "11", "--out", str(out)]) == 0
    assert "Paper 11 to paper 10: add " in capsys.readouterr().out
    found = json.loads(out.read_text())
    first, tenth, last = found["checkpoints"]
    assert (first["paper"], tenth["paper"], last["paper"]) == (1, 10, 11)
    assert all(one["add"] > 0 and one["retrieve"] > 0 and one["memory_mb"] > 20 for one in (first, tenth, last))
    assert first["disk_mb"] < tenth["disk_mb"]
    assert found["ratios"]["add"] > 0


def test_ratios_are_of_the_last_checkpoint_to_the_tenth_paper() -> None:
    one, ten, last = (
        Checkpoint(paper=paper, add=add, add_cpu=1, retrieve=1, memory_mb=1, disk_mb=1)
        for paper, add in ((1, 9.0), (10, 2.0), (1000, 3.0))
    )
    assert ratios([one, ten, last])["add"] == 1.5
    assert ratios([one, ten]) == ratios([one]) == {}


@pytest.mark.slow
def test_libraries_are_made_asked_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, work = tmp_path / "latency.json", tmp_path / "work"
    options = ["--questions", "4", "--work", str(work), "--out", str(out)]
    assert main(["query", "--entities", "60", "100", *options]) == 0
    assert "60 to 100 entities: p50" in capsys.readouterr().out
    small, large = json.loads(out.read_text())
    assert [small["papers"], large["papers"]] == [1, 2]
    assert all(one["cold"] > 0 and 0 < one["p50"] <= one["p95"] and one["cpu"] > 0 for one in (small, large))
    assert all(one["memory_mb"] > 20 and one["empty"] == 0 for one in (small, large))
    assert small["disk_mb"] < large["disk_mb"]
    assert main(["query", "--entities", "60", *options]) == 0
    assert {folder.name for folder in work.iterdir()} == {"0-60", "0-100"}


def test_too_few_questions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--questions", "2"]) != 0
    assert "--questions 2" in capsys.readouterr().err
