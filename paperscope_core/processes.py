"""Our own processes: how one starts and ends, and how often Python looks in it for unreachable objects."""

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collect_rarely", "command_of", "ending_signals", "environment_variable"]

# As many objects as two commands' imports create. Such objects stay, and looking through them again and again takes a
# sixth of the time that a process takes to start (0.5 of 3.2 s of the service with a language model). With 50,000 it is
# still a tenth; an object that is found late is one of 100,000, some ten megabytes.
_NEW_OBJECTS = 100_000

# The module path is passed on because this process may run from a checkout.
_START = (
    "import sys, json; from importlib import import_module; module, sys.path[:] = json.loads(sys.argv[1]); "
    "import_module('paperscope_core.processes').collect_rarely(); import_module(module).main()"
)


def collect_rarely() -> None:
    """Look rarely for unreachable objects from now on. For a process of ours, before its imports."""
    gc.set_threshold(_NEW_OBJECTS)


def command_of(module: str) -> list[str]:
    """Return the command of a process that runs the function `main` of a module, found where this process finds
    modules."""
    return [sys.executable, "-c", _START, json.dumps([module, sys.path])]


def ending_signals() -> list[signal.Signals]:
    """Return the signals that end a service or a worker in order, including a closing terminal's unless `nohup` ignores
    it."""
    found = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        found.append(hangup)
    return found


@contextmanager
def environment_variable(name: str, value: str) -> Iterator[None]:
    """Set a variable for the block, also for processes that are started in it, and restore it. All threads see it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
