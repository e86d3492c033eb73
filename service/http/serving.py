"""`serve`: the service in this process, or in several server processes behind one port and the process above them.

uvicorn's `Multiprocess` starts the server processes, starts another one when one dies or hangs, replaces one after the
other on SIGHUP, and adds or ends one on SIGTTIN or SIGTTOU. This module adds what it lacks:

- The process above does the jobs. Server processes tell it of them over a Unix socket, over which passwords stay in
  memory.
- New connections are refused, and jobs end, as soon as the service ends. A second signal ends all processes at once.
- Server processes end when the process above was killed, and ignore the signals of its terminal.
"""

import asyncio
import errno
import json
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from pathlib import Path

from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from paperscope_core.errors import PaperscopeError, SettingsError, StoreError
from paperscope_core.locations import Location, location_text, parse_location
from paperscope_core.processes import ending_signals
from paperscope_core.settings import Settings
from service.http.app import Shared, create_app
from service.http.auth import is_loopback
from service.http.metrics import Metrics, share_numbers
from service.http.server import build_config, build_server
from service.http.shutdown import Shutdown
from service.jobs import Supervisor
from service.keys import KeyStore
from service.libraries import share_processor
from service.logs import configure_logs

__all__ = ["address_of", "listen", "serve"]

_BACKLOG = 2048
# The processes of a service that was killed notice it within this time, and close the socket.
_BIND_SECONDS, _BIND_PAUSE_SECONDS = 5.0, 0.1
# Of a password: the field of a form has up to 1 MiB, and JSON writes a control character as six.
_MAX_LINE_BYTES = 7 * 2**20

_log = logging.getLogger(__name__)


