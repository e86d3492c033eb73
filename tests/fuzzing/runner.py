"""Runs mutated cases of the targets, makes those with defects smaller, and repeats them; see `scripts/fuzz`.

A case has a defect if anything but a result or a `PaperscopeError` comes of it, if it takes too much time or memory, if
text of it is markup in an output, if the service fails, or if a file or process is left behind. The seed, the target
and the number of a case determine it, as long as the samples and mutations stay the same.
"""

import argparse
import gc
import hashlib
import logging
import os
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from unittest.mock import patch

from ingest import parsers
from ingest.extraction import pipeline
from tests.fuzzing.checks import DefectError, check
from tests.fuzzing.mutation import mutated
from tests.fuzzing.samples import Sample
from tests.fuzzing.targets import TARGETS, Target
from tests.growth import seconds_of

__all__ = ["Finding", "Tally", "fuzz", "replay"]

ROOT = Path(__file__).resolve().parent.parent.parent
# Of processor time in this process. Reading a file is limited in the child process.
_SECONDS = 20.0
# Of time, which other processes make longer.
_MAX_WAIT = 90.0
_MEMORY_MB = 500
_MAX_CHILDREN = 8
_MINIMIZING_SECONDS = 15.0
_PROGRESS_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A defect: where it shows, the traceback, and the file of its case."""

    where: str
    story: str
    name: str
    data: bytes


@dataclass
class Tally:
    """The number of cases of a target, the seconds that they took, and its findings by where they show."""

    cases: int = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict)


def fuzz(
    names: Sequence[str],
    *,
    seconds: float,
    seed: int,
    on_finding: Callable[[str, Finding], None] = lambda _name, _finding: None,
    on_case: Callable[[Mapping[str, Tally]], None] = lambda _tallies: None,
) -> Mapping[str, Tally]:
    """Runs cases of these targets, each for the same share of the time; Ctrl-C ends it."""
    tallies = {name: Tally() for name in names}
    with _set_up(names) as (targets, folder), suppress(KeyboardInterrupt):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name = min(names, key=lambda name: tallies[name].seconds)
            tally, started = tallies[name], time.monotonic()
            random = Random(f"{seed}/{name}/{tally.cases}")
            finding = _finding(targets[name], *_case(targets[name].samples, random), folder)
            if finding is not None and finding.where not in tally.findings:
                tally.findings[finding.where] = finding = _minimized(targets[name], finding, folder)
                on_finding(name, finding)
            tally.cases += 1
            tally.seconds += time.monotonic() - started
            on_case(tallies)
    return tallies


def replay(files: Sequence[Path]) -> Mapping[Path, Finding | None]:
    """Runs the cases in files, each in a folder with the name of its target; what is wrong with each."""
    files = [file.resolve() for file in files]
    with _set_up(sorted({file.parent.name for file in files})) as (targets, folder):
        return {file: _finding(targets[file.parent.name], file.name, file.read_bytes(), folder) for file in files}


@contextmanager
def _set_up(names: Sequence[str]) -> Iterator[tuple[Mapping[str, Target], Path]]:
    """The targets in a new folder, which also holds the working folder and all temporary files."""
    before, children = Path.cwd(), _children()
    with tempfile.TemporaryDirectory(prefix="paperscope-fuzz-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        for name in ("work", "tmp", *names):
            (folder / name).mkdir()
        os.chdir(folder / "work")
        try:
            with patch.object(tempfile, "tempdir", str(folder / "tmp")), ExitStack() as stack:
                targets = {name: stack.enter_context(TARGETS[name](folder / name)) for name in names}
                yield targets, folder
                # Those of files keep their parsers.
                targets.clear()
        finally:
            os.chdir(before)
    # They keep the processes of the last parsers and extractor.
    parsers._isolated_parsers.cache_clear()
    pipeline._isolated_extractor.cache_clear()
    gc.collect()
    check(_children() <= children, "a child process that was left behind")


def _children() -> set[int]:
    """The child processes of this one, zombies included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        # A thread may end meanwhile.
        with suppress(OSError):
            found.update(map(int, (task / "children").read_text().split()))
    return found


