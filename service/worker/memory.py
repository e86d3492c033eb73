"""How much memory the worker takes, and may take."""

import os
from pathlib import Path

__all__ = ["data_mb", "limit_memory", "resident_mb"]


def limit_memory(megabytes: int) -> None:
    """Let this process hold so much data, and each that it starts; systems that can't limit it are left alone.

    Data, not the space of addresses: PyTorch reserves much of that and uses little.
    """
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 1_000_000, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return


def resident_mb() -> float:
    """How much memory this process takes now, in megabytes; 0 where the system doesn't tell."""
    return _megabytes(1)


def data_mb() -> float:
    """How much of what `limit_memory` limits this process holds now, in megabytes; 0 where the system doesn't tell."""
    return _megabytes(5)


def _megabytes(column: int) -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[column])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
    except (OSError, ValueError):
        return 0.0
