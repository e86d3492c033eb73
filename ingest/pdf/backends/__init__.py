"""PDF libraries as backends; each is imported only when a file is opened with it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from ingest.document.pages import LOADING_TIMES, Backend, Document
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import SettingsError

__all__ = ["BackendName", "backend_for"]

BackendName = Literal["pymupdf", "pdfium"]


def backend_for(name: BackendName) -> Backend:
    """Returns the backend of this name. Raises `SettingsError` if its library isn't installed."""
    if name == "pdfium" and find_spec("pypdfium2") is None:
        raise SettingsError(
            "parser.backend = 'pdfium' needs pypdfium2, which isn't installed. "
            "Install it with pip install \"paperscope[pdfium]\", or set parser.backend = 'pymupdf'."
        )
    return _NamedBackend(name)


@dataclass(frozen=True, slots=True)
class _NamedBackend:
    """A picklable backend that loads its library when it is first used."""

    name: BackendName

    def open(self, data: bytes, *, name: str, password: str | None) -> AbstractContextManager[Document]:
        """See `Backend.open`."""
        # The first file loads the library, which doesn't count as the time of reading that file.
        extend_time_limit(LOADING_TIMES)
        backend = self._backend()
        extend_time_limit()
        return backend.open(data, name=name, password=password)

    def _backend(self) -> Backend:
        if self.name == "pymupdf":
            from ingest.pdf.backends.mupdf import MuPdfBackend

            return MuPdfBackend()
        from ingest.pdf.backends.pdfium import PdfiumBackend

        return PdfiumBackend()
