"""Provenance of a report: the git revision, a hash of the source, and package versions."""

import hashlib
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["code_fingerprint", "revision", "versions"]


_CODE_PACKAGES = (
    "paperscope_core",
    "paperscope",
    "ingest",
    "graph_store",
    "query",
    "prompts",
    "paperscope_lab.evaluation",
)
# The packages that affect parsing, retrieval and answers most.
_PACKAGES = ("pymupdf", "sentence-transformers", "torch", "faiss-cpu", "networkx", "lightrag-hku")


def revision() -> str:
    """Return the output of `git describe`, with "-dirty" if there are changes; "unknown" outside a checkout."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607 # whichever git the user has
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


@cache
def code_fingerprint(*packages: str) -> str:
    """Return a hash of the source of these packages, or of all: a git revision does not cover uncommitted changes."""
    digest = hashlib.sha256()
    for package in packages or _CODE_PACKAGES:
        for folder in map(Path, import_module(package).__path__):
            for file in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".md")):
                digest.update(f"{package}/{file.relative_to(folder).as_posix()}".encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def versions() -> Mapping[str, str]:
    """Return the versions of the most important installed packages."""
    found = {}
    for package in ("paperscope", *_PACKAGES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
