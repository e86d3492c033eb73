"""`kill -9` of the service, its worker or both: accepted jobs are done, and nothing is paid for twice."""

from pathlib import Path

import pytest

from tests.model_server import serve
from tests.service.jobs.killing import SECONDS, kill_services, reply


@pytest.mark.slow
def test_a_killed_service_finishes_accepted_jobs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with serve(reply, seconds=SECONDS) as server:
        server.streams = True
        killed = kill_services(tmp_path, server, kills=2, seed=7)
    assert sum(killed.kills.values()) == 2
    assert killed.papers
    assert killed.batches
    assert (killed.lost, killed.refused, killed.leftovers) == ([], [], [])
    assert (killed.repeated, killed.again) == (0, 0)
    assert (killed.integrity, killed.exit_code) == ("ok", 0)
