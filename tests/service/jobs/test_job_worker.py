"""The worker: turns of libraries, work that does not stop, unexpected errors, a full disk."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from graph_store import Store
from graph_store.job_queue import Job
from paperscope.library import Stage
from paperscope_core.errors import PaperFileError, StoreFullError, StoreUnavailableError
from paperscope_core.settings import load_settings
from service.jobs import job_worker as worker_module
from service.jobs import leased_job as held_module
from service.jobs.housekeeping import WorkerLocks, clean_up_jobs
from service.jobs.job_worker import Worker
from service.jobs.leased_job import LeasedJob
from service.libraries import Libraries
from tests.service.servers import wait_until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "library")) as store:
        yield store


def hold(store: Store) -> LeasedJob:
    store.jobs.create("add", "{}")
    job = store.jobs.claim("me")
    assert job is not None
    return LeasedJob(job, folder=store.folder, queue=store.jobs, owner="me")


async def fails(error: BaseException) -> str:
    raise error


async def test_progress_is_written_and_the_result_kept(store: Store) -> None:
    held = hold(store)
    begun = asyncio.Event()

    async def work() -> str:
        held.report(Stage(name="parsing", done=3, total=7))
        await begun.wait()
        held.report(Stage(name="storing"))
        return '{"done": true}'

    running = asyncio.create_task(held.run(work()))
    await asyncio.to_thread(wait_until, lambda: store.jobs.get(held.job.id).stage == "parsing")
    job = store.jobs.get(held.job.id)
    assert (job.done, job.total) == (3, 7)
    begun.set()
    await running
    job = store.jobs.get(held.job.id)
    assert (job.state, job.result, job.stage) == ("succeeded", '{"done": true}', "storing")
    assert (job.done, job.total) == (3, 7), "storing can't be counted"
    assert held.ended


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PaperFileError("'a.pdf' is damaged"), "'a.pdf' is damaged"),
        (MemoryError(), "limits.memory_mb"),
        (ZeroDivisionError("a secret"), "an unexpected error occurred (ZeroDivisionError)"),
    ],
)
async def test_an_error_ends_the_job_and_says_why(store: Store, error: Exception, told: str) -> None:
    held = hold(store)
    await held.run(fails(error))
    job = store.jobs.get(held.job.id)
    assert job.state == "failed"
    assert told in job.error
    assert "a secret" not in job.error


async def test_work_that_does_not_stop_is_reported_as_stuck(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_module, "_CANCEL_TIMEOUT_SECONDS", 0.1)
    held, stop = hold(store), asyncio.Event()

    async def stubborn() -> str:
        while not stop.is_set():
            try:
                await asyncio.wait_for(stop.wait(), 60)
            except asyncio.CancelledError:
                continue
        return ""

    store.jobs.cancel(held.job.id)
    await held.run(stubborn())
    assert held.stuck
    assert store.jobs.get(held.job.id).state == "running"
    await held.finish_cancelled()
    assert store.jobs.get(held.job.id).state == "cancelled"
    stop.set()
    await asyncio.sleep(0)


async def test_a_disk_that_is_full_for_a_moment_ends_no_work(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    held = hold(store)
    renew, failures = store.jobs.renew, [StoreFullError("the disk is full")]

    def failing(*arguments: str, **options: object) -> Job:
        if failures:
            raise failures.pop()
        return renew(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(store.jobs, "renew", failing)

    async def work() -> str:
        return "{}"

    await held.run(work())
    assert failures == []
    assert store.jobs.get(held.job.id).state == "succeeded"


async def test_a_job_whose_server_was_restarted_is_done_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    held = hold(store)
    release, failures = store.jobs.release, [StoreUnavailableError("the server can't be reached")]

    def failing(owner: str, *, died: bool, job: str) -> Sequence[str]:
        if failures:
            raise failures.pop()
        return release(owner, died=died, job=job)

    monkeypatch.setattr(store.jobs, "release", failing)
    await held.run(fails(StoreUnavailableError("the connection was lost", where="postgresql://here")))
    job = store.jobs.get(held.job.id)
    assert (job.state, job.error, held.ended) == ("queued", "", False)
    # Its work may be why the server ended.
    again = store.jobs.claim("other", quarantined=True)
    assert again is not None
    assert again.id == job.id


async def test_a_job_that_another_worker_has_by_now_is_left_to_it(store: Store) -> None:
    held = hold(store)
    store.jobs.release("me", died=True)
    other = store.jobs.claim("other", quarantined=True)
    assert other is not None
    await held.run(asyncio.sleep(60, ""))
    assert not held.ended
    assert store.jobs.get(other.id).state == "running"


async def test_libraries_take_turns_and_one_of_which_a_worker_died_is_done_alone(tmp_path: Path) -> None:
    settings = load_settings(environ={}, overrides={"library": str(tmp_path), "service.jobs_at_once": 2})
    worker = Worker(settings=settings, libraries=Libraries(settings), owner="me")
    with ExitStack() as open_stores:
        stores = [open_stores.enter_context(closing(Store.open(tmp_path / name))) for name in ("a", "b")]
        for store in (stores[0], stores[0], stores[0], stores[1]):
            store.jobs.create("add", "{}")
        for store in stores:
            worker.notify(store.folder)
        await worker._open_stores()
        turns = [await worker._lease() for _ in range(4)]
        folders = [Path(str(held.folder)).name for held in turns if held]
        assert (sorted(folders[:2]), folders[2:]) == (["a", "b"], ["a", "a"])
        assert await worker._lease() is None

        assert stores[0].jobs.release("me", died=True)
        assert await worker._lease() is None
        alone = Worker(settings=settings, libraries=worker._libraries, owner="q", quarantine=True)
        alone.notify(stores[0].folder)
        await alone._open_stores()
        again = await alone._lease()
        assert again is not None
        assert again.job.attempts == 2
        assert alone._has_capacity(again.folder)
        waiting = asyncio.create_task(asyncio.sleep(60))
        alone._running[waiting] = again
        assert not alone._has_capacity(again.folder)
        waiting.cancel()

        assert clean_up_jobs(tmp_path / "a", keep_days=1).running, "this worker lives"
        assert "running" in stores[0].jobs.counts()
        await worker._release_all()
        await alone._release_all()
        assert "running" not in stores[0].jobs.counts()
        assert WorkerLocks(tmp_path / "a").remove_dead() == []


def test_the_jobs_of_a_worker_that_died_without_a_word_go_back_at_once(store: Store) -> None:
    held = hold(store)
    lock = WorkerLocks(store.folder).acquire("me")
    clean_up_jobs(store.folder, keep_days=1)
    assert store.jobs.get(held.job.id).state == "running"
    # The system releases it when a process dies.
    lock.release()
    assert clean_up_jobs(store.folder, keep_days=1).quarantined
    assert store.jobs.get(held.job.id).state == "queued"


async def test_a_password_is_waited_for_briefly_and_used_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(environ={}, overrides={"library": str(tmp_path)})
    worker = Worker(settings=settings, libraries=Libraries(settings), owner="me")
    waiting = asyncio.create_task(worker._password("job-1"))
    await asyncio.sleep(0)
    worker.receive_password("job-2", "other")
    await asyncio.sleep(0)
    worker.receive_password("job-1", "sesame")
    assert await waiting == "sesame"
    monkeypatch.setattr(worker_module, "_PASSWORD_TIMEOUT_SECONDS", 0.01)
    assert await worker._password("job-1") is None
