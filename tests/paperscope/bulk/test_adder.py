"""Adding papers on a real cluster of this machine, whose workers, and the command itself, are killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph_store import Store
from paperscope.bulk.cluster import Cluster, connected
from paperscope.library import AddResult, Library, PaperSource, Stage
from paperscope_core.errors import BudgetError, PaperscopeError
from paperscope_core.locations import parse_location
from paperscope_core.models import Budget
from paperscope_core.settings import Settings, load_settings
from tests.model_server import ModelServer, echo, serve, words

pytestmark = pytest.mark.slow

ADD = "import sys; from service.cli import main; sys.argv[0] = 'paperscope'; main()"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with connected("local", workers=2) as found:
        yield found


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve(echo, seconds=0.2) as running:
        yield running


@pytest.fixture
def sources(tmp_path: Path) -> list[PaperSource]:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("Alpha", "Beta", "Gamma", "Delta"):
        parts = (
            f"## Part {part}\n\n{f'The {name} Tagger has an F1 of {part}.5 on Corpus. ' * 40}" for part in range(4)
        )
        (folder / f"{name}.md").write_text("\n\n".join((f"# On {name}", *parts)))
    (folder / "copy.md").write_bytes((folder / "Alpha.md").read_bytes())
    (folder / "broken.pdf").write_bytes(b"no paper")
    return [PaperSource(address=str(file)) for file in sorted(folder.iterdir())]


def _settings(server: ModelServer) -> Settings:
    model = {"model": "m", "base_url": server.url, "api_key": "k3y", "tokens_per_call": 300}
    return load_settings(environ={}, overrides={"extract": model, "calls.concurrency": 2})


def _kill_workers() -> int:
    workers = [process for process in _descendants(os.getpid()) if _title(process).startswith("ray::PaperWorker")]
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    return len(workers)


def _descendants(process: int) -> list[int]:
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def _title(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def _content(location: Path) -> dict[str, tuple[object, ...]]:
    with contextlib.closing(Store.open(parse_location(location), read_only=True)) as store:
        found = [store.indexed(entry.id) for entry in store.entries()]
        return {one.paper.id: (one.paper.title, one.chunks, one.extraction, one.images) for one in found} | {
            "vectors": tuple(np.round(one.vectors, 3).tobytes() for one in sorted(found, key=lambda one: one.paper.id))
        }


def test_a_library_whose_workers_were_killed_equals_one_of_a_single_process(
    cluster: Cluster, server: ModelServer, sources: list[PaperSource], tmp_path: Path
) -> None:
    with Library.open(tmp_path / "alone", settings=_settings(server)) as library:
        for source in sources:
            with contextlib.suppress(PaperscopeError):
                library.add_source(source)
    alone, server.names[:] = list(server.names), []

    killed = 0
    results: dict[str, AddResult | PaperscopeError] = {}

    def on_stages(_done: int, stages: Any) -> None:
        nonlocal killed
        if not killed and any(stage.name == "extracting entities" for stage in stages.values()) and server.names:
            killed = _kill_workers()

    with Library.open(tmp_path / "ray", settings=_settings(server)) as library:
        report = library.add_on_ray(
            sources, on_done=lambda source, result: results.update({source.name: result}), on_stages=on_stages
        )
        assert killed
        again = library.add_on_ray(sources, workers=1)
    assert (report.outcomes["added"], report.outcomes["unchanged"], len(report.failed)) == (4, 1, 1)
    assert "is no PDF file" in str(results["broken.pdf"])
    assert (again.outcomes["unchanged"], len(again.failed), again.pages) == (5, 1, 0)
    assert _content(tmp_path / "ray") == _content(tmp_path / "alone")
    # No call was made twice, although those who waited for it were killed.
    assert sorted(server.names) == sorted(set(alone))


def test_files_of_workers_are_deleted_with_the_cluster(cluster: Cluster) -> None:
    folder = Path(cluster.ray.get(cluster.ray.remote(tempfile.gettempdir).remote()))
    assert folder.name.startswith(f"paperscope-ray-{os.getpid()}-")
    assert Path(tempfile.gettempdir()) != folder


def test_the_command_continues_after_it_was_killed(
    cluster: Cluster, server: ModelServer, sources: list[PaperSource], tmp_path: Path
) -> None:
    config = tmp_path / "paperscope.toml"
    config.write_text(
        f'[extract]\nmodel = "m"\nbase_url = "{server.url}"\ntokens_per_call = 300\n[calls]\nconcurrency = 1\n'
    )
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join(source.address for source in sources))
    command = (
        *(sys.executable, "-c", ADD, "add", "--list", str(listed), "--config", str(config), "--json"),
        *("--library", str(tmp_path / "library"), "--ray", cluster.ray.get_runtime_context().gcs_address),
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        rows = (json.loads(line) for line in process.stdout)
        assert any(row["outcome"] == "added" for row in rows)
        process.kill()
    with contextlib.closing(Store.open(tmp_path / "library", read_only=True)) as store:
        before = {entry.id for entry in store.entries()}
    assert before
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    *rows_again, last = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1
    assert {row["paper"] for row in rows_again if row["outcome"] == "unchanged"} >= before
    assert list(last["report"]["failed"]) == [next(one.address for one in sources if one.name == "broken.pdf")]
    # A call that was in flight is lost, and no other one is repeated.
    assert len(server.names) - len(set(server.names)) <= 1


def test_a_paper_whose_workers_die_fails_alone_and_a_budget_ends_all(
    cluster: Cluster, server: ModelServer, sources: list[PaperSource], tmp_path: Path
) -> None:
    def on_stages(_done: int, stages: dict[str, Stage]) -> None:
        if stages.get("Beta.md", Stage(name="waiting")).name == "extracting entities":
            _kill_workers()

    # Otherwise the third worker might finish it before it is killed, with the replies of the others.
    server.fault = lambda body: "hang" if "Beta" in words(body) else ""
    some = [source for source in sources if source.name in ("Beta.md", "Gamma.md")]
    with Library.open(tmp_path / "deadly", settings=_settings(server)) as library:
        report = library.add_on_ray(some, workers=1, on_stages=on_stages)  # type: ignore[arg-type]
        assert report.outcomes["added"] == 1
        (message,) = report.failed.values()
        assert "'Beta.md' was given up: 3 workers died" in message
    server.fault = lambda _body: ""
    server.names.clear()
    with (
        Library.open(tmp_path / "poor", settings=_settings(server), budget=Budget(max_calls=3)) as library,
        pytest.raises(BudgetError),
    ):
        library.add_on_ray(sources)
    assert len(server.names) == 3
