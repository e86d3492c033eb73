"""A service whose tenants upload, cancel, remove, read and lose keys in any order, while workers finish or die.

The service, the store, its jobs and indexes are the real ones; only parsing is replaced, by a paper made up.
"""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from graph_store import NativeGraphIndex, Store
from graph_store.job_queue import ATTEMPTS
from paperscope_core.codec import from_json
from paperscope_core.types import Candidates, RetrievalRequest, content_hash
from service.jobs import Supervisor
from service.jobs.requests import JobFiles, PaperJob
from service.keys import KeyStore
from tests.graph_store.indexed_papers import EMBEDDER, crop_of, make_indexed, unit_vector
from tests.paperscope.crashes import orphans
from tests.service.conftest import settings_in
from tests.service.servers import serve_app

PASSWORD = "sesame-open-the-paper"  # noqa: S105 # no password
TENANTS, PAPERS = st.integers(0, 1), st.integers(0, 3)


class Tenant:
    """A library with its key, and what must be there: the states of its jobs and its papers."""

    def __init__(self, number: int, folder: Path, keys: KeyStore) -> None:
        self.number, self.keys = number, keys
        self.folder = folder / f"library-{number}"
        self.store = Store.open(self.folder)
        self.jobs: dict[str, str] = {}
        self.papers: set[str] = set()
        self.valid = False
        self.renew()

    def renew(self) -> None:
        """Get a new key."""
        self.key, secret = self.keys.create(f"tenant {self.number}", self.folder)
        self.headers = {"X-API-Key": secret.get_secret_value()}
        self.valid = True

    def paper(self, number: int) -> str:
        """The id of one of its papers; the tenants have no paper in common."""
        return f"{self.number}{number}0000000000"


