"""Exports a parsed paper to JSON, Markdown, HTML, CSV, pictures, and page images with boxes."""

from ingest.export.drawing import LEGEND, Mark, draw_marks, page_marks
from ingest.export.html_page import to_html
from ingest.export.markdown_text import to_markdown
from ingest.export.writer import (
    FORMATS,
    Written,
    check_formats,
    export_files,
    read_paper_json,
    remove_control_characters,
    to_paper_json,
    write_paper,
)

__all__ = [
    "FORMATS",
    "LEGEND",
    "Mark",
    "Written",
    "check_formats",
    "draw_marks",
    "export_files",
    "page_marks",
    "read_paper_json",
    "remove_control_characters",
    "to_html",
    "to_markdown",
    "to_paper_json",
    "write_paper",
]
