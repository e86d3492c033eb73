"""The supervisor's housekeeping, without workers."""

import asyncio
import threading
from pathlib import Path

import pytest

from graph_store.job_queue import PendingJobs
from paperscope_core.settings import load_settings
from service.jobs import Supervisor, supervisor


async def test_every_library_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders, looked, done = [tmp_path / "a"], list[str](), threading.Event()

    def clean_up(folder: Path, *, service: str) -> PendingJobs:
        assert service
        looked.append(folder.name)
        # No job runs, and the other library is new.
        folders[1:] = [tmp_path / "b"]
        if looked.count("a") >= 3 and "b" in looked:
            done.set()
        return PendingJobs(new=False, quarantined=False, running=False)

    monkeypatch.setattr(supervisor, "clean_up_jobs", clean_up)
    monkeypatch.setattr(supervisor, "_HOUSEKEEPING_SECONDS", 0.0)
    watching = Supervisor(load_settings(environ={}), folders=lambda: folders, on_usage=lambda _usage: None)
    watching.start()
    assert await asyncio.to_thread(done.wait, 5)
    await watching.stop()
