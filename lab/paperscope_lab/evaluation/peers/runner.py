"""Runs one peer in a separate process, with the interpreter that has its packages."""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from paperscope_core.codec import from_json, to_json
from paperscope_lab.evaluation.peers.memory import peak_memory_mb
from paperscope_lab.evaluation.peers.protocol import (
    Index,
    PeerAnswer,
    PeerCorpus,
    PeerIndexed,
    PeerJob,
    PeerLine,
    System,
    describe_error,
)
from paperscope_lab.evaluation.peers.systems import SYSTEMS

__all__ = ["main", "refuse_network", "run_corpora"]


OnLine = Callable[[PeerLine], None]

_LOOPBACK = (None, "localhost", "127.0.0.1", "::1")


def main(arguments: list[str]) -> None:
    """Run the job in one file and write the results to another. Raises any error that stops the whole peer."""
    sys.addaudithook(refuse_network)
    job_file, result_file = map(Path, arguments)
    job = from_json(PeerJob, job_file.read_bytes())
    with result_file.open("w", encoding="utf-8") as stream:

        def write(line: PeerLine) -> None:
            stream.write(to_json(line) + "\n")
            stream.flush()

        peer = SYSTEMS[job.system]
        try:
            for name in peer.imports:
                import_module(name)
        except ModuleNotFoundError as error:
            write(PeerLine(missing=error.name or peer.package))
        else:
            write(PeerLine(package=f"{peer.package} {version(peer.package)}"))
            run_corpora(job, peer.system(Path(job.weights)), on_line=write)


def run_corpora(job: PeerJob, system: System, *, on_line: OnLine) -> None:
    """Index each corpus and ask its questions; `on_line` receives the outcome of each step."""
    for corpus in job.corpora:
        started = time.perf_counter()
        try:
            with system(corpus) as index:
                indexed = PeerIndexed(
                    corpus=corpus.name,
                    units=index.units,
                    seconds=round(time.perf_counter() - started, 3),
                    memory_mb=peak_memory_mb(),
                    problems=index.problems,
                )
                on_line(PeerLine(indexed=indexed))
                _ask(corpus, index, limit=job.limit, on_line=on_line)
        except Exception as error:  # noqa: BLE001 # any error of another library
            on_line(PeerLine(indexed=PeerIndexed(corpus=corpus.name, problems=(describe_error(error),))))


def _ask(corpus: PeerCorpus, index: Index, *, limit: int, on_line: OnLine) -> None:
    for question in corpus.questions:
        started = time.perf_counter()
        try:
            found = tuple(index.search(question.text, limit))[:limit]
        except Exception as error:  # noqa: BLE001 # any error of another library
            answer = PeerAnswer(corpus=corpus.name, question=question.id, problem=describe_error(error))
        else:
            seconds = round(time.perf_counter() - started, 4)
            answer = PeerAnswer(corpus=corpus.name, question=question.id, found=found, seconds=seconds)
        on_line(PeerLine(answer=answer))


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse, as an audit hook, network connections."""
    if event == "socket.getaddrinfo" and arguments[0] not in _LOOPBACK:
        raise ConnectionRefusedError(f"a peer tried to look up {arguments[0]!r}; it runs without a network")
    if event == "socket.connect" and isinstance(address := arguments[1], tuple) and address[0] not in _LOOPBACK:
        raise ConnectionRefusedError(f"a peer tried to reach {address!r}; it runs without a network")


if __name__ == "__main__":
    main(sys.argv[1:])
