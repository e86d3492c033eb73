"""Checking the pages that gold names against the PDF itself."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ingest.document.source import read_pdf
from ingest.pdf.backends import backend_for
from paperscope_core.errors import GoldFileError, PaperFileError

__all__ = ["check_pages"]


def check_pages(pages: Sequence[int], file: Path, *, where: str) -> None:
    """Raises GoldFileError for a page (from 1) that the PDF doesn't have. A PDF that can't be read passes."""
    count = _page_count(file, file.stat().st_mtime_ns) if pages else None
    for page in pages if count is not None else ():
        if not 1 <= page <= (count or 0):
            raise GoldFileError(
                f"{where}: page {page} is out of range; {file} has {count} pages, which count from 1; "
                "mend the gold, or leave it out"
            )


@lru_cache(maxsize=256)
def _page_count(file: Path, _changed: int) -> int | None:
    try:
        with backend_for("pymupdf").open(read_pdf(file), name=file.name, password=None) as document:
            return document.page_count
    except PaperFileError:
        return None
