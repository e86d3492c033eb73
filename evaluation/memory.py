"""The most memory that a process has held; standard library only, as other Pythons import it too."""

import re
import sys
from pathlib import Path

__all__ = ["peak_memory_mb"]

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def peak_memory_mb(process: int | None = None) -> float:
    """In megabytes (2^20 bytes); of another process by its number, on Linux only (0 elsewhere)."""
    status = Path(f"/proc/{process or 'self'}/status")
    # On Linux getrusage counts what the parent held when it started this process.
    if status.is_file() and (found := _PEAK.search(status.read_text())):
        return round(int(found[1]) / (1 << 10), 1)
    if process is not None:
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
