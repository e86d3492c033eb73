"""`paperscope worker`: jobs of a service that takes none itself."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from paperscope_core.errors import SettingsError
from paperscope_core.settings import load_settings
from service.jobs import do_jobs
from tests.model_server import echo, serve
from tests.service.servers import (
    job_of,
    markdown_paper,
    model_settings,
    serve_app,
    settings_with_model,
    upload,
    variables,
    wait_until,
    worker_pids,
)


@contextmanager
def worker(folder: Path, settings: dict[str, object], *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "paperscope", "worker", "--library", str(folder), *options],
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables(settings)},
        cwd=folder.parent,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_worker_that_may_take_no_job_is_refused() -> None:
    with pytest.raises(SettingsError, match="would do nothing"):
        do_jobs(load_settings(environ={}, overrides={"service.jobs_at_once": 0}))


@pytest.mark.slow
def test_a_worker_does_the_jobs_of_a_service_that_takes_none(tmp_path: Path) -> None:
    with serve(echo, seconds=0.5) as model:
        settings = settings_with_model(tmp_path, model, **{"service.jobs_at_once": 0})
        with serve_app(settings) as address:
            refused = upload(address, markdown_paper(1), password="sesame")  # noqa: S106
            assert refused.status_code == 422
            assert "no-passwords" in refused.json()["type"]
            response = upload(address, markdown_paper(8))
            assert job_of(response, address, wait=1)["state"] == "queued"
            assert not worker_pids()

            def shown() -> Any:
                return httpx2.get(f"{address}{response.headers['location']}").json()

            with worker(tmp_path / "library", model_settings(model.url)) as stopped:
                wait_until(lambda: shown()["state"] == "running" and len(model.names) >= 2)
                stopped.send_signal(signal.SIGTERM)
                assert stopped.wait(30) == 0
                assert (shown()["state"], shown()["attempts"]) == ("queued", 0)
            model.seconds = 0.0
            with worker(tmp_path / "library", model_settings(model.url)):
                assert job_of(response, address)["state"] == "succeeded"
            assert len(set(model.names)) == len(model.names) == 8, "a call was paid twice"
