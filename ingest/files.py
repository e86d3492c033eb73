"""Which files a path stands for."""

from collections.abc import Sequence
from pathlib import Path

from ingest.formats import is_paper_xml
from ingest.mineru import is_mineru_folder, mineru_file
from paperscope.errors import PaperFileError

__all__ = ["SUFFIXES", "content_file", "paper_files"]

# Pictures are papers only where they are named: a folder is full of figures.
SUFFIXES = (".pdf", ".docx", ".md", ".markdown", ".html", ".htm", ".xhtml", ".txt", ".xml", ".nxml", ".tei")
_XML = (".xml", ".nxml", ".tei")


def paper_files(path: Path) -> Sequence[Path]:
    """A file stands for itself, and so does a folder of MinerU; another folder for the papers below it, sorted, hidden
    ones left out.

    Raises PaperFileError for a path that is not there and for a folder without a paper.
    """
    if not path.exists():
        raise PaperFileError(f"{path}: no such file or folder; check the spelling")
    if not path.is_dir() or is_mineru_folder(path):
        return (path,)
    found = [file for file in sorted(path.rglob("*")) if not _hidden(file.relative_to(path))]
    folders = {folder for folder in found if is_mineru_folder(folder)}
    files = [file for file in found if file in folders or (not folders.intersection(file.parents) and _is_paper(file))]
    if not files:
        raise PaperFileError(f"{path}: no paper below this folder; Paperscope reads {', '.join(SUFFIXES)} files")
    return files


def content_file(paper: Path) -> Path:
    """The file by whose bytes a paper is known: itself, or of a folder of MinerU its JSON.

    Raises PaperFileError for another folder.
    """
    return mineru_file(paper) if paper.is_dir() else paper


def _is_paper(file: Path) -> bool:
    """Whether a file in a folder is one to add; XML only if it is a paper's."""
    suffix = file.suffix.lower()
    return suffix in SUFFIXES and file.is_file() and (suffix not in _XML or is_paper_xml(file))


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
