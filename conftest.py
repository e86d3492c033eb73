"""Fixtures for every test: a guard against the network, the development data, and a library with the example paper."""

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpcore2
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

import ingest.pdf.mupdf  # noqa: F401 # imports PyMuPDF without models that take seconds, before a test does
import tests  # noqa: F401 # the folders tests and lab/tests are one package, which pytest would not make
from paperscope_core.processes import collect_rarely

if TYPE_CHECKING:
    from paperscope_core.settings import Settings
    from paperscope_core.types import ParsedPaper
    from tests.postgresql_server import PostgresServer

ROOT = Path(__file__).resolve().parent
NOBODY = 65534
LOOPBACK = ("127.", "localhost", "::1")
# Begun first, so that no worker waits at the end for another's last file.
_LONGEST = (
    "tests/service/web/test_ask.py",
    "tests/service/jobs/test_worker_process.py",
    "tests/docs/test_readme.py",
    "tests/service/jobs/test_hostile_files.py",
    "tests/service/jobs/test_kill.py",
    "tests/paperscope/test_crashes.py",
    "tests/ingest/pdf/test_hostile.py",
    "tests/service/http/test_injection.py",
    "tests/service/http/test_shutdown.py",
    "tests/service/web/test_viewer.py",
    "tests/service/web/test_graph.py",
    "tests/service/test_processes.py",
    "tests/service/jobs/test_disk_full.py",
    "tests/examples/test_notebooks.py",
    "tests/paperscope/test_cancelling.py",
    "tests/service/jobs/test_model_faults.py",
    "tests/service/http/test_contract.py",
)
# No limits of time, because a busy machine would fail tests. A quarter of the usual number of examples, because every
# run tries others. `scripts/test --quick` selects the profile `quick`; `thorough` is for a change of what is tested.
settings.register_profile("all", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("all"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("all"), max_examples=10_000)
settings.load_profile("all")
# The modules of all tests stay.
collect_rarely()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --engine postgresql` keeps the libraries of tests in PostgreSQL."""
    parser.addoption("--engine", choices=("sqlite", "postgresql"), default="sqlite", help="where libraries are")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that concern the files of a library in a folder."""
    marker = item.get_closest_marker("sqlite")
    if marker and item.config.getoption("--engine") != "sqlite":
        pytest.skip(str(marker.args[0]))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mix files with slow tests, which wait for other processes, with files that compute; begin with the longest."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    longest = {ROOT / name: rank for rank, name in enumerate(_LONGEST)}
    files = sorted(dict.fromkeys(item.path for item in items), key=lambda path: longest.get(path, len(longest)))
    place: dict[Path, float] = {}
    for kind in ([path for path in files if path in slow], [path for path in files if path not in slow]):
        place |= {path: rank / len(kind) for rank, path in enumerate(kind)}
    items.sort(key=lambda item: (place[item.path], str(item.path)))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """At the first run, one process imports all modules before the others, so that they are compiled only once."""
    if "PYTEST_XDIST_WORKER" in os.environ and session.config.cache is not None:
        folder = session.config.cache.mkdir("compiled")
        with FileLock(folder / "lock"):
            if not (compiled := folder / "done").exists():
                collected = yield
                compiled.touch()
                return collected
    return (yield)


@pytest.fixture(autouse=True)
def refuse_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that connects to another machine; loopback and Unix sockets are allowed."""

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(LOOPBACK):
                raise AssertionError(f"a test tried to reach {address!r}; only loopback is allowed")
            return real(self, address)

        return connect

    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the settings of the person who runs the tests."""
    for name in list(os.environ):
        if name.startswith(("PAPERSCOPE_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def heed_hangups() -> Iterator[None]:
    """Processes that the tests start heed SIGHUP, also where `nohup` started the tests: they would inherit that it is
    ignored, but not that a function receives it."""
    before = signal.getsignal(signal.SIGHUP)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="session")
def postgresql(run_folder: Path) -> Iterator["PostgresServer"]:
    """A PostgreSQL server for all tests of a process; each test has a schema of its own."""
    from tests.postgresql_server import start_server

    with start_server(run_folder) as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where libraries are, as the option `--engine` says."""
    if request.config.getoption("--engine") == "sqlite":
        yield
        return
    from tests.engine import on_server

    with on_server(request.getfixturevalue("postgresql").folder):
        yield


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of one run of the tests share."""
    run = tmp_path_factory.getbasetemp()
    return run.parent if "PYTEST_XDIST_WORKER" in os.environ else run


@pytest.fixture(autouse=True)
def forget_servers() -> None:
    """Learn anew what each server takes: a later one may listen on the same port."""
    from paperscope_core.models.server_habits import habits_of

    habits_of.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def remember_models(pytestconfig: pytest.Config) -> Iterator[None]:
    """Compute the vector of a text and the names in a paper once, also for processes; `--cache-clear` forgets."""
    from ingest.extraction.recognizer import loading
    from paperscope_core.models import build
    from paperscope_core.models.weights import find_weights
    from tests.model_socket import serve
    from tests.remembered_names import NAMES_ADDRESS, RememberedRecognizer
    from tests.remembered_vectors import ADDRESS, RememberedEmbedder

    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("vectors")
    remembered = lru_cache(maxsize=1)(partial(RememberedEmbedder, folder=folder))
    bundled = RememberedEmbedder(find_weights(""), folder=folder)
    recognizer = RememberedRecognizer(loading.papers_recognizer, folder=pytestconfig.cache.mkdir("names"))
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(bundled.embed_json) as vectors,
        serve(recognizer.recognize_json) as names,
    ):
        patch.setattr(build, "_local_embedder", remembered)
        patch.setattr(loading, "papers_recognizer", lambda: recognizer)
        patch.setenv(ADDRESS, vectors)
        patch.setenv(NAMES_ADDRESS, names)
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT / "tests" / "children", ROOT, ROOT / "lab"))))
        yield


@pytest.fixture(scope="session", autouse=True)
def remember_papers(run_folder: Path) -> Iterator[None]:
    """Read each file that a library adds once for all processes of the run, and extract its entities once."""
    from tests.remembered_papers import PAPERS_FOLDER, PATCHED

    folder = run_folder / "papers"
    folder.mkdir(exist_ok=True)
    for name, patch_module in PATCHED.items():
        patch_module(import_module(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PAPERS_FOLDER, str(folder))
        yield


@pytest.fixture(scope="session", autouse=True)
def share_certificates() -> Iterator[None]:
    """Read the system's certificates once: each HTTP client reads them in 40 ms, also one that only calls loopback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The development data beside the checkout; the test is skipped if there is none."""
    folder = ROOT.parent / "shared"
    if not (folder / "papers").is_dir():
        pytest.skip("the development papers are missing (a folder 'shared' beside the checkout)")
    return folder


def _patient() -> "Settings":
    """The default settings, but for the limit of time: a busy machine takes longer."""
    from paperscope_core.settings import load_settings

    return load_settings(environ={}, overrides={"limits.parse_seconds": 600})


@pytest.fixture(scope="session")
def parse_once() -> Callable[[Path], "ParsedPaper"]:
    """Parse a file as a library does, once in the run."""
    from ingest.parsers import parser_for, read_once
    from paperscope_core.types import PaperFile

    parser = parser_for(_patient().parser, limits=_patient().limits)
    return cache(lambda file: parser.parse(read_once(PaperFile(file), max_mb=100)))


@pytest.fixture(scope="session")
def example_library(tmp_path_factory: pytest.TempPathFactory, run_folder: Path, root: Path) -> Path:
    """The folder of a library that holds the example paper. Copy it before you change it.

    It is created once per run; each worker has a copy.
    """
    from paperscope.library import Library
    from tests.engine import in_folders

    made, unfinished = run_folder / "example-library", run_folder / "example-library-unfinished"
    with FileLock(run_folder / "example-library.lock"):
        if not made.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
            with in_folders(), Library.open(unfinished, settings=_patient()) as library:
                library.add(root / "examples" / "paper" / "ner-report.pdf")
            unfinished.rename(made)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("example") / "library"))


@pytest.fixture
def guarded_folder() -> Iterator[Path]:
    """A folder that every user may enter, for tests of permissions."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(folder)


@contextmanager
def _unprivileged() -> Iterator[None]:
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.fixture
def unprivileged() -> Callable[[], AbstractContextManager[None]]:
    """A context in which permissions apply, also if root runs the tests."""
    return _unprivileged
