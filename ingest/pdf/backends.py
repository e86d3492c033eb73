"""Which PDF library stands behind the seam; each is imported only where it is chosen."""

from typing import Literal

from ingest.pdf.backend import Backend
from paperscope.errors import SettingsError

__all__ = ["BackendName", "backend_for"]

BackendName = Literal["pymupdf", "pdfium"]


def backend_for(name: BackendName) -> Backend:
    """The backend of this name. Raises `SettingsError` where its library isn't installed."""
    if name == "pymupdf":
        from ingest.pdf.mupdf import MuPdfBackend

        return MuPdfBackend()
    try:
        from ingest.pdf.pdfium import PdfiumBackend
    except ModuleNotFoundError as error:
        raise SettingsError(
            "parser.backend = 'pdfium' needs pypdfium2, which isn't installed. "
            "Install it with pip install \"paperscope[pdfium]\", or set parser.backend = 'pymupdf'."
        ) from error
    return PdfiumBackend()
