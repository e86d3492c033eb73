"""Reading papers from Word's DOCX. The parts are read one by one; nothing is unpacked, run or followed."""

from ingest.markup.docx.reader import read_docx

__all__ = ["read_docx"]
