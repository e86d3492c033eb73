"""`bench ingest`: papers a minute on a Ray cluster, and whether kills change what a library holds."""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymupdf

from graph_store import Store
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.rendering import table

__all__ = ["DESCRIPTION", "HELP", "Ingestion", "add_options", "differences", "make_papers", "ray_workers", "run"]

HELP = "papers a minute on a Ray cluster, with and without kills"
DESCRIPTION = (
    "Adds synthetic papers and others with `paperscope add --ray local`, twice: once undisturbed, and once while "
    "workers and the command itself are killed in turn and the command is run again. Compares what the libraries hold, "
    "and, for a part of the papers, with one made by `paperscope add` alone. Fails if they differ."
)
_WORKER = "ray::PaperWorker"
_ADD = (sys.executable, "-c", "from service.cli import main; main()", "add", "--json")
_ROOT = Path(__file__).resolve().parents[4]
# Vectors of one text differ by this much with the texts that it is embedded with.
_VECTOR_ERROR = 1e-4
_WORDS = (
    "tagger corpus sentence entity parser model score encoder gazetteer treebank annotation label baseline token "
    "vector language domain transfer training evaluation"
).split()


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingestion:
    """How fast papers were added in one way.

    Attributes:
        seconds: From the start of the first command to the end of the last one.
        kills: How often a worker or the command was killed.
    """

    way: str
    papers: int
    pages: int
    seconds: float
    kills: int = 0

    @property
    def papers_per_minute(self) -> float:
        """The papers that were added in a minute."""
        return 60 * self.papers / self.seconds if self.seconds else 0.0


def add_options(ingest: argparse.ArgumentParser) -> None:
    """Adds the options of `ingest`."""
    ingest.add_argument("files", nargs="*", type=Path, metavar="PATH", help="further papers, or folders of papers")
    ingest.add_argument("--papers", type=int, default=1000, metavar="N", help="synthetic papers (default: 1000)")
    ingest.add_argument("--workers", type=int, default=2, metavar="N", help="workers (default: 2)")
    ingest.add_argument("--kills", type=int, default=5, metavar="N", help="workers and commands killed (default: 5)")
    ingest.add_argument("--seed", type=int, default=7, metavar="N", help="of the papers and the kills (default: 7)")
    ingest.add_argument(
        "--alone",
        type=int,
        default=100,
        metavar="N",
        help="synthetic papers that one process adds beside the other papers (default: 100)",
    )
    ingest.add_argument("--work", type=Path, metavar="DIR", help="keep papers and libraries in this folder")
    add_out(ingest)


def run(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if the libraries differ."""
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        made = make_papers(work / "papers", count=options.papers, seed=options.seed)
        some = work / "some-papers"
        shutil.rmtree(some, ignore_errors=True)
        some.mkdir()
        for file in made[: options.alone]:
            (some / file.name).symlink_to(file.resolve())
        ray = ("--ray", "local", "--workers", str(options.workers))
        all_papers = (str(work / "papers"), *map(str, options.files))
        libraries = {name: work / f"library-{name}" for name in ("alone", "ray", "killed")}
        for library in libraries.values():
            shutil.rmtree(library, ignore_errors=True)
        alone = (str(some), *map(str, options.files))
        rows = [
            _ingest("one process", libraries["alone"], alone, kills=[]),
            _ingest(f"Ray, {options.workers} workers", libraries["ray"], (*ray, *all_papers), kills=[]),
        ]
        kills = _moments(random.Random(options.seed), rows[1].papers, options.kills)  # noqa: S311
        rows.append(_ingest("Ray, killed", libraries["killed"], (*ray, *all_papers), kills=kills))
        found = {name: differences(libraries["ray"], libraries[name]) for name in ("alone", "killed")}
    print_page([*_report(rows), *_verdicts(found)])
    write_figures(options.out, {"ways": rows, "differences": found})
    return 1 if any(found.values()) or len({row.papers for row in rows[1:]}) > 1 else 0


def make_papers(folder: Path, *, count: int, seed: int) -> list[Path]:
    """Writes PDFs of one page with headings, paragraphs and a table, each with its own names and numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"synthetic-{number:05}.pdf" for number in range(1, count + 1)]
    for number, file in enumerate(files, start=1):
        if not file.exists():
            file.write_bytes(_pdf(number, random.Random(f"{seed}/{number}")))  # noqa: S311
    return files


