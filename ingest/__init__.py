"""Paper file -> elements -> chunks -> entities and relations."""

from ingest.chunking import chunk_paper
from ingest.describing import ImageDescriber, add_to_chunks
from ingest.extraction import TypeSystem
from ingest.extractors import extractor_for
from ingest.files import content_file, paper_files
from ingest.formats import HEAD_BYTES, check_head
from ingest.page_pictures import PagePainter, page_painter
from ingest.parsers import parser_for
from ingest.pdf import PdfParser
from ingest.reading import check_size, read_paper
from ingest.resolution import EmbedTexts
from ingest.source import read_file
from ingest.stopping import in_thread

__all__ = [
    "HEAD_BYTES",
    "EmbedTexts",
    "ImageDescriber",
    "PagePainter",
    "PdfParser",
    "TypeSystem",
    "add_to_chunks",
    "check_head",
    "check_size",
    "chunk_paper",
    "content_file",
    "extractor_for",
    "in_thread",
    "page_painter",
    "paper_files",
    "parser_for",
    "read_file",
    "read_paper",
]
