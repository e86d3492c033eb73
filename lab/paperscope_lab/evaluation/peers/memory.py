"""The memory that a process took. Standard library only: other readers' interpreters import it."""

import re
import resource
import sys
from pathlib import Path

__all__ = ["peak_memory_mb"]

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def peak_memory_mb(process: int | None = None) -> float:
    """Return the peak memory of this process in megabytes (2^20 bytes), or of another one (Linux only; 0 elsewhere)."""
    status = Path(f"/proc/{process or 'self'}/status")
    # On Linux, getrusage includes the memory of the parent at the time it started this process.
    if status.is_file() and (found := _PEAK.search(status.read_text())):
        return round(int(found[1]) / (1 << 10), 1)
    if process is not None:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << (20 if sys.platform == "darwin" else 10)), 1)