def _pdf(number: int, chance: random.Random) -> bytes:
    name, other = f"Tag{chance.choice(_WORDS).capitalize()}{number}", f"Base{number}"
    scores = [f"{chance.uniform(50, 99):.2f}" for _ in range(4)]
    text = " ".join(
        f"The {name} {chance.choice(_WORDS)} of paper {number} has an F1 of {chance.choice(scores)} on the "
        f"{chance.choice(_WORDS)} {chance.choice(_WORDS)}, and {other} does without a {chance.choice(_WORDS)}."
        for _ in range(5)
    )
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 80), f"On the {name} {chance.choice(_WORDS)} of {number}", fontsize=18)
        page.insert_text((72, 104), "Ann Author and Bob Writer", fontsize=11)
        for top, heading, paragraph in ((140, "1 Introduction", text), (300, "2 Results", text[: len(text) // 2])):
            page.insert_text((72, top), heading, fontsize=13)
            page.insert_textbox((72, top + 10, 520, top + 140), paragraph, fontsize=10)
        page.insert_text((72, 440), f"Table 1: F1 of {name} and {other} on two corpora.", fontsize=9)
        rows = (("System", "CoNLL", "WNUT"), (name, *scores[:2]), (other, *scores[2:]))
        for line, row in enumerate(rows):
            for column, cell in enumerate(row):
                page.insert_text((90 + 130 * column, 462 + 16 * line), cell, fontsize=9)
        for height in (450, 467, 502):
            page.draw_line((80, height), (470, height))
        # Without it, each file has an id of its time, and so another hash.
        data: bytes = document.tobytes(no_new_id=True)
    return data


def _moments(chance: random.Random, papers: int, kills: int) -> list[int]:
    """After how many papers something is killed."""
    return sorted(chance.sample(range(1, papers), min(kills, papers - 1)))


def _ingest(way: str, library: Path, arguments: Sequence[str], *, kills: Sequence[int]) -> Ingestion:
    """Adds papers, and kills the command and a worker in turn, each after so many papers."""
    pages: dict[str, int] = {}
    remaining, done, started = list(kills), 0, time.monotonic()
    ended = False
    while not ended:
        command = [*_ADD, "--library", str(library), *arguments]
        process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=_ROOT, text=True
        )
        for row in _rows(process):
            if row.get("paper"):
                pages[str(row["paper"])] = int(str(row["pages"]))
            while remaining and len(pages) >= remaining[0]:
                remaining.pop(0)
                done += 1
                if not _kill(process, worker=done % 2 == 0):
                    raise RuntimeError("there was no worker to kill")
        ended = process.wait() >= 0
        sys.stderr.write(f"{way}: {len(pages)} papers, {done} kills, {time.monotonic() - started:.0f} s\n")
    seconds = time.monotonic() - started
    return Ingestion(way=way, papers=len(pages), pages=sum(pages.values()), seconds=seconds, kills=done)


def _rows(process: "subprocess.Popen[str]") -> Iterator[dict[str, object]]:
    """The rows that the command prints, until it ends."""
    for line in process.stdout or ():
        # The last line of a killed process may be a part of one.
        if line.endswith("\n"):
            yield json.loads(line)


def _kill(process: "subprocess.Popen[str]", *, worker: bool) -> bool:
    """Kills the command, or one of its workers, if it has one."""
    if not worker:
        process.kill()
        return True
    workers = ray_workers(process.pid)
    for pid in workers[:1]:
        os.kill(pid, signal.SIGKILL)
    return bool(workers)


def ray_workers(pid: int) -> list[int]:
    """The processes of the workers of the cluster that a process has started (Linux)."""
    return [child for child in _descendants(pid) if _title(child).startswith(_WORKER)]


def _descendants(pid: int) -> list[int]:
    """The processes that a process has started, directly and indirectly."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def differences(expected: Path, found: Path) -> list[str]:
    """What a library holds otherwise than the expected one: papers, chunks, entities, relations, pictures, vectors.

    The library may hold a part of the papers only; what papers share is then left out.
    """
    with closing(Store.open(expected, read_only=True)) as one, closing(Store.open(found, read_only=True)) as other:
        ids = {entry.id for entry in other.entries()}
        missing = {entry.id for entry in one.entries()} - ids
        listed = [f"{paper}: {what}" for paper in sorted(ids) for what in _paper_differences(one, other, paper)]
        if not missing:
            ours, theirs = one.snapshot(), other.snapshot()
            listed += [
                f"{name} differ" for name in ("entities", "relations") if _shared(ours, name) != _shared(theirs, name)
            ]
    return listed


def _shared(snapshot: object, name: str) -> object:
    """The merged entities or relations, comparable in any order."""
    values = getattr(snapshot, name)
    return dict(values) if name == "entities" else sorted(values, key=repr)


def _paper_differences(one: Store, other: Store, paper: str) -> Iterator[str]:
    expected, found = one.indexed(paper), other.indexed(paper)
    for name in ("paper", "chunks", "extraction", "images"):
        if getattr(expected, name) != getattr(found, name):
            yield f"{name} differ"
    if expected.vectors.shape != found.vectors.shape or not np.allclose(
        expected.vectors, found.vectors, atol=_VECTOR_ERROR
    ):
        yield "vectors differ"


def _report(rows: Sequence[Ingestion]) -> list[str]:
    cells = [
        (row.way, str(row.papers), str(row.pages), str(row.kills), f"{row.seconds:.0f}", f"{row.papers_per_minute:.1f}")
        for row in rows
    ]
    return table(("way", "papers", "pages", "kills", "seconds", "papers a minute"), cells)


def _verdicts(found: dict[str, list[str]]) -> Iterator[str]:
    for name, listed in found.items():
        yield f"{name} and ray: {'equal' if not listed else f'{len(listed)} differences: {listed[:5]}'}"
