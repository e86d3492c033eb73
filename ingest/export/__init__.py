"""A parsed paper as files for people and programs: JSON, Markdown, HTML, CSV, pictures, page images with boxes."""

from ingest.export.contents import FORMATS, checked_formats, export_files
from ingest.export.drawing import Mark, draw_marks
from ingest.export.html import to_html
from ingest.export.markdown import to_markdown
from ingest.export.names import free_name
from ingest.export.overlay import LEGEND, page_marks
from ingest.export.paper_json import read_paper_json, to_paper_json
from ingest.export.sound_text import sound
from ingest.export.tables_csv import to_csv
from ingest.export.writing import Written, write_paper

__all__ = [
    "FORMATS",
    "LEGEND",
    "Mark",
    "Written",
    "checked_formats",
    "draw_marks",
    "export_files",
    "free_name",
    "page_marks",
    "read_paper_json",
    "sound",
    "to_csv",
    "to_html",
    "to_markdown",
    "to_paper_json",
    "write_paper",
]
