"""Connects to a Ray cluster, or starts one on this machine."""

import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paperscope_core.errors import InputError
from paperscope_core.processes import environment_variable

__all__ = ["Cluster", "connected"]

_LOCAL = "local"
_AUTO = "auto"
_CONNECT_SECONDS = 5.0
# A cluster answers within milliseconds, after a second in which Ray is imported.
_ANSWER_SECONDS = 20.0
_ASK = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
# Ray plans for a third of the memory otherwise. A worker's files and results pass through it, and leave it at once.
_OBJECT_STORE_BYTES = 512 * 2**20
# A socket of Ray has a path of up to 107 characters, so that its folder needs a short one.
_TEMPORARY = "/tmp" if os.name == "posix" else None  # noqa: S108
_PREFIX = "paperscope-ray-"
# Ray starts processes of its own with these. It reports usage to its vendor unless told otherwise, and leaves the
# child processes of a worker that was killed. (Its other way to end these, the subreaper, loses the exit codes of the
# children of workers and of this process.)
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_process_group_cleanup_enabled": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class Cluster:
    """A Ray cluster that this process is connected to.

    Attributes:
        workers: How many papers are read at once.
        gpus: How many GPUs it has.
    """

    def __init__(self, ray: Any, *, workers: int, gpus: int) -> None:  # noqa: ANN401
        self.ray = ray
        self.workers = workers
        self.gpus = gpus


@contextmanager
def connected(address: str, *, workers: int | None) -> Iterator[Cluster]:
    """Connect to a cluster for the block. A process that is connected to one already stays connected.

    Args:
        address: "local" for a new cluster on this machine, which ends with the block; "auto" for the one that this
            machine belongs to; HOST:PORT for one whose head listens there, and which this machine belongs to.
        workers: How many papers are read at once; None for one on each CPU.

    Raises:
        InputError: Ray is not installed, nothing listens there, or the versions differ.
    """
    if find_spec("ray") is None:
        raise InputError("--ray needs Ray: pip install 'paperscope[ray]'")
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: at least one worker has to read")
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield _checked(ray, workers)
        return
    with _started(ray, workers) if address == _LOCAL else _joined(ray, address):
        yield _checked(ray, workers)


@contextmanager
def _started(ray: Any, workers: int | None) -> Iterator[None]:  # noqa: ANN401
    """Start a cluster of this machine. Its processes listen for calls, which need a token that only they know."""
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    _remove_abandoned()
    folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_TEMPORARY)
    try:
        # So that what a worker leaves when it is killed is deleted with the folder.
        with environment_variable("TMPDIR", folder):
            ray.init(
                address=_LOCAL,
                num_cpus=max(workers or 0, os.cpu_count() or 1),
                object_store_memory=_OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                _temp_dir=folder,
            )
        _silence(ray)
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _joined(ray: Any, address: str) -> Iterator[None]:  # noqa: ANN401
    if address != _AUTO:
        _check_listens(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        raise InputError(
            f"--ray {address}: can't join this cluster ({' '.join(str(error).split())}); start the same "
            "version of Ray on this machine (ray start), or write --ray local"
        ) from error
    try:
        _silence(ray)
        yield
    finally:
        ray.shutdown()


def _silence(ray: Any) -> None:  # noqa: ANN401
    """Keep Ray from writing about workers that died to the standard output, which has results only."""
    ray._private.worker._worker_logs_enabled = False  # noqa: SLF001 # as its debugger does


def _remove_abandoned() -> None:
    """Delete the folders of commands that were killed."""
    for folder in Path(_TEMPORARY or tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path("/proc", pid).exists() and Path("/proc").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _check_listens(address: str) -> None:
    """Raise InputError unless a cluster answers there. Ray itself waits for minutes, and then ends the process."""
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        raise InputError(
            f"--ray {address!r}: write local, auto, or HOST:PORT of a cluster that this machine belongs to"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"--ray {address}: nothing listens there ({error}); start the cluster (ray start --head), or write --ray "
            "local"
        ) from error
    # In a process of its own, because a client that waits can't be ended. Ray reports what it is refused for.
    with suppress(subprocess.CalledProcessError):
        try:
            subprocess.run(  # noqa: S603
                [sys.executable, "-c", _ASK, address], check=True, capture_output=True, timeout=_ANSWER_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise InputError(
                f"--ray {address}: no Ray cluster answers there; name the port of the head (ray start --head prints "
                "it, by default 6379), not that of its dashboard or of the Ray client"
            ) from error


def _checked(ray: Any, workers: int | None) -> Cluster:  # noqa: ANN401
    """Return the cluster, if all its machines have the versions of this process and it has that many CPUs."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def find_versions() -> tuple[str, str]:
        # Sent by value, so that it runs where Paperscope is missing.
        from importlib.metadata import PackageNotFoundError, version
        from platform import python_version

        try:
            return python_version(), version("paperscope")
        except PackageNotFoundError:
            return python_version(), ""

    nodes = [node for node in ray.nodes() if node["Alive"]]
    own = (platform.python_version(), version_of("paperscope"))
    probe = ray.remote(find_versions)
    asked = {
        node["NodeManagerAddress"]: probe.options(
            num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote()
        for node in nodes
    }
    for machine, (python, version) in zip(asked, ray.get(list(asked.values())), strict=True):
        if not version:
            raise InputError(f"--ray: {machine} has no Paperscope; install {own[1]} with the same extras there")
        if version != own[1] or python.rpartition(".")[0] != own[0].rpartition(".")[0]:
            raise InputError(
                f"--ray: {machine} has Paperscope {version} and Python {python}, this process has {own[1]} and "
                f"{own[0]}; install the same versions on all machines"
            )
    resources = ray.cluster_resources()
    cpus = int(resources.get("CPU", 0))
    if cpus < (workers or 1):
        raise InputError(f"--workers {workers or 1}: the cluster has {cpus} CPUs, and each worker takes one")
    return Cluster(ray, workers=workers or cpus, gpus=int(resources.get("GPU", 0)))
