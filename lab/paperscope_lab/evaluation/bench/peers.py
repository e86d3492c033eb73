"""`bench peers`: complete systems on the same papers, questions and scripted model."""

import argparse
import json
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.bench.scripted_model import scripted_model
from paperscope_lab.evaluation.bench.serve import processes
from paperscope_lab.evaluation.peers.client import PEERS_PYTHON, peer_environment
from paperscope_lab.evaluation.rendering import table
from service.batch import Question, load_questions

__all__ = ["DESCRIPTION", "HELP", "add_options", "run"]

HELP = "seconds, calls and memory of complete systems"
DESCRIPTION = "Adds papers to Paperscope, LightRAG and PaperQA and asks questions, each call of a model taking 0.2 s."
_SECONDS = 0.2
_COUNTS = ("calls", "characters", "pictures", "embeddings")


def add_options(peers: argparse.ArgumentParser) -> None:
    """Add the options of `peers`."""
    peers.add_argument("files", type=Path, nargs="+", metavar="FILE", help="PDF files")
    peers.add_argument("--questions", type=Path, required=True, metavar="FILE", help="a file of questions")
    peers.add_argument("--python", type=Path, default=PEERS_PYTHON, metavar="FILE", help="the peers' interpreter")
    add_out(peers)


def run(options: argparse.Namespace) -> int:
    """Return 0, or 1 if a system did not answer all questions. Raises QuestionFileError."""
    questions = [question.text for question in load_questions(options.questions) if isinstance(question, Question)]
    files = [str(file.resolve()) for file in options.files]
    pythons = {"paperscope": sys.executable, **dict.fromkeys(("lightrag", "paperqa"), str(options.python.absolute()))}
    found = [_run_system(python, system, files, questions) for system, python in pythons.items()]
    rows = [
        [one["system"], phase, f"{one[phase]['seconds']:.1f}", *(f"{one[phase][name]:,}" for name in _COUNTS)]
        for one in found
        for phase in ("papers", "questions")
    ]
    notes = [f"{one['system']}: {one['answered']} answers, {one['memory_mb']:.0f} MB{one['error']}" for one in found]
    print_page([*table(["system", "", "seconds", *_COUNTS], rows), *notes])
    write_figures(options.out, found)
    return 1 if any(one["answered"] < len(questions) for one in found) else 0


def _run_system(python: str, system: str, files: list[str], questions: list[str]) -> dict[str, Any]:
    """Run a system in an empty folder, and count its calls until the papers are ready and for the questions."""
    traffic: Counter[str] = Counter()
    counted = [(time.perf_counter(), traffic.copy())]
    memory, lines = [0.0], []
    module = "paperscope_lab.evaluation.peers.complete_systems"
    command = [python, "-m", module, json.dumps({"system": system, "files": files, "questions": questions})]
    with TemporaryDirectory() as folder, scripted_model(traffic, seconds=_SECONDS) as url:
        keys = {"OPENAI_API_KEY": "unused", "OPENAI_BASE_URL": url, "OPENAI_API_BASE": url}
        environment = peer_environment(folder) | keys | {"PAPERSCOPE_MODEL": "scripted"}
        log = Path(folder, "log")
        with (
            log.open("w") as errors,
            Popen(command, cwd=folder, env=environment, stdout=PIPE, stderr=errors, text=True) as process,  # noqa: S603
        ):
            Thread(target=_watch, args=(process, memory), daemon=True).start()
            for line in process.stdout or ():
                lines.append(json.loads(line))
                counted.append((time.perf_counter(), traffic.copy()))
        error = f"; failed: {log.read_text().splitlines()[-1:]}" if process.returncode else ""
    found = {"system": system, "answered": len(lines[1:]), "memory_mb": max(memory), "error": error}
    ready = counted[min(1, len(lines))]
    for phase, before, after in (("papers", counted[0], ready), ("questions", ready, counted[-1])):
        found[phase] = {name: after[1][name] - before[1][name] for name in _COUNTS} | {"seconds": after[0] - before[0]}
    return found


def _watch(process: Popen[str], memory: list[float]) -> None:
    """Measure the memory of a process and its descendants, each shared page once (Linux only; 0 elsewhere)."""
    while process.poll() is None:
        with suppress(OSError, IndexError):  # a descendant has ended meanwhile
            found = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in processes(process.pid)]
            memory.append(sum(int(text.split("Pss:")[1].split()[0]) for text in found) / 1024)
        time.sleep(0.2)
