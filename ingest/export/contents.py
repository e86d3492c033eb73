"""The files that a parsed paper becomes, as bytes by their paths; nothing is written here."""

from collections.abc import Iterable, Mapping

from ingest.export.html import to_html
from ingest.export.markdown import to_markdown
from ingest.export.names import crop_names, stems
from ingest.export.paper_json import to_paper_json
from ingest.export.sound_text import sound
from ingest.export.tables_csv import to_csv
from paperscope.errors import InputError
from paperscope.types import Equation, Figure, Paper, ParsedPaper, Table

__all__ = ["FORMATS", "checked_formats", "export_files"]

FORMATS = ("json", "markdown", "html", "csv")


def checked_formats(names: Iterable[str]) -> tuple[str, ...]:
    """The formats of these names, none of them twice. Raises InputError for one that is not among `FORMATS`."""
    formats = tuple(dict.fromkeys(name.strip().lower() for name in names))
    for name in formats:
        if name not in FORMATS:
            raise InputError(f"there is no format {name!r}; choose among {', '.join(FORMATS)}")
    return formats


def export_files(parsed: ParsedPaper, *, formats: Iterable[str] = FORMATS) -> dict[str, bytes]:
    """The files of a paper by their paths, relative to its folder.

    `paper.json`, `paper.md`, `paper.html`, `tables/table-5.csv` for a "Table 5" that has cells; with any format but
    CSV also the pictures, `tables/table-5.png` and the like.
    """
    wanted = checked_formats(formats)
    paper = sound(parsed.paper)
    names = stems(paper)
    pictures = _pictures(paper, names, crops=parsed.crops) if set(wanted) - {"csv"} else {}
    files: dict[str, bytes] = {}
    if "json" in wanted:
        paths = {crop: path for path, crop in reversed(pictures.items())}
        files["paper.json"] = to_paper_json(paper, pictures=paths, indent=1).encode()
    if "markdown" in wanted:
        files["paper.md"] = to_markdown(paper).encode()
    if "html" in wanted:
        files["paper.html"] = to_html(paper).encode()
    if "csv" in wanted:
        tables = (element for element in paper.elements if isinstance(element, Table) and element.cells)
        files.update({f"{names[table.id]}.csv": to_csv(table).encode() for table in tables})
    return {**files, **{path: parsed.crops[crop] for path, crop in pictures.items()}}


def _pictures(paper: Paper, names: Mapping[str, str], *, crops: Mapping[str, bytes]) -> dict[str, str]:
    """The content hash of each picture by its path."""
    return {
        path: crop
        for element in paper.elements
        if isinstance(element, Table | Figure | Equation)
        for crop, path in crop_names(element, stem=names[element.id]).items()
        if crop in crops
    }
