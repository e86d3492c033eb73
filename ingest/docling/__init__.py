"""Reading papers with docling, an optional engine: `DoclingParser`."""

from ingest.docling.parser import DoclingParser, paper_of_docling
from ingest.docling.wiring import docling_for

__all__ = ["DoclingParser", "docling_for", "paper_of_docling"]
