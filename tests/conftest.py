"""What every test shares: a guard against the network, and the way to the development data."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
LOOPBACK = ("127.", "localhost", "::1")


@pytest.fixture(autouse=True)
def refuse_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches beyond this machine fails: only loopback and Unix sockets connect."""

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
    """Settings of the person who runs the tests don't reach them."""
    for name in list(os.environ):
        if name.startswith(("PAPERSCOPE_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The development data beside the checkout, where there is any."""
    folder = ROOT.parent / "shared"
    if not (folder / "papers").is_dir():
        pytest.skip("the development papers are not here (a folder 'shared' beside the checkout)")
    return folder


@pytest.fixture
def guarded_folder() -> Iterator[Path]:
    """A folder that anybody may enter, for tests of rights."""
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
    """Makes rights count in a block, also where root runs the tests."""
    return _unprivileged
