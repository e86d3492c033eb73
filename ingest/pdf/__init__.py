"""Reads papers from PDF: `PdfParser`, with the characters and rules that MuPDF finds."""

from ingest.document.pages import Backend, Document, PageContent, PageReadError
from ingest.pdf.parser import PdfBackend, PdfParser

__all__ = ["Backend", "Document", "PageContent", "PageReadError", "PdfBackend", "PdfParser"]
