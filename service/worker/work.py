"""What is done for a job of each kind."""

import asyncio
import hashlib
from pathlib import Path

from paperscope.codec import from_json, to_json
from paperscope.library import Library, Stage
from service.batch import BatchRunner
from service.job_files import JobFiles
from service.jobs import AddRequest, AddResult, BatchRequest
from service.opening import open_unlinked
from service.questions import parse_questions
from service.rows import BatchRow
from service.spending import current_work
from service.worker.held import Held

__all__ = ["clear_up", "do"]

# A worker that was stuck, and so lost its batch, is killed after a minute.
_PATIENCE_SECONDS = 120.0


async def do(held: Held, library: Library) -> str:
    """Do a job; its result as JSON text. Raises PaperscopeError."""
    current_work.set(held.job.kind)
    if held.job.kind == "add":
        return await _add(held, library)
    return await _answer(held, library)


def clear_up(held: Held) -> None:
    """Delete what an add that has ended needs no more: the library keeps a copy of its own of what was handed over."""
    if held.ended and held.job.kind == "add":
        JobFiles(held.folder).discard(held.job.id)


async def _add(held: Held, library: Library) -> str:
    request = from_json(AddRequest, held.job.request)
    file = Path(request.path) if request.path else JobFiles(held.folder).folder(held.job.id) / request.upload
    # A link may come between at any time; of another file the hash is another.
    sha256 = await asyncio.to_thread(_hash_of, file) if request.path else None
    added = await library.add_async(
        file,
        name=None if request.path else request.name,
        replaces=request.replaces,
        sha256=sha256,
        password=held.secret or None,
        on_stage=held.tell,
    )
    return to_json(AddResult.of(added))


def _hash_of(file: Path) -> str:
    with open_unlinked(file) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


async def _answer(held: Held, library: Library) -> str:
    request = from_json(BatchRequest, held.job.request)
    folder = JobFiles(held.folder).folder(held.job.id)
    questions = parse_questions((folder / request.file).read_bytes(), name=request.name)
    done: set[int] = set()

    def on_row(row: BatchRow) -> None:
        done.add(row.index)
        held.tell(Stage(name="answering", done=len(done), total=len(questions)))

    result = await BatchRunner(library, out=folder, patience=_PATIENCE_SECONDS).run_async(questions, on_row=on_row)
    return to_json(result.summary)
