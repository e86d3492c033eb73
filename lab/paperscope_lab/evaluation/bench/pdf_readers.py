"""The PDF readers that `bench parse` times, each run as a script in a separate process."""

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from paperscope_lab.evaluation.peers.memory import peak_memory_mb

__all__ = ["PDF_READERS", "PdfReader", "run"]


# Reads a whole file and returns its number of pages.
ReadFile = Callable[[Path], int]


class PdfReader(NamedTuple):
    """A PDF reader: its title, the packages it needs, how to install them, and a function that loads it."""

    title: str
    packages: tuple[str, ...]
    install: str
    reader: Callable[[], ReadFile]


def _paperscope() -> ReadFile:
    from ingest.pdf import PdfParser
    from paperscope_core.types import PaperFile

    parser = PdfParser(max_pages=None)
    return lambda file: len(parser.parse(PaperFile(file)).paper.pages)


def _to_markdown() -> ReadFile:
    pymupdf, markdown = importlib.import_module("pymupdf"), importlib.import_module("pymupdf4llm")
    importlib.import_module("pymupdf.layout")

    def read(file: Path) -> int:
        markdown.to_markdown(str(file), show_progress=False)
        return int(pymupdf.open(file).page_count)

    return read


def _get_text() -> ReadFile:
    pymupdf: Any = importlib.import_module("pymupdf")
    return lambda file: len([page.get_text() for page in pymupdf.open(file)])


PDF_READERS = {
    "paperscope": PdfReader("Paperscope", ("pymupdf",), "pip install -e .", _paperscope),
    "layout": PdfReader(
        "PyMuPDF to_markdown, layout", ("pymupdf4llm", "pymupdf.layout"), "pip install pymupdf4llm", _to_markdown
    ),
    "get-text": PdfReader("PyMuPDF get_text", ("pymupdf",), "pip install pymupdf", _get_text),
}


def run(name: str, files: list[Path]) -> dict[str, float | str | list[str]]:
    """Read the files with a PDF reader; unreadable files are listed and their time is excluded."""
    contender = PDF_READERS[name]
    for package in contender.packages:
        try:
            importlib.import_module(package)
        except ImportError:
            return {"missing": contender.install}
    read = contender.reader()
    pages, seconds = 0, 0.0
    failed: list[str] = []
    for file in files:
        started = time.perf_counter()
        try:
            pages += read(file)
        except Exception as error:  # noqa: BLE001 # any error of another library
            failed.append(f"{file.name}: {type(error).__name__}")
        else:
            seconds += time.perf_counter() - started
    return {"pages": pages, "seconds": round(seconds, 3), "memory_mb": peak_memory_mb(), "failed": failed}


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(run(sys.argv[1], [Path(name) for name in sys.argv[2:]])))
