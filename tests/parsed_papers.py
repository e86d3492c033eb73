"""Papers that are parsed once in a run of the tests, whichever of its processes asks first."""

import pickle
from functools import cache
from pathlib import Path

from filelock import FileLock

from ingest.pdf import PdfParser
from paperscope_core.types import PaperFile, ParsedPaper, content_hash

__all__ = ["DPI", "parsed_paper"]

# The crops of a parsed paper are counted or compared, and nobody looks at them.
DPI = 36


@cache
def parsed_paper(file: Path, *, run_folder: Path) -> ParsedPaper:
    """Return what the parser reads of a file, which a process of the run stores for the others."""
    stored = run_folder / f"parsed-{content_hash(file.read_bytes())}"
    with FileLock(f"{stored}.lock"):
        if not stored.exists():
            stored.write_bytes(pickle.dumps(PdfParser(dpi=DPI).parse(PaperFile(file))))
        parsed: ParsedPaper = pickle.loads(stored.read_bytes())  # noqa: S301 # written by this run
    return parsed
