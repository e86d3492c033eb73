"""Reads papers from PDF: `PdfParser`, on top of an exchangeable PDF library."""

from ingest.document.pages import Backend, Document, PageContent, PageReadError
from ingest.pdf.backends import backend_for
from ingest.pdf.parser import PdfParser

__all__ = ["Backend", "Document", "PageContent", "PageReadError", "PdfParser", "backend_for"]
