"""Provenance of a report: the git revision, a hash of the source, and package versions."""

import hashlib
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["code_fingerprint", "revision", "versions"]


_ROOT = Path(__file__).resolve().parent.parent
_CODE_PACKAGES = ("paperscope_core", "paperscope", "ingest", "graph_store", "query", "evaluation", "prompts")
# Those that decide what is read, found and answered.
_PACKAGES = ("pymupdf", "sentence-transformers", "torch", "faiss-cpu", "networkx", "lightrag-hku")


def revision() -> str:
    """Git's name for the checkout, with "-dirty" where it has changes; "unknown" outside of one."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607 # whichever git the user has
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


@cache
def code_fingerprint(*rooms: str) -> str:
    """A hash of our own source, or of these rooms': a revision can't tell what of it is uncommitted."""
    digest = hashlib.sha256()
    for room in rooms or _CODE_PACKAGES:
        for file in sorted(path for path in (_ROOT / room).rglob("*") if path.suffix in (".py", ".md")):
            digest.update(file.relative_to(_ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def versions() -> Mapping[str, str]:
    """The versions of the packages that decide most, those that are installed."""
    found = {}
    for package in ("paperscope", *_PACKAGES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
