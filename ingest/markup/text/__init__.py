"""Reading papers from plain text."""

from ingest.markup.text.reader import read_text

__all__ = ["read_text"]
