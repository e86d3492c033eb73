"""After `kill -9` at any moment, no call is paid twice, and the library ends up the same."""

from pathlib import Path

import pytest

from tests.model_server import serve
from tests.paperscope.crashes import SECONDS, kill_adds, traceable_reply


@pytest.mark.slow
def test_killed_adds_pay_no_call_twice_and_leave_no_orphans(tmp_path: Path) -> None:
    paper = tmp_path / "papers" / "paper.md"
    paper.parent.mkdir()
    parts = (f"## Part {number}\n\n{f'Part {number} names the Tagger and its Corpus. ' * 60}" for number in range(20))
    paper.write_text("\n\n".join(["# On Taggers", *parts]))
    with serve(traceable_reply, seconds=SECONDS) as server:
        killed = kill_adds(tmp_path, server, paper, kills=2, seed=7)
    assert (killed.repeated, killed.orphans) == (0, 0)
    assert killed.equal
    assert killed.kills == 2
    assert killed.calls == 20
