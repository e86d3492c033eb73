"""Writes the files of a parsed paper to a folder, and removes stale files of earlier exports; a paper as JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeVar, cast

from pydantic import TypeAdapter

from ingest.export.drawing import RenderPage, draw_page, overlay_names
from ingest.export.file_names import crop_names, file_stems
from ingest.export.html_page import to_html
from ingest.export.markdown_text import to_markdown
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, OutputError, PaperFileError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.text.escaping import without_control_characters
from paperscope_core.types import Equation, Figure, PageProblem, Paper, ParsedPaper, Place, Table

__all__ = [
    "FORMATS",
    "PaperFile",
    "Written",
    "check_formats",
    "export_files",
    "json_schema",
    "read_paper_json",
    "remove_control_characters",
    "to_paper_json",
    "write_paper",
]

FORMATS = ("json", "markdown", "html", "csv")

MANIFEST = ".paperscope-files.json"
_KIND = "paperscope-files/1"

T = TypeVar("T")


def check_formats(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names without repeats, in lower case. Raise InputError for a format that is not among `FORMATS`."""
    formats = tuple(dict.fromkeys(name.strip().lower() for name in names))
    for name in formats:
        if name not in FORMATS:
            raise InputError(f"there is no format {name!r}; choose among {', '.join(FORMATS)}")
    return formats


def export_files(parsed: ParsedPaper, *, formats: Iterable[str] = FORMATS) -> dict[str, bytes]:
    """Return the files of a paper by their paths, relative to its folder.

    `paper.json`, `paper.md`, `paper.html`, `tables/table-5.csv` for a "Table 5" that has cells; with any format but
    CSV also the pictures, `tables/table-5.png` and the like.
    """
    wanted = check_formats(formats)
    paper = remove_control_characters(parsed.paper)
    names = file_stems(paper)
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
        files.update({f"{names[table.id]}.csv": table.to_csv().encode() for table in tables})
    return {**files, **{path: parsed.crops[crop] for path, crop in pictures.items()}}


def _pictures(paper: Paper, names: Mapping[str, str], *, crops: Mapping[str, bytes]) -> dict[str, str]:
    """Return the content hash of each picture by its path."""
    return {
        path: crop
        for element in paper.elements
        if isinstance(element, Table | Figure | Equation)
        for crop, path in crop_names(element, stem=names[element.id]).items()
        if crop in crops
    }


class ExportFolder:
    """Writes files into a folder and lists them there.

    Files on the list are replaced or, if the export no longer has them, removed; other files are left alone. Files are
    written atomically, and a killed run leaves a list of all files that it may have written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, None] = {}
        self._older: frozenset[str] = frozenset()

    def begin(self, names: Iterable[str]) -> None:
        """Prepare the folder for files of these names.

        Raise OutputError if it can't be written, or if it contains one of the files and no export wrote it.
        """
        names = list(names)
        with output_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._older = self._listed()
        for name in names:
            path = self._folder / name
            if name not in self._older and path.exists():
                raise OutputError(
                    f"{path}: exists already, and no earlier run wrote it; move it away, or choose another folder"
                )
        self._list({*self._older, *names})

    def write(self, name: str, data: bytes) -> None:
        """Write or replace one of the announced files. Raise OutputError."""
        path = self._folder / name
        with output_errors(path.parent):
            path.parent.mkdir(exist_ok=True)
        write_atomically(path, data)
        self._written[name] = None

    def finish(self) -> None:
        """Remove files that only earlier exports wrote. Raise OutputError."""
        for name in sorted(self._older - self._written.keys()):
            path = self._folder / name
            with output_errors(path):
                path.unlink(missing_ok=True)
                if path.parent != self._folder and path.parent.is_dir() and not any(path.parent.iterdir()):
                    path.parent.rmdir()
        self._list(self._written)

    def _listed(self) -> frozenset[str]:
        """Return the files of earlier exports; a manipulated list can't name a file outside the folder."""
        try:
            listed = json.loads((self._folder / MANIFEST).read_bytes())
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError):
            listed = None
        if not isinstance(listed, dict) or listed.get("schema") != _KIND or not isinstance(listed.get("files"), list):
            raise OutputError(
                f"{self._folder / MANIFEST}: is not the list of files that an earlier run left; remove it with those "
                "files, or choose another folder"
            )
        return frozenset(name for name in listed["files"] if isinstance(name, str) and _is_ours(name))

    def _list(self, names: Iterable[str]) -> None:
        listed = {"schema": _KIND, "files": sorted(names)}
        write_atomically(self._folder / MANIFEST, json.dumps(listed, indent=1, ensure_ascii=False).encode())


