"""Several server processes behind one port, and the process above them, which does their jobs.

All of them accept connections from one socket. The process above starts again those that end, replaces them one after
the other on SIGHUP, and ends them all on SIGTERM. It communicates with each over two pipes of lines of JSON: it tells a
process to finish, and a process reports that it serves, that it is alive (an empty line), and what concerns jobs.
"""

import asyncio
import errno
import json
import logging
import os
import pickle
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Self, cast

from prometheus_client.multiprocess import mark_process_dead

from paperscope_core.errors import KeyFileError, PaperscopeError, SettingsError, StoreError
from paperscope_core.locations import Location, location_text, parse_location
from paperscope_core.processes import command_of
from paperscope_core.settings import Settings
from service.http.app import Shared
from service.http.metrics import Metrics, share_numbers
from service.http.server import Server, address_of, build_server
from service.http.shutdown import CLOSING_SECONDS
from service.jobs import Supervisor
from service.keys import KeyStore
from service.libraries import share_processor
from service.logs import configure_logs, event_log

__all__ = ["main", "serve_with_processes"]

_BACKLOG = 2048
# The processes of a service that was killed notice it within this time, and close the socket.
_BIND_SECONDS, _BIND_PAUSE_SECONDS = 5.0, 0.1
_HEARTBEAT_SECONDS = 2.0
# Long, because a loaded machine may not schedule a process for many seconds.
_HEARTBEAT_TIMEOUT_SECONDS = 60.0
_START_SECONDS = 120.0
# Of a password: the field of a form has up to 1 MiB, and JSON writes a control character as six.
_MAX_LINE_BYTES = 7 * 2**20
# A process that ended is started again after a pause, which doubles each time that the next one does not serve.
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 30.0
_FINISH, _SERVING = "finish", "serving"

_log = logging.getLogger(__name__)
_events = event_log(__name__)


