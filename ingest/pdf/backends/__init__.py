"""Which PDF library stands behind the seam; each is imported only when a file is opened with it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from ingest.pdf.backend import Backend, Document
from ingest.silence import silence_onnxruntime
from paperscope.errors import SettingsError

__all__ = ["BackendName", "backend_for"]

BackendName = Literal["pymupdf", "pdfium"]


def backend_for(name: BackendName) -> Backend:
    """The backend of this name. Raises `SettingsError` where its library isn't installed."""
    if name == "pdfium" and find_spec("pypdfium2") is None:
        raise SettingsError(
            "parser.backend = 'pdfium' needs pypdfium2, which isn't installed. "
            "Install it with pip install \"paperscope[pdfium]\", or set parser.backend = 'pymupdf'."
        )
    return _NamedBackend(name)


@dataclass(frozen=True, slots=True)
class _NamedBackend:
    """A backend that loads its library late and travels to another process by name."""

    name: BackendName

    def open(self, data: bytes, *, name: str, password: str | None) -> AbstractContextManager[Document]:
        """See `Backend.open`."""
        if self.name == "pymupdf":
            silence_onnxruntime()
            from ingest.pdf.backends.mupdf import MuPdfBackend

            return MuPdfBackend().open(data, name=name, password=password)
        from ingest.pdf.backends.pdfium import PdfiumBackend

        return PdfiumBackend().open(data, name=name, password=password)
