"""Writes a parsed paper into a folder."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ingest.export.contents import FORMATS, export_files
from ingest.export.folder import ExportFolder
from ingest.export.overlay import draw_page, overlay_names
from ingest.pictures import PagePictures
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem, ParsedPaper

__all__ = ["Written", "write_paper"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """The paths that were written, relative to the folder, and the pages that could not be drawn."""

    files: tuple[str, ...]
    problems: tuple[PageProblem, ...] = ()


def write_paper(
    parsed: ParsedPaper,
    folder: Path,
    *,
    formats: Iterable[str] = FORMATS,
    pictures: PagePictures | None = None,
) -> Written:
    """Write the files of `export_files`; with `pictures`, also each page with what was read on it.

    Files of an earlier export that this one no longer has are removed, all others left alone. Raises OutputError, and
    InputError for an unknown format.
    """
    files = export_files(parsed, formats=formats)
    overlays = overlay_names(parsed.paper) if pictures is not None else {}
    target = ExportFolder(folder)
    target.begin([*files, *overlays.values()])
    for name, data in files.items():
        target.write(name, data)
    problems: list[PageProblem] = []
    if pictures is not None:
        for page in parsed.paper.pages:
            try:
                target.write(overlays[page.number], draw_page(parsed.paper, page, pictures))
            except PaperFileError as error:
                problems.append(PageProblem(page=page.number, reason=str(error)))
    target.finish()
    drawn = (name for number, name in overlays.items() if number not in {problem.page for problem in problems})
    return Written(files=(*files, *drawn), problems=tuple(problems))