class Service(RuleBasedStateMachine):
    """`address` and `folder` are those of the running service; jobs with a password are reserved for `id`."""

    address: str
    folder: Path
    id: str = ""

    def __init__(self) -> None:
        super().__init__()
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        keys = KeyStore.open(self.folder / "keys.json")
        self.tenants = [Tenant(number, folder, keys) for number in range(2)]
        self.client = httpx2.Client(base_url=self.address, timeout=60)

    def request(self, tenant: Tenant, method: str, path: str, *, files: object = None, data: object = None) -> int:
        """The status of a response; 401 if and only if the key is revoked."""
        response = self.client.request(method, path, headers=tenant.headers, files=files, data=data)  # type: ignore[arg-type]
        assert response.status_code < 500, response.text
        assert (response.status_code == 401) is not tenant.valid, response.text
        self.body = response.json() if response.content[:1] in (b"{", b"[") else None
        return response.status_code

    @rule(number=TENANTS, paper=PAPERS, locked=st.booleans())
    def upload(self, number: int, paper: int, *, locked: bool) -> None:
        """Add a paper."""
        tenant = self.tenants[number]
        name = f"{tenant.paper(paper)}.md"
        password = {"password": PASSWORD} if locked else {}
        if self.request(tenant, "POST", "/v1/papers", files={"file": (name, b"# A paper\n")}, data=password) != 401:
            assert self.body
            tenant.jobs[self.body["id"]] = "waits"

    @rule(number=TENANTS, dies=st.booleans(), quarantined=st.booleans())
    def work(self, number: int, *, dies: bool, quarantined: bool) -> None:
        """A worker does a job, or dies of it."""
        tenant = self.tenants[number]
        queue = tenant.store.jobs
        job = queue.claim("worker", quarantined=quarantined, service=Service.id)
        if job is None:
            # The queue fails jobs of which too many workers have died.
            for name, state in tenant.jobs.items():
                if state == "waits" and queue.get(name).state == "failed":
                    assert queue.get(name).attempts == ATTEMPTS
                    tenant.jobs[name] = "failed"
            return
        assert tenant.jobs[job.id] == "waits", "a job that has ended is not done again"
        if dies:
            assert queue.release("worker", died=True) == [job.id]
            return
        paper = from_json(PaperJob, job.request).name.removesuffix(".md")
        crop = crop_of(paper)
        indexed = make_indexed(paper)
        tenant.store.add(indexed, crops={content_hash(crop): crop}, source=f"/{paper}", embedder=EMBEDDER)
        queue.finish(job.id, "worker", state="succeeded", result="")
        JobFiles(tenant.folder).delete(job.id)
        tenant.jobs[job.id] = "succeeded"
        tenant.papers.add(paper)

    @precondition(lambda self: any(tenant.jobs for tenant in self.tenants))
    @rule(number=TENANTS, data=st.data())
    def cancel(self, number: int, data: st.DataObject) -> None:
        """Cancel a job; another tenant's job does not exist."""
        jobs = {job: tenant for tenant in self.tenants for job in tenant.jobs}
        job = data.draw(st.sampled_from(sorted(jobs)))
        owner, tenant = jobs[job], self.tenants[number]
        status = self.request(tenant, "POST", f"/v1/jobs/{job}/cancel")
        assert status == (401 if not tenant.valid else 200 if owner is tenant else 404)
        if status == 200 and owner.jobs[job] == "waits":
            owner.jobs[job] = "cancelled"

    @rule(number=TENANTS, other=TENANTS, paper=PAPERS, removed=st.booleans())
    def read_or_remove(self, number: int, other: int, paper: int, *, removed: bool) -> None:
        """Read or remove a paper; another tenant's paper does not exist."""
        tenant, name = self.tenants[number], self.tenants[other].paper(paper)
        status = self.request(tenant, "DELETE" if removed else "GET", f"/v1/papers/{name}")
        assert status == (401 if not tenant.valid else 404 if name not in tenant.papers else 204 if removed else 200)
        if removed and tenant.valid:
            tenant.papers.discard(name)

    @rule(number=TENANTS, paper=PAPERS)
    def remove_while_reading(self, number: int, paper: int) -> None:
        """Requests that race a removal see the paper, or that there is none."""
        tenant, name = self.tenants[number], self.tenants[number].paper(paper)
        paths = ["", "/elements", "/elements/passage-1", "/file"]
        with ThreadPoolExecutor(len(paths) + 1) as pool:
            reads = [pool.submit(self.request, tenant, "GET", f"/v1/papers/{name}{path}") for path in paths]
            removed = pool.submit(self.request, tenant, "DELETE", f"/v1/papers/{name}")
        assert {one.result() for one in reads} <= ({200, 404} if tenant.valid else {401})
        assert (removed.result() == 204) is (tenant.valid and name in tenant.papers)
        if tenant.valid:
            tenant.papers.discard(name)

    @rule(number=TENANTS)
    def change_key(self, number: int) -> None:
        """Revoke the key, or get a new one."""
        tenant = self.tenants[number]
        if tenant.valid:
            tenant.keys.revoke(tenant.key.id)
            tenant.valid = False
        else:
            tenant.renew()

    @rule(number=TENANTS)
    def list_all(self, number: int) -> None:
        """A tenant sees its papers and its jobs, and nothing else."""
        tenant = self.tenants[number]
        if self.request(tenant, "GET", "/v1/papers") == 200:
            assert self.body
            assert {paper["id"] for paper in self.body["papers"]} == tenant.papers
            self.request(tenant, "GET", "/v1/jobs")
            states = {"succeeded", "failed", "cancelled"}
            shown = {job["id"]: job["state"] if job["state"] in states else "waits" for job in self.body}
            assert shown.keys() == tenant.jobs.keys()
            assert all(shown[job] in (state, "failed") for job, state in tenant.jobs.items())

    def teardown(self) -> None:
        """All that was accepted is done, and nothing is left over."""
        try:
            for tenant in self.tenants:
                for quarantined in (False, True):
                    while tenant.store.jobs.pending(service=Service.id)[quarantined]:
                        self.work(tenant.number, dies=False, quarantined=quarantined)
                self.work(tenant.number, dies=False, quarantined=True)
                assert "waits" not in tenant.jobs.values()
                assert {entry.id for entry in tenant.store.entries()} == tenant.papers
                tenant.store.sweep()
                assert orphans(tenant.folder) == 0
                assert list(tenant.folder.glob("jobs/*/*")) == []
                assert _found(tenant, tenant.folder / "index") == _found(tenant, tenant.folder / "rebuilt")
                for file in (file for file in tenant.folder.rglob("*") if file.is_file()):
                    assert PASSWORD.encode() not in file.read_bytes(), file
        finally:
            self.client.close()
            for tenant in self.tenants:
                tenant.store.close()
                if tenant.valid:
                    tenant.keys.revoke(tenant.key.id)


def _found(tenant: Tenant, folder: Path) -> Candidates:
    with closing(NativeGraphIndex.open(tenant.store, folder, embedder=EMBEDDER)) as index:
        return index.retrieve(RetrievalRequest(text="F1 of BERT", vector=unit_vector(1), limit=50))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    Service.folder = tmp_path_factory.mktemp("states")
    keys = KeyStore.open(Service.folder / "keys.json")
    keys.create("first", Service.folder / "first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Supervisor, "notify", lambda supervisor, _folder: setattr(Service, "id", supervisor.id))
        patch.setattr(Supervisor, "_notify_pending", lambda *_: None)
        patch.setattr(Supervisor, "_clean_up", _no_clean_up)
        with serve_app(settings_in(Service.folder)) as found:
            yield found


async def _no_clean_up(*_arguments: object) -> None:
    """The worker of these tests has no lock."""


@pytest.mark.slow
def test_nothing_accepted_is_lost_or_left_over_in_any_order(address: str) -> None:
    Service.address = address
    run_state_machine_as_test(
        Service,
        settings=settings(
            max_examples=6, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