_OnMessage = Callable[[Mapping[str, str]], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Start:
    """What a server process gets at its start: the descriptor of the socket, and what `Shared` needs."""

    settings: Settings
    listening: int
    folder: Path
    jobs: str
    takes_jobs: bool
    keyed: bool


def serve_with_processes(
    settings: Settings, *, read_settings: Callable[[], Settings], on_started: Callable[[str], None]
) -> bool:
    """Serves with `service.workers` processes until SIGTERM or Ctrl-C. On SIGHUP, other ones take their places.

    Args:
        settings: The settings.
        read_settings: Reads the settings for the processes that take the places of others; may raise SettingsError.
        on_started: Called with the address of the web page when it can be opened.

    Returns:
        Whether it served.

    Raises:
        SettingsError: The address can't be listened on.
    """
    listening = _listen(settings)
    folder = Path(tempfile.mkdtemp(prefix="paperscope-"))
    # Before the metrics of this process are made, which counts the model calls of its jobs.
    share_numbers(folder)
    try:
        service = _Service(settings, listening=listening, folder=folder, read_settings=read_settings)
        return asyncio.run(service.run(lambda: on_started(address_of(listening))))
    finally:
        listening.close()
        shutil.rmtree(folder, ignore_errors=True)


def _listen(settings: Settings) -> socket.socket:
    """A socket that listens on the address of the settings. Raises SettingsError."""
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


class _ServerProcess:
    """A server process, as the process above it sees it. It ends when its pipe is closed.

    Attributes:
        id: The process id.
        serving: Set when it accepts connections.
        ended: Has its exit code.
    """

    def __init__(self, process: Process, on_message: _OnMessage) -> None:
        self.id = process.pid
        self.serving = asyncio.Event()
        self._process = process
        self._input = cast("asyncio.StreamWriter", process.stdin)
        self._output = cast("asyncio.StreamReader", process.stdout)
        self.ended = asyncio.create_task(self._follow(on_message))

    @classmethod
    async def start(cls, start: _Start, on_message: _OnMessage) -> Self:
        """Starts a process, whose messages on jobs are passed on one after the other. Raises OSError."""
        # Ctrl-C reaches only the process above.
        process = await asyncio.create_subprocess_exec(
            *command_of(__name__),
            stdin=PIPE,
            stdout=PIPE,
            limit=_MAX_LINE_BYTES,
            start_new_session=True,
            pass_fds=(start.listening,),
        )
        server = cls(process, on_message)
        server._input.write(pickle.dumps(start))
        return server

    async def wait_until_serving(self) -> bool:
        """Whether it serves; if it does not in time, it is killed."""
        serving = asyncio.create_task(self.serving.wait())
        await asyncio.wait({self.ended, serving}, timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        serving.cancel()
        if not self.serving.is_set():
            self.kill()
        return self.serving.is_set()

    def finish(self) -> None:
        """Lets the process end when its requests have finished; others accept the next ones."""
        self._input.write(json.dumps(_FINISH).encode() + b"\n")

    async def end(self, *, max_wait: float) -> None:
        """Ends the process as SIGTERM ends a service; kills it after `max_wait` seconds."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        await asyncio.wait({self.ended}, timeout=max_wait)
        self.kill()

    def kill(self) -> None:
        """Kills the process and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.id, signal.SIGKILL)

    async def _follow(self, on_message: _OnMessage) -> int:
        """Passes on what the process reports until it ends. One without a heartbeat is killed."""
        try:
            while line := await asyncio.wait_for(self._output.readline(), _HEARTBEAT_TIMEOUT_SECONDS):
                # Heartbeats are no JSON.
                with suppress(ValueError):
                    message = json.loads(line)
                    if message == _SERVING:
                        self.serving.set()
                    else:
                        await on_message(message)
        except TimeoutError:
            _log.warning("the server process %d is stuck and is killed", self.id)
        self.kill()
        return await self._process.wait()


class _Service:
    """Runs the server processes of a service, and its jobs."""

    def __init__(
        self, settings: Settings, *, listening: socket.socket, folder: Path, read_settings: Callable[[], Settings]
    ) -> None:
        self._settings = settings
        self._read_settings = read_settings
        self._listening = listening
        self._folder = folder
        self._keys = KeyStore.open(settings.service.keys)
        folders = partial(self._keys.libraries, default=settings.library)
        metrics = Metrics(folders=folders)
        self._jobs = Supervisor(settings, folders=folders, on_usage=metrics.count_usage)
        # All that run, and those that accept connections by their places.
        self._servers: set[_ServerProcess] = set()
        self._serving: list[_ServerProcess | None] = [None] * settings.service.workers
        # One process is started or replaced at a time.
        self._starting = asyncio.Lock()
        self._ending = asyncio.Event()
        self._restarting = asyncio.Event()

    async def run(self, on_started: Callable[[], None]) -> bool:
        """Runs until SIGTERM or Ctrl-C; returns whether it served."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end, number)
        loop.add_signal_handler(signal.SIGHUP, self._restarting.set)
        self._jobs.start()
        serving = asyncio.create_task(self._serve(on_started))
        ending = asyncio.create_task(self._ending.wait())
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
        started = not serving.done()
        for task in (serving, ending):
            task.cancel()
        await asyncio.wait({serving, ending})
        # In the queue of this socket, connections would be reset at the end; once no process listens, they are refused.
        self._listening.close()
        seconds = self._settings.service.shutdown_seconds + 2 * CLOSING_SECONDS
        await asyncio.gather(self._jobs.stop(), *(server.end(max_wait=seconds) for server in self._servers))
        if not serving.cancelled():
            serving.result()
        return started

    def _end(self, number: signal.Signals) -> None:
        """Handles a signal: the first one begins the shutdown, the second one kills all processes."""
        if self._ending.is_set():
            for server in self._servers:
                server.kill()
            os._exit(128 + number)
        self._ending.set()

    async def _serve(self, on_started: Callable[[], None]) -> None:
        """Serves until it is cancelled; returns if no process can be started."""
        places = range(len(self._serving))
        self._serving = list(await asyncio.gather(*(self._start() for _ in places)))
        if not any(self._serving):
            _log.error("no server process could be started; see above")
            return
        on_started()
        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(self._keep_alive(place))
            group.create_task(self._replace_on_request())

    async def _start(self) -> _ServerProcess | None:
        """A server process that serves; None if it ended or did not start."""
        try:
            start = _Start(
                settings=self._settings,
                listening=self._listening.fileno(),
                folder=self._folder,
                jobs=self._jobs.id,
                takes_jobs=self._jobs.takes_jobs,
                keyed=self._keys.required,
            )
            server = await _ServerProcess.start(start, self._receive)
        except (OSError, KeyFileError) as error:
            _log.warning("a server process can't be started (%s)", error)
            return None
        self._servers.add(server)
        server.ended.add_done_callback(partial(self._on_end, server))
        return server if await server.wait_until_serving() else None

    def _on_end(self, server: _ServerProcess, _ended: "asyncio.Task[int]") -> None:
        self._servers.discard(server)
        # Its counts are kept, its questions are gone.
        mark_process_dead(server.id, str(self._folder))  # type: ignore[no-untyped-call]

    async def _keep_alive(self, place: int) -> None:
        """Starts another process whenever that of a place has ended by itself."""
        pause = 0.0
        while True:
            server = self._serving[place]
            if server is not None:
                code = await asyncio.shield(server.ended)
                if self._serving[place] is not server:
                    continue
                _log.warning("a server process ended (%d); another one is started", code)
            await asyncio.sleep(pause)
            async with self._starting:
                if self._serving[place] is not server:
                    continue
                self._serving[place] = await self._start()
            pause = 0.0 if self._serving[place] else min(_MAX_PAUSE_SECONDS, 2 * pause or _FIRST_PAUSE_SECONDS)

    async def _replace_on_request(self) -> None:
        """Replaces all processes, one after the other, whenever that is asked for."""
        while True:
            await self._restarting.wait()
            self._restarting.clear()
            try:
                self._settings = _with_same_port(await asyncio.to_thread(self._read_settings), self._settings)
            except PaperscopeError as error:
                _log.warning("the processes are replaced with the settings as they were: %s", error)
            for place in range(len(self._serving)):
                async with self._starting:
                    new = await self._start()
                    if new is None:
                        _log.error("a new server process does not serve; the others go on")
                        break
                    old, self._serving[place] = self._serving[place], new
                if old is not None:
                    old.finish()
                    await asyncio.wait({old.ended})
            else:
                _events.info("all server processes were replaced", processes=len(self._serving))

    async def _receive(self, message: Mapping[str, str]) -> None:
        """Handles what a server process reports on a job."""
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


def _with_same_port(new: Settings, old: Settings) -> Settings:
    """New settings, with what the process above and the socket were made for."""
    kept = {name: getattr(old.service, name) for name in ("host", "port", "workers", "keys", "jobs_at_once")}
    service = new.service.model_copy(update=kept)
    return new.model_copy(update={"service": service, "library": old.library})


class _RemoteJobs:
    """Implements `JobRunner` by the process above."""

    def __init__(self, output: BinaryIO, *, id_: str, takes_jobs: bool) -> None:
        self.id = id_
        self.takes_jobs = takes_jobs
        self._output = output
        self._beating: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to send heartbeats, which go on until the process ends."""
        self._beating = asyncio.create_task(self._send_heartbeats())

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
        """Does nothing: the process above ends the jobs."""

    def report_serving(self) -> None:
        """Reports that this process accepts connections."""
        self._send(_SERVING)

    async def _send_heartbeats(self) -> None:
        while True:
            self._write(b"\n")
            await asyncio.sleep(_HEARTBEAT_SECONDS)

    def _send(self, message: object) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        # If the process above has ended, `_read_commands` notices.
        with suppress(BrokenPipeError):
            self._output.write(line)


def main() -> None:
    """Runs a server process, with stdin and stdout as its pipes."""
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    # What a library prints goes to the log.
    os.dup2(2, 1)
    # Written by the process above, not by a caller.
    start: _Start = pickle.load(sys.stdin.buffer)  # noqa: S301
    processes = start.settings.service.workers
    os.umask(0o077)
    configure_logs(start.settings.service.log)
    share_processor(processes=processes)
    jobs = _RemoteJobs(output, id_=start.jobs, takes_jobs=start.takes_jobs)
    shared = Shared(processes=processes, folder=start.folder, jobs=jobs, keyed=start.keyed)
    server = build_server(start.settings, shared=shared, on_started=lambda _address: jobs.report_serving())
    threading.Thread(target=_read_commands, args=(server, start.folder), daemon=True).start()
    server.run([socket.socket(fileno=start.listening)])
    logging.shutdown()
    # Everything is closed; see `serve`.
    os._exit(0 if server.started else 1)


def _read_commands(server: Server, folder: Path) -> None:
    """Lets the server finish when it is told to, or when the process above has ended."""
    for line in sys.stdin.buffer:
        if json.loads(line) == _FINISH:
            server.finish()
    # Another service may listen on the port soon.
    server.finish(max_seconds=server.grace_seconds)
    shutil.rmtree(folder, ignore_errors=True)
