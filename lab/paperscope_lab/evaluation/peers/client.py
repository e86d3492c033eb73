"""Starts a peer's process, sends it a job and reads its results."""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from paperscope_core.codec import from_json, to_json
from paperscope_core.files import output_errors
from paperscope_core.types import IndexedPaper
from paperscope_lab.evaluation.peers.protocol import (
    PeerAnswer,
    PeerDocument,
    PeerIndexed,
    PeerJob,
    PeerLine,
    Unit,
)
from paperscope_lab.evaluation.peers.systems import SETUP

__all__ = ["PEERS_PYTHON", "PeerResults", "peer_document", "peer_environment", "run_peer"]


_RUNNER = "paperscope_lab.evaluation.peers.runner"
_ROOT = Path(__file__).resolve().parents[4]
PEERS_PYTHON = _ROOT / ".venv-peers/bin/python"
# Environment variables passed to the process; keys and settings are not.
_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "TMPDIR")
_SET = {
    "PYTHONPATH": os.pathsep.join((str(_ROOT), str(_ROOT / "lab"))),
    "PYTHONSAFEPATH": "1",
    "PYTHONHASHSEED": "0",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PIP_NO_INDEX": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def peer_document(indexed: IndexedPaper, *, file: Path | None) -> PeerDocument:
    """Convert a paper and its chunks, which keep their ids; `file` is its PDF, None if it has none."""
    paper = indexed.paper
    pages = {element.id: element.place.page for element in paper.elements}
    chunks_with: dict[str, list[str]] = {}
    for chunk in indexed.chunks:
        for element in chunk.elements:
            chunks_with.setdefault(element, []).append(chunk.id)

    def chunks(elements: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chunk for element in elements for chunk in chunks_with.get(element, ())))

    return PeerDocument(
        id=paper.id,
        title=paper.title,
        file=str(file.resolve()) if file else "",
        units=tuple(
            Unit(
                id=chunk.id,
                text=chunk.text,
                pages=tuple(sorted({chunk.place.page, *(pages[element] for element in chunk.elements)})),
            )
            for chunk in indexed.chunks
        ),
        entities=tuple(
            replace(entity, sources=chunks(entity.sources), mentions=()) for entity in indexed.extraction.entities
        ),
        relations=tuple(
            replace(relation, sources=chunks(relation.sources)) for relation in indexed.extraction.relations
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerResults:
    """The results per indexed corpus and per question, in the job's order.

    `package` names the peer and its version. `note` says why results are missing (the peer isn't installed, or its
    process failed); it is "" if the job was completed.
    """

    system: str
    package: str = ""
    indexed: tuple[PeerIndexed, ...] = ()
    answers: tuple[PeerAnswer, ...] = ()
    note: str = ""


def run_peer(job: PeerJob, *, python: Path = PEERS_PYTHON, timeout: float | None = None) -> PeerResults:
    """Run a peer in a separate process with the interpreter `python`, for at most `timeout` seconds.

    The process works in an empty folder, which is also its home, and gets no keys. A failure of the peer is reported in
    the results. Raises OutputError if the job can't be written.
    """
    if not python.is_file():
        return PeerResults(system=job.system, note=f"not installed: no {str(python)!r}; run {SETUP}")
    with tempfile.TemporaryDirectory(prefix="paperscope-peer-") as folder:
        job_file, result_file = Path(folder) / "job.json", Path(folder) / "result.jsonl"
        with output_errors(job_file):
            job_file.write_text(to_json(job), encoding="utf-8")
        note = _run([str(python), "-m", _RUNNER, str(job_file), str(result_file)], folder, timeout)
        lines = list(_complete_lines(result_file))
    missing = next((line.missing for line in lines if line.missing), "")
    return PeerResults(
        system=job.system,
        package=next((line.package for line in lines if line.package), ""),
        indexed=tuple(line.indexed for line in lines if line.indexed),
        answers=tuple(line.answer for line in lines if line.answer),
        note=f"not installed: no module {missing!r}; run {SETUP}" if missing else note,
    )


def peer_environment(folder: str) -> dict[str, str]:
    """Return the environment variables of a peer whose home is a folder: without keys and settings."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | _SET | {"HOME": folder}


def _run(command: list[str], folder: str, timeout: float | None) -> str:
    environment = peer_environment(folder)
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return f"stopped after {timeout:.0f} s"
    except OSError as error:
        return f"failed: {command[0]!r} can't be run ({error.strerror}); run {SETUP}"
    if done.returncode == 0:
        return ""
    reason = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}, no reason given"])[-1]
    return f"failed: {reason}"


def _complete_lines(file: Path) -> Iterator[PeerLine]:
    """Yield the lines up to one that is incomplete."""
    # Not `splitlines`: a JSON string may contain U+2028 and other line separators unescaped.
    for line in file.read_bytes().split(b"\n") if file.is_file() else ():
        try:
            yield from_json(PeerLine, line)
        except ValueError:
            return