def _is_ours(name: str) -> bool:
    """Return whether an export may have written a file of this name: at most one folder deep, never upwards."""
    path = PurePosixPath(name)
    return (
        len(path.parts) in (1, 2)
        and not path.is_absolute()
        and ".." not in path.parts
        and path.suffix in (".json", ".md", ".html", ".csv", ".png")
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """The written paths, relative to the folder, and the pages that could not be drawn."""

    files: tuple[str, ...]
    problems: tuple[PageProblem, ...] = ()


def write_paper(
    parsed: ParsedPaper,
    folder: Path,
    *,
    formats: Iterable[str] = FORMATS,
    render: RenderPage | None = None,
) -> Written:
    """Write the files of `export_files` and, with `render`, each page with its elements drawn on it.

    Files of an earlier export that this one no longer has are removed; other files are left alone.

    Raises:
        OutputError: If the folder can't be written.
        InputError: If a format is unknown.
    """
    files = export_files(parsed, formats=formats)
    overlays = overlay_names(parsed.paper) if render is not None else {}
    target = ExportFolder(folder)
    target.begin([*files, *overlays.values()])
    for name, data in files.items():
        target.write(name, data)
    problems: list[PageProblem] = []
    if render is not None:
        for page in parsed.paper.pages:
            try:
                target.write(overlays[page.number], draw_page(parsed.paper, page, render))
            except PaperFileError as error:
                problems.append(PageProblem(page=page.number, reason=str(error)))
    target.finish()
    drawn = (name for number, name in overlays.items() if number not in {problem.page for problem in problems})
    return Written(files=(*files, *drawn), problems=tuple(problems))


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperFile:
    """The contents of `paper.json`: the paper, and the paths of its pictures by content hash."""

    schema: Literal["paperscope-paper/1"] = "paperscope-paper/1"
    paper: Paper
    pictures: Mapping[str, str] = field(default_factory=dict)


def to_paper_json(paper: Paper, *, pictures: Mapping[str, str], indent: int | None = None) -> str:
    """Return the paper as JSON; `pictures` are the paths of its crops by content hash. `read_paper_json` reads it
    back."""
    return to_json(PaperFile(paper=paper, pictures=pictures), indent=indent)


def read_paper_json(text: str | bytes) -> Paper:
    """Read a paper back. Raise ValueError for another kind of file or another version."""
    return from_json(PaperFile, text).paper


def json_schema() -> str:
    """Return the JSON Schema of `paper.json`, generated from the types; `scripts/schema` writes it into docs."""
    schema = TypeAdapter(PaperFile).json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A paper as Paperscope writes it"}
    return json.dumps({**schema, **head}, indent=2, ensure_ascii=False) + "\n"


def remove_control_characters(value: T) -> T:
    """Return the value (a text, a tuple, a dataclass made of them) with control characters left out, at any depth.

    Half a surrogate pair, which no encoding can write, becomes the replacement character.
    """
    return cast("T", _cleaned(value))


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return without_control_characters(value)
    if type(value) is tuple:
        return tuple(_cleaned(item) for item in value)
    if not is_dataclass(value) or isinstance(value, type | Place):
        return value
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    changed = {name: new for name, old in pairs if (new := _cleaned(old)) != old}
    return replace(value, **changed) if changed else value
