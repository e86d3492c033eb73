import threading
from pathlib import Path

import pytest

from graph_store import JobQueue, Store
from graph_store.job_queue import ATTEMPTS, LEASE_SECONDS, RESERVATION_SECONDS
from paperscope_core.errors import JobLostError, UnknownJobError


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(stored: Store, clock: Clock) -> JobQueue:
    return JobQueue(stored.database, clock=clock)


def test_a_job_is_queued_then_running_then_succeeded(queue: JobQueue, clock: Clock) -> None:
    made = queue.create("add", '{"file": "a.pdf"}')
    assert (made.state, made.created, made.request) == ("queued", 1000.0, '{"file": "a.pdf"}')
    clock.now += 5
    claimed = queue.claim("w1")
    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.started, claimed.attempts) == (made.id, "running", 1005.0, 1)
    assert queue.claim("w2") is None
    reported = queue.renew(made.id, "w1", stage="parsing", done=3, total=12)
    assert (reported.stage, reported.done, reported.total, reported.cancelling) == ("parsing", 3, 12, False)
    clock.now += 5
    ended = queue.finish(made.id, "w1", state="succeeded", result='{"paper": "p"}')
    assert (ended.state, ended.result, ended.finished, ended.ended) == ("succeeded", '{"paper": "p"}', 1010.0, True)
    assert queue.get(made.id) == ended


def test_jobs_are_claimed_in_the_order_they_came_and_listed_newest_first(queue: JobQueue) -> None:
    ids = [queue.create("add", str(number)).id for number in range(5)]
    assert [job.id for job in queue.all()] == ids[::-1]
    assert [job.id for job in queue.all(limit=2)] == ids[:2:-1]
    claimed = [queue.claim("w") for _ in range(6)]
    assert [job.id for job in claimed if job] == ids
    assert claimed[5] is None
    assert queue.counts() == {"running": 5}


def test_an_expired_lease_passes_to_another_worker_and_the_first_gets_an_error(queue: JobQueue, clock: Clock) -> None:
    made = queue.create("add", "{}")
    queue.claim("w1")
    clock.now += LEASE_SECONDS - 1
    queue.renew(made.id, "w1")
    clock.now += LEASE_SECONDS - 1
    assert queue.claim("w2") is None
    clock.now += 2
    assert queue.claim("w2") is None
    again = queue.claim("w2", quarantined=True)
    assert again is not None
    assert (again.id, again.attempts, again.started) == (made.id, 2, 1000.0)
    with pytest.raises(JobLostError, match=made.id):
        queue.renew(made.id, "w1")
    with pytest.raises(JobLostError):
        queue.finish(made.id, "w1", state="succeeded")
    assert queue.finish(made.id, "w2", state="succeeded").state == "succeeded"


def test_a_job_that_kills_its_workers_fails_and_says_so(queue: JobQueue) -> None:
    made = queue.create("add", "{}")
    for number in range(ATTEMPTS):
        assert queue.claim(f"w{number}", quarantined=number > 0) is not None
        assert queue.release(f"w{number}", died=True) == [made.id]
    assert queue.claim("last", quarantined=True) is None
    failed = queue.get(made.id)
    assert failed.state == "failed"
    assert f"{ATTEMPTS - 1} workers died while they worked on this job only" in failed.error


def test_the_jobs_of_a_worker_that_died_are_in_quarantine_and_block_no_others(queue: JobQueue) -> None:
    deadly, harmless = queue.create("add", "1"), queue.create("add", "2")
    for _ in range(2):
        queue.claim("w")
    queue.release("w", died=True)
    assert (queue.get(harmless.id).state, queue.get(harmless.id).stage) == ("queued", "in quarantine")
    assert queue.pending() == (False, True, False)
    new = queue.create("add", "3")
    assert queue.pending() == (True, True, False)
    claimed = queue.claim("w2")
    assert claimed is not None
    assert claimed.id == new.id
    assert queue.claim("w2") is None
    for expected in (deadly.id, harmless.id, deadly.id):
        alone = queue.claim("q", quarantined=True)
        assert alone is not None
        assert alone.id == expected
        if expected == deadly.id:
            queue.release("q", died=True)
        else:
            queue.finish(harmless.id, "q", state="succeeded")
    assert queue.pending() == (False, True, True)


def test_a_shutdown_leaves_a_job_in_quarantine(queue: JobQueue) -> None:
    queue.create("add", "{}")
    queue.claim("w")
    queue.release("w", died=True)
    queue.claim("q", quarantined=True)
    queue.release("q", died=False)
    assert queue.pending() == (False, True, False)


