"""Kills adds at seeded moments, and examines the library afterwards.

Run as a script it does so with the example paper, text and pictures, and prints what it found as JSON:
`python -m tests.paperscope.crashes [KILLS [SEED]]`.
"""

import dataclasses
import json
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from graph_store import NativeGraphIndex, Store
from paperscope.library import Library
from paperscope_core.models import FakeEmbedder, build_models
from paperscope_core.settings import load_settings
from tests.model_server import Body, ModelServer, fingerprint, kind_of, serve, summaries, verdicts

__all__ = ["SECONDS", "Killed", "kill_adds", "orphans", "traceable_reply"]


ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "paper" / "ner-report.pdf"
SECONDS = 0.1
# Each add is a fork of a process that has imported all: killing it is killing a process, and it begins at once.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


def _add(folder: Path, paper: Path, url: str) -> None:
    roles = {role: {"model": "slow", "base_url": url} for role in ("extract", "vision")}
    overrides = {**roles, "extract.tokens_per_call": 600, "calls.concurrency": 2}
    settings = load_settings(environ={}, overrides=overrides)
    store = Store.open(folder)
    models = dataclasses.replace(build_models(settings, cache=store), embedder=FakeEmbedder())
    with Library(store=store, settings=settings, models=models) as library:
        library.add(paper)


@dataclass(frozen=True, kw_only=True, slots=True)
class Killed:
    """What came of adds that were killed and started again until they ended.

    `calls` is how many calls an add takes; `repeated` counts those that were made again although their reply was in
    the store, `in_flight` those made again whose reply had not come when the process was killed, `orphans` what
    belongs to no paper. `equal` tells whether each library ended up as one whose add was never killed.
    """

    kills: int
    libraries: int
    calls: int
    repeated: int
    in_flight: int
    orphans: int
    equal: bool


def traceable_reply(body: Body) -> str:
    """A reply that an add can use, and that names its request, so that it is found again in the store."""
    name = fingerprint(body)
    if kind_of(body) == "same_names":
        return verdicts(body, reason=name)
    if kind_of(body) == "summaries":
        return summaries(body, words_of_it=name)
    if kind_of(body) == "entities":
        entity = {"mention": name, "type": "concept", "description": "", "chunk": "C1"}
        return json.dumps({"entities": [entity], "relations": []})
    lists: dict[str, list[str]] = {key: [] for key in ("visible_text", "entities", "data_points")}
    return json.dumps({"kind": "other", "description": f"This is the picture {name} of it.", "latex": "", **lists})


def kill_adds(folder: Path, server: ModelServer, paper: Path, *, kills: int, seed: int) -> Killed:
    """Kill as many adds as that, each at a random moment, and start each again until it ends.

    Most moments come after an add's first call, some at any time. An add that ends before its kill begins anew in
    another library.
    """
    moments = random.Random(seed)
    never = folder / "never"
    whole, calling = _timed(never, server, paper)
    asked, done, repeated, in_flight = len(server.names), 0, 0, 0
    libraries: list[Path] = []
    while done < kills:
        libraries.append(folder / f"killed-{len(libraries)}")
        server.names.clear()
        ended = False
        while not ended:
            kept, before = _kept(libraries[-1], server), len(server.names)
            process = _start(libraries[-1], paper, url=server.url)
            if done < kills:
                _wait(process, server, moments, whole=whole, calling=calling)
                done += process.is_alive()
                process.kill()
            process.join()
            ended = process.exitcode == 0
            repeated += len(kept & set(server.names[before:]))
        in_flight += len(server.names) - len(set(server.names))
    expected = _holding(never)
    return Killed(
        kills=done,
        libraries=len(libraries),
        calls=asked,
        repeated=repeated,
        in_flight=in_flight - repeated,
        orphans=sum(map(orphans, libraries)),
        equal=all(_holding(library) == expected for library in libraries),
    )


def _start(folder: Path, paper: Path, *, url: str) -> BaseProcess:
    process = _PROCESSES.Process(target=_add, args=(folder, paper, url))
    process.start()
    return process


def _timed(folder: Path, server: ModelServer, paper: Path) -> tuple[float, float]:
    """How long an add takes, and how long of it from its first call, in seconds."""
    begun = time.monotonic()
    process = _start(folder, paper, url=server.url)
    while not server.names and process.is_alive():
        time.sleep(0.01)
    first = time.monotonic()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError("an add that nobody killed failed")
    ended = time.monotonic()
    return ended - begun, ended - first


def _wait(process: BaseProcess, server: ModelServer, moments: random.Random, *, whole: float, calling: float) -> None:
    if moments.random() < 0.2:
        time.sleep(moments.uniform(0.0, whole))
        return
    before = len(server.names)
    while len(server.names) == before and process.is_alive():
        time.sleep(0.01)
    time.sleep(moments.uniform(0.0, calling))


def _kept(folder: Path, server: ModelServer) -> set[str]:
    """Which requests' replies the store holds."""
    replies = "".join(_rows(folder, "SELECT value FROM calls"))
    return {name for name in server.names if name in replies}


def orphans(folder: Path) -> int:
    """Rows that belong to no paper, and crop files that none names. Nothing is cleaned up before."""
    named = set(_rows(folder, "SELECT crop FROM paper_crops"))
    files = {file.stem for file in (folder / "crops").rglob("*.png")}
    rows = len(_rows(folder, "PRAGMA foreign_key_check"))
    chunks = len(_rows(folder, "SELECT id FROM chunks WHERE number NOT IN (SELECT chunk FROM vectors)"))
    return rows + chunks + len(files - named)


def _rows(folder: Path, query: str) -> list[str]:
    if not (folder / "library.sqlite").exists():
        return []
    with closing(sqlite3.connect(folder / "library.sqlite")) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        return [str(row[0]) for row in connection.execute(query)] if "calls" in tables else []


def _holding(folder: Path) -> list[tuple[object, ...]]:
    """All of a library's papers, comparable."""
    with closing(Store.open(folder)) as store:
        NativeGraphIndex.open(store).close()
        papers = [store.indexed(entry.id) for entry in store.entries()]
        return [(one.paper, one.chunks, one.extraction, one.images, one.vectors.tobytes()) for one in papers]


def main() -> None:
    """Kill adds and print the outcome."""
    kills, seed = [int(argument) for argument in sys.argv[1:]] + [20, 7][len(sys.argv) - 1 :]
    with tempfile.TemporaryDirectory() as folder, serve(traceable_reply, seconds=SECONDS) as server:
        killed = kill_adds(Path(folder), server, EXAMPLE, kills=kills, seed=seed)
    sys.stdout.write(f"{json.dumps(dataclasses.asdict(killed))}\n")


if __name__ == "__main__":
    main()
