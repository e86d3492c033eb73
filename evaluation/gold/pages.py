"""Checking that gold speaks of pages that its paper has."""

from functools import cache
from pathlib import Path

from ingest.pdf.backends import backend_for
from ingest.pdf.source import read_pdf
from paperscope.errors import GoldFileError, PaperFileError

__all__ = ["check_pages"]


def check_pages(*pages: int | None, paper: Path, where: str) -> None:
    """Raises GoldFileError for a page (from 1) that the paper does not have; of a paper that can't be read, none is."""
    count = _page_count(paper)
    for page in pages:
        if page is not None and count is not None and not 1 <= page <= count:
            raise GoldFileError(
                f"{where}: no page {page} in {paper.name}, which has {count}; mend the gold, or leave it out"
            )


@cache
def _page_count(paper: Path) -> int | None:
    try:
        with backend_for("pymupdf").open(read_pdf(paper), name=paper.name, password=None) as document:
            return document.page_count
    except PaperFileError:
        return None