def test_a_worker_that_was_asked_to_end_gives_its_jobs_back_uncounted(queue: JobQueue) -> None:
    made = queue.create("add", "{}")
    for _ in range(2 * ATTEMPTS):
        assert queue.claim("w") is not None
        queue.release("w", died=False)
    assert queue.get(made.id).state == "queued"
    assert queue.get(made.id).attempts == 0


def test_cancelling_ends_a_queued_job_and_notifies_the_worker_of_a_running_one(queue: JobQueue) -> None:
    waiting, running = queue.create("add", "1"), queue.create("batch", "2")
    assert queue.cancel(waiting.id).state == "cancelled"
    claimed = queue.claim("w")
    assert claimed is not None
    assert claimed.id == running.id
    assert queue.cancel(running.id).state == "running"
    assert queue.renew(running.id, "w").cancelling
    assert queue.finish(running.id, "w", state="cancelled").cancelling is False
    assert queue.cancel(running.id).state == "cancelled"


def test_a_cancelled_job_whose_worker_died_is_not_begun_again(queue: JobQueue) -> None:
    made = queue.create("add", "{}")
    queue.claim("w")
    queue.cancel(made.id)
    queue.release("w", died=True)
    assert queue.claim("w2", quarantined=True) is None
    assert queue.get(made.id).state == "cancelled"


def test_jobs_outlive_the_process_that_made_them(tmp_path: Path) -> None:
    first = Store.open(tmp_path)
    made = first.jobs.create("add", "{}")
    first.close()
    second = Store.open(tmp_path)
    assert second.jobs.get(made.id) == made
    second.close()


def test_two_workers_never_get_the_same_job(queue: JobQueue) -> None:
    for number in range(40):
        queue.create("add", str(number))
    got: list[str] = []

    def work(owner: str) -> None:
        while job := queue.claim(owner):
            got.append(job.id)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 40


def test_old_ended_jobs_are_forgotten_and_others_kept(queue: JobQueue, clock: Clock) -> None:
    old, open_one = queue.create("add", "1"), queue.create("add", "2")
    queue.cancel(old.id)
    clock.now += 100
    new = queue.create("add", "3")
    queue.cancel(new.id)
    assert queue.forget(seconds=50) == [old.id]
    assert {job.id for job in queue.all()} == {open_one.id, new.id}
    with pytest.raises(UnknownJobError, match=old.id):
        queue.get(old.id)


def test_a_job_ends_in_a_state_that_is_an_end(queue: JobQueue) -> None:
    made = queue.create("add", "{}")
    queue.claim("w")
    with pytest.raises(ValueError, match="running"):
        queue.finish(made.id, "w", state="running")


def test_a_reserved_job_waits_for_its_service_until_that_has_ended(queue: JobQueue, clock: Clock) -> None:
    made = queue.create("add", "{}", reserved="one")
    assert (queue.pending().new, queue.pending(service="one").new) == (False, True)
    assert queue.claim("w2", service="two") is None
    queue.claim("w1", service="one")
    queue.release("w1", died=True)
    assert queue.claim("w2", quarantined=True, service="two") is None
    clock.now += RESERVATION_SECONDS - 1
    queue.reserve("one")
    clock.now += RESERVATION_SECONDS - 1
    assert not queue.pending(service="two").quarantined
    queue.end_reservations("one")
    claimed = queue.claim("w2", quarantined=True, service="two")
    assert claimed is not None
    assert claimed.id == made.id
    # A service that no longer extends its reservations is gone.
    late = queue.create("add", "{}", reserved="one")
    clock.now += RESERVATION_SECONDS + 1
    found = queue.claim("w2", service="two")
    assert found is not None
    assert found.id == late.id


def test_a_reserved_job_whose_lease_ends_waits_for_its_service_too(queue: JobQueue, clock: Clock) -> None:
    made = queue.create("add", "{}", reserved="one")
    for number in range(2):
        assert queue.claim(f"w{number}", quarantined=number > 0, service="one") is not None
        clock.now += LEASE_SECONDS + 1
        assert not queue.pending(service="two").quarantined
        assert queue.claim("other", quarantined=True, service="two") is None
    clock.now += RESERVATION_SECONDS
    claimed = queue.claim("other", quarantined=True, service="two")
    assert claimed is not None
    assert claimed.id == made.id


def test_times_are_those_of_the_library(stored: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored.database, "now", lambda: 5000.0)
    assert JobQueue(stored.database).create("add", "{}").created == 5000.0