def serve(
    settings: Settings,
    *,
    on_started: Callable[[str], None] = lambda _address: None,
) -> None:
    """Serve until the process is interrupted (Ctrl-C, SIGTERM; a single one also by SIGHUP), then exit it.

    Requests in progress get some time to finish; a second signal exits at once.

    Args:
        on_started: Called with the address of the web page when it can be opened.

    Raises:
        SettingsError: It would listen on a non-loopback address without API keys, or it can't listen on the address.
    """
    service = settings.service
    if not is_loopback(service.host) and not KeyStore.open(service.keys).required:
        raise SettingsError(
            f"service.host {service.host!r} admits other machines, and there is no API key yet: make one with "
            f"`paperscope keys create NAME --library FOLDER` (key file: {service.keys}), or listen on 127.0.0.1"
        )
    configure_logs(service.log)
    listening = listen(settings)
    tell = partial(on_started, address_of(listening))
    if service.workers > 1:
        started = _serve_with_processes(settings, listening, on_started=tell)
    else:
        started = _serve_here(settings, listening, on_started=tell)
    logging.shutdown()
    # Everything is closed. Freeing a library's memory would take seconds more, and many on a busy machine.
    os._exit(0 if started else 1)


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the address of the settings. Raises SettingsError."""
    host, port = settings.service.host, settings.service.port
    end = time.monotonic() + _BIND_SECONDS
    while True:
        listening = None
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(family, kind, protocol)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)
        except OSError as error:
            if listening is not None:
                listening.close()
            if error.errno != errno.EADDRINUSE or time.monotonic() > end:
                reason = error.strerror or error
                raise SettingsError(f"can't listen on {host}:{port} ({reason}); choose another service.port") from error
            time.sleep(_BIND_PAUSE_SECONDS)
        else:
            return listening


def address_of(listening: socket.socket) -> str:
    """Return the address of the web page of a server that listens on this socket, whose port the system may have
    chosen."""
    host, port = listening.getsockname()[:2]
    named = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{named}:{port}/"


def _serve_here(settings: Settings, listening: socket.socket, *, on_started: Callable[[], None]) -> bool:
    share_processor()

    def start(shutdown: Shutdown) -> None:
        shutdown.handle_signals(ending_signals())
        on_started()

    server = build_server(settings, on_started=start)
    # uvicorn sends itself the signal again once it has ended.
    signal.signal(signal.SIGTERM, lambda *_: None)
    server.run([listening])
    return server.started


@dataclass(frozen=True, kw_only=True, slots=True)
class _Start:
    """What a server process needs to know: the settings, the common folder, and about the jobs and keys."""

    settings: Settings
    folder: Path
    jobs: str
    takes_jobs: bool
    keyed: bool

    @property
    def socket(self) -> str:
        """The socket on which the process above hears of jobs."""
        return str(self.folder / "jobs.socket")


def _serve_with_processes(settings: Settings, listening: socket.socket, *, on_started: Callable[[], None]) -> bool:
    folder = Path(tempfile.mkdtemp(prefix="paperscope-"))
    # Before the metrics of this process are made, which counts the model calls of its jobs.
    share_numbers(folder)
    try:
        keys = KeyStore.open(settings.service.keys)
        folders = partial(keys.libraries, default=settings.library)
        jobs = Supervisor(settings, folders=folders, on_usage=Metrics(folders=folders).count_usage)
        start = _Start(settings=settings, folder=folder, jobs=jobs.id, takes_jobs=jobs.takes_jobs, keyed=keys.required)
        doing_jobs = _JobsThread(jobs, start.socket)
        processes = _ServerProcesses(start, listening, on_started=on_started, on_ending=doing_jobs.end)
        doing_jobs.start()
        processes.run()
        doing_jobs.join()
        return processes.started
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _ServerProcesses(Multiprocess):
    """The server processes.

    Attributes:
        started: Whether one of them has served.
    """

    def __init__(
        self,
        start: _Start,
        listening: socket.socket,
        *,
        on_started: Callable[[], None],
        on_ending: Callable[[], None],
    ) -> None:
        workers = start.settings.service.workers
        super().__init__(build_config(partial(_create_app, start), start.settings, processes=workers), [listening])
        self.started = False
        self._on_started = on_started
        self._on_ending = on_ending

    def keep_subprocess_alive(self) -> None:
        """Start other processes for those that have ended, and tell when the first one serves."""
        for process in self.processes:
            # While this process has the other end open, too, it waits for the reply of a process that was killed.
            process.child_conn.close()
        super().keep_subprocess_alive()
        if not self.started and any(process.is_ready() for process in self.processes):
            self.started = True
            self._on_started()

    def terminate_all(self) -> None:
        """Begin to end the service."""
        for number in (signal.SIGINT, signal.SIGTERM):
            # A second signal ends this process, and the others with it.
            signal.signal(number, signal.SIG_DFL)
        # Connections in its queue would be reset at the end; once no process listens, they are refused.
        for listening in self.sockets:
            listening.close()
        self._on_ending()
        super().terminate_all()


class _JobsThread(threading.Thread):
    """Does the jobs of which server processes tell it, on an event loop of its own: uvicorn's supervisor has none."""

    def __init__(self, jobs: Supervisor, path: str) -> None:
        super().__init__(name="jobs", daemon=True)
        self._jobs = jobs
        self._loop, self._ending = asyncio.new_event_loop(), asyncio.Event()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(path)
        self._listening.listen()

    def run(self) -> None:
        """Do jobs until `end` is called."""
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._run())

    def end(self) -> None:
        """Queue the jobs in progress again, and ends."""
        self._loop.call_soon_threadsafe(self._ending.set)

    async def _run(self) -> None:
        server = await asyncio.start_unix_server(self._receive, sock=self._listening, limit=_MAX_LINE_BYTES)
        self._jobs.start()
        await self._ending.wait()
        await self._jobs.stop()
        server.close()

    async def _receive(self, lines: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle what a server process tells, in order."""
        # At the end, asyncio would log that it is cancelled.
        with closing(writer), suppress(asyncio.CancelledError):
            while line := await lines.readline():
                await self._handle(json.loads(line))

    async def _handle(self, message: Mapping[str, str]) -> None:
        match message:
            case {"notify": folder}:
                self._jobs.notify(parse_location(folder))
            case {"keep": job, "password": password, "library": folder}:
                try:
                    await self._jobs.keep_password(job, password, folder=parse_location(folder))
                except StoreError as error:
                    _log.warning("%s: its password can't be kept: %s", job, error)
            case {"forget": job}:
                self._jobs.forget_password(job)


class _RemoteJobs:
    """Implements `JobRunner` by the process above."""

    def __init__(self, start: _Start) -> None:
        self.id = start.jobs
        self.takes_jobs = start.takes_jobs
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(start.socket)

    def start(self) -> None:
        """Do nothing: the process above does the jobs."""

    def notify(self, folder: Location) -> None:
        """See `JobRunner`."""
        self._send({"notify": location_text(folder)})

    async def keep_password(self, job: str, password: str, *, folder: Location) -> None:
        """See `JobRunner`."""
        self._send({"keep": job, "password": password, "library": location_text(folder)})

    def forget_password(self, job: str) -> None:
        """See `JobRunner`."""
        self._send({"forget": job})

    async def stop(self) -> None:
        """Do nothing: the process above ends the jobs."""

    def _send(self, message: object) -> None:
        # If the process above has ended, `_end_with_parent` notices it.
        with suppress(BrokenPipeError):
            self._socket.sendall(json.dumps(message).encode() + b"\n")


def _create_app(start: _Start) -> FastAPI:
    """Return the app of a server process, which uvicorn calls there."""
    processes = start.settings.service.workers
    os.umask(0o077)
    configure_logs(start.settings.service.log)
    share_processor(processes=processes)
    try:
        shared = Shared(processes=processes, folder=start.folder, jobs=_RemoteJobs(start), keyed=start.keyed)
        return create_app(start.settings, shared=shared, on_started=partial(_handle_signals, start.folder))
    except (PaperscopeError, OSError) as error:
        _log.error("a server process can't be started (%s)", error)
        sys.exit(STARTUP_FAILURE)


def _handle_signals(folder: Path, shutdown: Shutdown) -> None:
    """Let a server process end on SIGTERM, and with the process above."""
    # A terminal sends them to all processes; the process above passes on what concerns the others.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # A service manager may send SIGTERM to all processes, too.
    shutdown.handle_signals([signal.SIGTERM], again=signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(folder, shutdown), daemon=True).start()


def _end_with_parent(folder: Path, shutdown: Shutdown) -> None:
    if above := parent_process():
        above.join()
    shutil.rmtree(folder, ignore_errors=True)
    if shutdown.finishing:
        # A second signal has killed the process above.
        os._exit(1)
    os.kill(os.getpid(), signal.SIGTERM)
