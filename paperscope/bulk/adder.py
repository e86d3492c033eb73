"""Adds many papers on a cluster: keeps its workers busy, answers their calls, and replaces those that die."""

import asyncio
import logging
import pickle
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from paperscope.adding import Adder, AddRequest, AddResult, Stage
from paperscope.bulk.cluster import Cluster
from paperscope.bulk.mailbox import Call, Mailbox
from paperscope.bulk.paper_worker import GpuEmbedder, PaperWorker, Work, without_secrets
from paperscope.sources import PaperSource
from paperscope_core.errors import InputError, ModelError, ModelUnavailableError, PaperFileError, PaperscopeError

__all__ = ["BulkReport", "ClusterAdder", "OnDone", "OnStages"]

_log = logging.getLogger(__name__)

# A paper during which a worker died is tried again by others: the next one may have more memory.
_ATTEMPTS = 3
_WAITING = Stage(name="waiting")
# Papers that are read while all workers are busy, so that none waits for a file.
_AHEAD = 2
# A GPU that others use is not free sooner; loading the weights takes seconds.
_GPU_SECONDS = 60.0
# Calls beside those of models that a worker may make at once: the store's, and reports of its stage.
_CALLS = 32

# What workers may call, by target.
_LOOKUPS = "entry entry_by_sha256 entry_by_source indexed embedder_of crop"
_STORE_METHODS = frozenset(
    f"check_room get_call lease_call release_call put_call get_vectors put_vectors {_LOOKUPS} add".split()
)
_MODEL_METHODS = frozenset({"complete", "redacted", "embed"})

OnDone = Callable[[PaperSource, AddResult | PaperscopeError], None]
OnStages = Callable[[int, Mapping[str, Stage]], None]