def _case(samples: Sequence[Sample], random: Random) -> Sample:
    name, data = random.choice(samples)
    suffix = Path(name).suffix
    return name, mutated(data, random, others=[other for sample, other in samples if sample.endswith(suffix)])


def _finding(target: Target, name: str, data: bytes, folder: Path) -> Finding | None:
    """What is wrong with a case."""
    before, memory = set(folder.iterdir()), _memory_mb()
    try:
        seconds = seconds_of(partial(target.run, name, data), limit=_MAX_WAIT)
        check(seconds < _SECONDS, f"over {_SECONDS:g} s of work on a {Path(name).suffix}")
        check(_memory_mb() - memory < _MEMORY_MB, f"over {_MEMORY_MB} MB of memory for a {Path(name).suffix}")
        check(set(folder.iterdir()) == before and not any((folder / "work").iterdir()), "a file outside the library")
        check(len(_children()) <= _MAX_CHILDREN, "child processes that were left behind")
    except Exception as error:  # noqa: BLE001 # what is searched for
        where = f"{error}" if isinstance(error, DefectError) else _where(error)
        return Finding(where=where, story="".join(traceback.format_exception(error)), name=name, data=data)
    return None


def _memory_mb() -> int:
    """The most memory that this process has taken so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _where(error: BaseException) -> str:
    """The type of an error, and the last of our functions in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(str(ROOT)) and "/.venv/" not in frame.filename]
    last = (ours or frames)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name} {last.name}"


def _minimized(target: Target, finding: Finding, folder: Path) -> Finding:
    """The finding without the parts of its file that can be left out, as far as time allows."""
    end = time.monotonic() + _MINIMIZING_SECONDS
    size, at = len(finding.data) // 2, 0
    while size and time.monotonic() < end:
        data = finding.data[:at] + finding.data[at + size :]
        again = _finding(target, finding.name, data, folder)
        if again is not None and again.where == finding.where:
            finding = again
        else:
            at += size
        if at >= len(finding.data):
            size, at = size // 2, 0
    return finding


def main() -> int:
    """Fuzzes for some minutes, or repeats findings; 1 if there is a defect."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="Search for inputs that are handled wrongly.")
    parser.add_argument("files", nargs="*", type=Path, help="findings to repeat")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--corpus", type=Path, default=ROOT / "build" / "fuzz", help="the folder for findings")
    given = parser.parse_args()
    # Without a handler, warnings of the service would be printed.
    logging.getLogger().addHandler(logging.NullHandler())
    if given.files:
        found = replay(given.files)
        _say(*(f"{file}: {finding.story if finding else 'passes'}" for file, finding in found.items()))
        return int(any(found.values()))
    said = time.monotonic()

    def report(tallies: Mapping[str, Tally]) -> None:
        nonlocal said
        if time.monotonic() > said + _PROGRESS_SECONDS:
            said = time.monotonic()
            _say(", ".join(_summary(tallies)))

    tallies = fuzz(
        given.target or list(TARGETS),
        seconds=given.minutes * 60,
        seed=given.seed,
        on_finding=partial(_keep, given.corpus),
        on_case=report,
    )
    _say("", *_summary(tallies))
    return int(any(tally.findings for tally in tallies.values()))


def _keep(corpus: Path, target: str, finding: Finding) -> None:
    """Writes a finding and what was wrong into the corpus."""
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{hashlib.sha256(finding.where.encode()).hexdigest()[:6]}-{finding.name}"
    file.write_bytes(finding.data)
    file.with_name(f"{file.name}.why").write_text(f"{finding.where}\n\n{finding.story}")
    _say(f"{target}: {finding.where}: {file} ({len(finding.data)} bytes)")


def _summary(tallies: Mapping[str, Tally]) -> list[str]:
    return [f"{name}: {tally.cases:,} cases, {len(tally.findings)} findings" for name, tally in tallies.items()]


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
