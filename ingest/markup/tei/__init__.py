"""Reading papers from TEI XML, as GROBID writes it."""

from ingest.markup.tei.reader import read_tei

__all__ = ["read_tei"]
