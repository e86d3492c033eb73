"""What the soak test makes of responses and logs; its servers and workers are for a person to run."""

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from paperscope_lab.evaluation.bench import soak
from paperscope_lab.evaluation.bench.common import write_figures


def options(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    soak.add_options(parser)
    return parser.parse_args(given)


def test_only_a_server_that_ends_sends_a_client_to_another_one() -> None:
    ending = b'{"type": "urn:paperscope:problem:ending"}'
    assert [soak._outcome(status, b"") for status in (200, 202, 204, 429, 404, 500)] == [
        *["answered"] * 3,
        "busy",
        *["failed"] * 2,
    ]
    assert (soak._outcome(503, ending), soak._outcome(503, b"")) == ("moved", "failed")


def test_a_request_may_break_only_if_its_server_was_killed(tmp_path: Path) -> None:
    process = soak._Process(["serve"], port=1, log=tmp_path / "log")
    assert not process.was_killed_since(100.0)
    process.killed.append(101.0)
    assert process.was_killed_since(100.0)
    assert not process.was_killed_since(110.0)


def test_jobs_that_workers_ended_are_counted(tmp_path: Path) -> None:
    line = '{"event": "job", "job": "job-1", "state": "succeeded"}\n'
    (tmp_path / "worker-0.log").write_text(
        f'Warning: text\n{line}{{"event": "job", "job": "job-2", "state": "failed"}}\n'
    )
    (tmp_path / "worker-1.log").write_text(line)
    found = soak._Soak(tmp_path, options(), logs=tmp_path)
    assert list(found._ended_jobs()) == ["job-1", "job-1"]


def test_the_figures_are_written(tmp_path: Path) -> None:
    found = soak.Soaked(answered=Counter({"query": 2}), lost=["job-1"])
    write_figures(tmp_path / "figures.json", found)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["answered"], figures["lost"]) == ({"query": 2}, ["job-1"])


def test_no_two_papers_are_alike() -> None:
    choose = random.Random(1)
    assert len({soak._paper(choose) for _ in range(50)}) == 50