@dataclass(kw_only=True, slots=True)
class BulkReport:
    """What came of adding many papers.

    Attributes:
        outcomes: How many papers were added, replaced and unchanged.
        failed: Why papers were not added, by path or address.
        pages: The pages of those that were added or replaced.
        seconds: How long it took, without the start of the cluster.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    pages: int = 0
    seconds: float = 0.0

    @property
    def papers_per_minute(self) -> float:
        """How many papers were added or replaced in a minute."""
        return self._per_minute(self.outcomes["added"] + self.outcomes["replaced"])

    @property
    def pages_per_minute(self) -> float:
        """How many of their pages were read in a minute."""
        return self._per_minute(self.pages)

    def note(self, source: PaperSource, result: AddResult | PaperscopeError) -> None:
        """Count a result."""
        if isinstance(result, PaperscopeError):
            self.failed[source.address] = str(result)
            return
        self.outcomes[result.outcome] += 1
        if result.outcome != "unchanged":
            self.pages += len(result.paper.pages)

    def _per_minute(self, number: int) -> float:
        return 60 * number / self.seconds if self.seconds else 0.0


class ClusterAdder:
    """Adds papers on a cluster to a library of this process.

    This process reads the files, calls models on servers and writes the library; workers do everything else of the
    pipeline. They get the files and the settings, but no keys.
    """

    def __init__(self, adder: Adder, cluster: Cluster) -> None:
        self._adder = Adder(adder.store, adder.models, adder.settings, originals=adder.originals, send=self._send)
        self._cluster = cluster
        self._ray = cluster.ray
        self._numbers = count(1)
        self._stages: dict[int, tuple[str, Stage]] = {}
        self._requests: dict[int, AddRequest] = {}
        # Workers that wait for a paper, and all of them.
        self._idle: asyncio.Queue[Any] = asyncio.Queue()
        self._workers: list[Any] = []
        self._failed_starts = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._targets: Mapping[str, object] = {
            "store": adder.store,
            "extract": adder.models.extract,
            "vision": adder.models.vision,
            "embed": adder.models.embedder,
        }
        self._open_actors()

    def _open_actors(self) -> None:
        """Create the actors that live as long as the cluster is used."""
        settings, ray = self._adder.settings, self._ray
        calls = 2 * settings.calls.concurrency + _CALLS
        self._mailbox = ray.remote(Mailbox).options(num_cpus=0, max_concurrency=calls * self._cluster.workers).remote()
        self._embedders: list[Any] = []
        if settings.embed.local:
            gpu = ray.remote(GpuEmbedder).options(num_cpus=0, num_gpus=1, max_restarts=-1, max_task_retries=_ATTEMPTS)
            self._embedders = [gpu.remote(settings.embed.model) for _ in range(self._cluster.gpus)]

    async def add_all(
        self,
        sources: Sequence[PaperSource],
        *,
        password: str | None,
        on_done: OnDone,
        on_stages: OnStages,
    ) -> BulkReport:
        """See `Library.add_on_ray`."""
        report, started = BulkReport(), time.monotonic()
        waiting, running = iter(sources), dict[asyncio.Task[AddResult], PaperSource]()
        done = 0
        try:
            self._start(self._answer_calls())
            await self._check_embedders()
            for _ in range(self._cluster.workers):
                self._start_worker()
            while True:
                while len(running) < self._cluster.workers + _AHEAD and (source := next(waiting, None)) is not None:
                    running[asyncio.create_task(self._add(source, password))] = source
                if not running:
                    break
                ended, _ = await asyncio.wait([*running, *self._tasks], timeout=1.0, return_when="FIRST_COMPLETED")
                self._check_tasks()
                for task in [one for one in running if one in ended]:
                    source, result = running.pop(task), _result(task)
                    report.note(source, result)
                    on_done(source, result)
                    done += 1
                on_stages(done, dict(self._stages.values()))
        finally:
            report.seconds = time.monotonic() - started
            await self._stop(running)
        return report

    async def _check_embedders(self) -> None:
        """Leave embedding to the workers if the GPUs can't be used, or others use them."""
        asked = [embedder.load.remote() for embedder in self._embedders]
        try:
            async with asyncio.timeout(_GPU_SECONDS):
                await asyncio.gather(*asked)
        except (TimeoutError, self._ray.exceptions.RayError) as error:
            _log.warning("the cluster's GPUs can't be used (%s); workers embed on their CPU", _first_line(error))
            for embedder in self._embedders:
                self._ray.kill(embedder)
            self._embedders = []

    async def _add(self, source: PaperSource, password: str | None) -> AddResult:
        number = next(self._numbers)
        self._stages[number] = source.name, _WAITING

        def on_stage(stage: Stage) -> None:
            self._stages[number] = source.name, stage

        max_mb = self._adder.settings.limits.max_file_mb
        try:
            # Fetching takes long.
            make = partial(AddRequest.of, source, max_mb=max_mb, password=password, on_stage=on_stage)
            return await self._adder.add(await asyncio.to_thread(make))
        finally:
            del self._stages[number]

    async def _send(self, request: AddRequest) -> AddResult:
        """Implement `SendRequest` with a worker."""
        folder = await asyncio.to_thread(_read, request.file.path, max_mb=self._adder.settings.limits.max_file_mb)
        work = Work(
            number=next(self._numbers),
            file=replace(request.file, path=Path(request.file.name), password=None),
            folder=folder,
            source=request.source or "",
            replaces=request.replaces,
        )
        self._requests[work.number] = request
        try:
            return await self._add_by_worker(work, request.file.password)
        finally:
            del self._requests[work.number]

    async def _add_by_worker(self, work: Work, password: str | None) -> AddResult:
        """Let a worker add a paper, and another one if that dies.

        Raises:
            PaperFileError: Each worker died, or failed in a way that nobody foresaw.
        """
        errors = self._ray.exceptions
        reason = ""
        for _ in range(_ATTEMPTS):
            worker = await self._idle.get()
            try:
                result = await worker.add.remote(work, password)
            except errors.RayTaskError as error:
                self._idle.put_nowait(worker)
                _log.warning("%s: a worker failed in an unexpected way", work.file.name, exc_info=error)
                raise PaperFileError(
                    f"{work.file.name!r}: the worker failed on something unexpected "
                    f"({_first_line(error.cause)}); please report it with the file"
                ) from error
            except errors.RayError as error:
                reason = _reason(error)
                self._requests[work.number].on_stage(_WAITING)
                self._replace(worker)
            else:
                self._idle.put_nowait(worker)
                if isinstance(result, PaperscopeError):
                    raise result
                added: AddResult = result
                return added
        raise PaperFileError(
            f"{work.file.name!r} was given up: {_ATTEMPTS} workers died while they added it ({reason}). If it was "
            "for a lack of memory, run fewer workers (--workers), or on larger machines; then add it again."
        )

    def _start_worker(self) -> None:
        """Start a worker, which waits for papers once it is ready."""
        embedder = self._embedders[len(self._workers) % len(self._embedders)] if self._embedders else None
        actor = self._ray.remote(PaperWorker).options(num_cpus=1)
        worker = actor.remote(self._mailbox, without_secrets(self._adder.settings), embedder)
        self._workers.append(worker)

        async def wait_until_ready() -> None:
            try:
                await worker.ready.remote()
            except self._ray.exceptions.RayError as error:
                self._failed_starts += 1
                # Such as without memory, in which case another machine may have some.
                if getattr(error, "actor_init_failed", False) or self._failed_starts == _ATTEMPTS:
                    raise InputError(f"--ray: a worker can't start ({_first_line(error)})") from error
                self._replace(worker)
            else:
                self._failed_starts = 0
                self._idle.put_nowait(worker)

        self._start(wait_until_ready())

    def _replace(self, worker: Any) -> None:  # noqa: ANN401
        self._ray.kill(worker)
        self._workers.remove(worker)
        self._start_worker()

    async def _answer_calls(self) -> None:
        """Take the calls of the workers from the mailbox, and answer each in a task."""
        while True:
            try:
                taken = await self._mailbox.take.remote()
            except self._ray.exceptions.RayError as error:
                raise InputError(
                    f"--ray: the cluster ended or can't be reached ({_reason(error)}); what is finished is kept; run "
                    "the same command again"
                ) from error
            for number, data in taken:
                self._start(self._answer(number, data))

    async def _answer(self, number: int, data: bytes) -> None:
        try:
            result: object = await self._call(pickle.loads(data))  # noqa: S301 # of our workers
        except Exception as error:  # noqa: BLE001 # its caller raises it
            result = error
        self._mailbox.answer.remote(number, await asyncio.to_thread(pickle.dumps, result))

    async def _call(self, call: Call) -> object:
        if call.target == "stages":
            if (request := self._requests.get(call.work)) is not None:
                request.on_stage(*call.arguments)  # type: ignore[arg-type] # a stage
            return None
        if call.method not in (_STORE_METHODS if call.target == "store" else _MODEL_METHODS):
            raise ValueError(f"workers may not call {call.target}.{call.method}")
        method = getattr(self._targets[call.target], call.method)
        if call.method in ("complete", "embed"):
            return await method(*call.arguments)
        return await asyncio.to_thread(method, *call.arguments, **(call.options or {}))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    def _check_tasks(self) -> None:
        """Raise the error of a task that ended with one."""
        for task in [one for one in self._tasks if one.done()]:
            self._tasks.remove(task)
            task.result()

    async def _stop(self, running: Mapping[asyncio.Task[AddResult], PaperSource]) -> None:
        """End all workers and what waits for them. Model calls in progress end, and their replies are stored."""
        for worker in self._workers:
            self._ray.kill(worker)
        tasks = [*running, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._adder.models.aclose()
        for actor in (*self._embedders, self._mailbox):
            self._ray.kill(actor)


def _result(task: asyncio.Task[AddResult]) -> AddResult | PaperscopeError:
    """Return the result of an add, or why this paper can't be added. Raises what every further paper would meet."""
    try:
        return task.result()
    except ModelUnavailableError:
        raise
    except (InputError, ModelError) as error:
        return error


def _read(path: Path, *, max_mb: int) -> dict[str, bytes]:
    """Return the files in a folder of MinerU by path; none for a file, whose content is read. Raises PaperFileError."""
    from ingest.parsers import check_bytes

    try:
        files = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink()]
        check_bytes(sum(file.stat().st_size for file in files), max_mb=max_mb, name=path.name)
        return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}
    except OSError as error:
        raise PaperFileError(
            f"{path.name}: can't be read ({error.strerror}); check the path and its rights", where=path
        ) from error


def _reason(error: Exception) -> str:
    """Why a worker died, in a few words."""
    text = str(error)
    for sign, reason in (
        ("OOM", "out of memory"),
        ("memory", "perhaps out of memory"),
        ("node", "its machine is gone"),
    ):
        if sign in text:
            return reason
    return _first_line(error)


def _first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
