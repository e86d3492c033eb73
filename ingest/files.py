"""Which files a path stands for."""

from collections.abc import Sequence
from pathlib import Path

from paperscope.errors import PaperFileError

__all__ = ["SUFFIXES", "paper_files"]

SUFFIXES = (".pdf",)


def paper_files(path: Path) -> Sequence[Path]:
    """A file stands for itself; a folder for the papers below it, sorted, hidden ones left out.

    Raises PaperFileError for a path that is not there and for a folder without a paper.
    """
    if not path.exists():
        raise PaperFileError(f"{path}: no such file or folder; check the spelling")
    if not path.is_dir():
        return (path,)
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in SUFFIXES and file.is_file() and not _hidden(file.relative_to(path))
    ]
    if not files:
        raise PaperFileError(f"{path}: no paper below this folder; Paperscope reads {', '.join(SUFFIXES)} files")
    return files


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
