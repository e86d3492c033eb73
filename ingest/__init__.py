"""Converts paper files to elements, chunks, entities and relations."""

from ingest.captioning import ImageCaptioner, add_to_chunks
from ingest.chunking import chunk_paper
from ingest.document.source import read_file
from ingest.extraction import TypeSystem
from ingest.extraction.pipeline import EmbedTexts, extractor_for
from ingest.formats import HEAD_BYTES, check_head, content_file, paper_files
from ingest.page_images import PageRenderer, page_renderer
from ingest.parsers import check_size, parser_for, read_paper
from ingest.pdf import PdfParser
from ingest.sandbox.cancellation import run_in_thread

__all__ = [
    "HEAD_BYTES",
    "EmbedTexts",
    "ImageCaptioner",
    "PageRenderer",
    "PdfParser",
    "TypeSystem",
    "add_to_chunks",
    "check_head",
    "check_size",
    "chunk_paper",
    "content_file",
    "extractor_for",
    "page_renderer",
    "paper_files",
    "parser_for",
    "read_file",
    "read_paper",
    "run_in_thread",
]
