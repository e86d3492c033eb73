"""Several server processes behind one port."""

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.formparsers import MultiPartParser

from service.http.serving import _JobsThread, _RemoteJobs, _Start
from service.jobs import Supervisor
from service.jobs.housekeeping import WorkerLocks
from service.keys import KeyStore
from tests.model_server import Body, ModelServer, echo, kind_of, serve
from tests.service.conftest import settings_in
from tests.service.http.requests import model_reply, post
from tests.service.http.test_metrics import read, value
from tests.service.servers import ServiceProcess, is_alive, markdown_paper, model_settings, wait_until, worker_pids


def server_pids(parent: int) -> list[int]:
    return worker_pids(parent, module=b"multiprocessing.spawn")


class Clients(threading.Thread):
    """Retrieve over connections that they keep open until `stop`; `failed` is what came back in place of an answer."""

    def __init__(self, address: str, headers: dict[str, str], count: int = 4) -> None:
        super().__init__(daemon=True)
        self.answered, self.failed = 0, list[str]()
        self._stopping = threading.Event()
        self._clients = [httpx2.Client(base_url=address, headers=headers, timeout=60) for _ in range(count)]

    def run(self) -> None:
        while not self._stopping.wait(0.02):
            for client in self._clients:
                try:
                    response = client.post("/v1/retrieve", json={"question": "What is part 1 about?"})
                    self.answered += response.status_code == 200
                    self.failed += [] if response.status_code == 200 else [response.text]
                except httpx2.TransportError as error:
                    self.failed.append(repr(error))

    def stop(self) -> None:
        self._stopping.set()
        self.join(60)
        for client in self._clients:
            client.close()


def answer_at_the_end(service: ServiceProcess, model: ModelServer, headers: dict[str, str]) -> Any:
    """The answer to a question in progress while the service ends."""
    model.seconds = 2.0
    model.bodies.clear()
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(post, service.address, "/v1/query", {"question": "What is part 1 about?"}, **headers)
        wait_until(lambda: model.bodies)
        assert service.end(signal.SIGTERM) == 0
    return asking.result().json()


def test_a_server_process_passes_jobs_and_passwords_to_the_process_above(tmp_path: Path) -> None:
    settings, library = settings_in(tmp_path), tmp_path / "library"
    supervisor = Supervisor(settings, folders=list, on_usage=lambda _usage: None)
    start = _Start(settings=settings, folder=tmp_path, jobs=supervisor.id, takes_jobs=True, keyed=False)
    above = _JobsThread(supervisor, start.socket)
    above.start()
    jobs = _RemoteJobs(start)
    # As long as a form takes it, of signs that JSON writes as six.
    longest = "\1" * MultiPartParser.max_part_size
    for job, password in (("job-1", "open\nsesame"), ("job-2", "simsim"), ("job-3", longest)):
        asyncio.run(jobs.keep_password(job, password, folder=library))
    jobs.forget_password("job-2")
    jobs.notify(library)
    wait_until(lambda: supervisor._normal._notified == {library})
    assert supervisor._passwords == {"job-1": (library, "open\nsesame"), "job-3": (library, longest)}
    assert WorkerLocks(library).remove_dead() == []
    above.end()
    above.join(60)
    jobs._socket.close()
    assert not list((library / "workers").iterdir())


@pytest.mark.slow
def test_processes_share_jobs_sessions_and_metrics_and_are_replaced_without_a_failed_request(tmp_path: Path) -> None:
    _, secret = KeyStore.open(tmp_path / "keys.json").create("alice", tmp_path / "alice")

    def reply(body: Body) -> str:
        return echo(body) if kind_of(body) == "entities" else model_reply(body)

    with serve(reply) as model:
        settings = {**model_settings(model.url), "service.keys": tmp_path / "keys.json", "service.workers": 2}
        service = ServiceProcess(tmp_path / "library", settings)
        service.start()
        above = service.process.pid
        headers = {"Sec-Fetch-Site": "same-origin"}
        body = {"key": secret.get_secret_value()}
        signed_in = httpx2.post(f"{service.address}/v1/session", json=body, headers=headers)
        headers["Cookie"] = signed_in.headers["set-cookie"].partition(";")[0]
        added = httpx2.post(
            f"{service.address}/v1/papers", files={"file": ("a.md", markdown_paper(2))}, headers=headers
        )
        job = httpx2.get(service.address + added.headers["location"], params={"wait": 60}, headers=headers, timeout=90)
        assert job.json()["state"] == "succeeded"
        # The process above does the jobs.
        assert worker_pids(above)
        clients = Clients(service.address, headers)
        clients.start()
        before = server_pids(above)
        service.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(server_pids(above)) == 2 and not set(before) & set(server_pids(above)), seconds=120)
        clients.stop()
        assert clients.answered
        assert not clients.failed
        route = {"method": "POST", "route": "/v1/retrieve"}

        def all_counted() -> bool:
            numbers = read(httpx2.get(f"{service.address}/metrics", headers=headers))
            return value(numbers, "paperscope_http_requests_total", **route, status="200") == clients.answered

        # A response is counted after it was sent.
        wait_until(all_counted)
        killed = server_pids(above)[0]
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len(server_pids(above)) == 2 and not is_alive(killed))
        # Those that ended are counted, too.
        assert all_counted()
        numbers = read(httpx2.get(f"{service.address}/metrics", headers=headers))
        assert value(numbers, "paperscope_http_request_seconds_count", **route) == clients.answered
        assert value(numbers, "paperscope_questions_running") == 0
        assert value(numbers, "paperscope_model_calls_total", work="add", role="extract", outcome="answered") > 0
        servers = server_pids(above)
        assert answer_at_the_end(service, model, headers)["status"] == "answered"
        assert not any(map(is_alive, servers))


@pytest.mark.slow
def test_a_process_that_starts_while_the_file_of_keys_is_gone_lets_nobody_in(tmp_path: Path) -> None:
    KeyStore.open(tmp_path / "keys.json").create("alice", tmp_path / "alice")
    service = ServiceProcess(tmp_path / "library", {"service.keys": tmp_path / "keys.json", "service.workers": 2})
    service.start()
    (tmp_path / "keys.json").unlink()
    servers = wait_until(lambda: len(found := server_pids(service.process.pid)) == 2 and found)
    for server in servers:
        # The process above asks it whether it is alive, and gets no reply.
        os.kill(server, signal.SIGSTOP)
    time.sleep(1)
    for server in servers:
        os.kill(server, signal.SIGKILL)

    def status() -> int:
        with suppress(httpx2.TransportError):
            return httpx2.get(f"{service.address}/v1/papers").status_code
        return 0

    assert wait_until(status) == 401
    assert service.end(signal.SIGTERM) == 0
