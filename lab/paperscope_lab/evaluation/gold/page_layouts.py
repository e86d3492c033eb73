"""Reads the layout of pages that were drawn by hand: `layout/development.jsonl` and `layout/heldout.jsonl`.

The boxes belong to the package. The PDFs don't: they are looked for below DIR/papers.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import file_hash, gold_error, read_lines, separate_errors
from paperscope_lab.evaluation.gold.papers import Gold, GoldItem, GoldPage, GoldRegion

__all__ = ["layout_items"]

_FOLDER = Path(__file__).with_name("layout")
# Rules and weights of the parser may be chosen on the first half, never on the second.
_HALVES: Mapping[str, Literal["fitting", "held-out"]] = {"development": "fitting", "heldout": "held-out"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _PageLine:
    paper: str
    sha256: str
    page: int
    size: tuple[float, float]
    items: tuple[GoldRegion, ...]


def layout_items(data: Path, *, folder: Path = _FOLDER) -> tuple[list[GoldItem | GoldFileError], list[str]]:
    """Read the pages of each half.

    Returns:
        One item per paper, and the errors of unusable lines and of papers that are not the file that was drawn on; and
        the names of the papers that are not below `data`.
    """
    items: list[GoldItem | GoldFileError] = []
    missing: list[str] = []
    for half in _HALVES:
        pages, bad = separate_errors(
            read_lines(folder / f"{half}.jsonl", _PageLine, _line, key=lambda line: f"{line.paper} page {line.page}")
        )
        items += bad
        for paper, lines in _by_paper(pages).items():
            file = data / "papers" / paper
            if file.is_file():
                items.append(_item(half, file, lines))
            else:
                missing.append(paper)
    return items, missing


def _line(_number: int, line: _PageLine) -> _PageLine:
    if PurePosixPath(line.paper).is_absolute() or ".." in PurePosixPath(line.paper).parts:
        raise GoldFileError(f"paper {line.paper!r} is not below the folder of papers")
    return line


def _by_paper(pages: Sequence[_PageLine]) -> dict[str, list[_PageLine]]:
    papers: defaultdict[str, list[_PageLine]] = defaultdict(list)
    for page in pages:
        papers[page.paper].append(page)
    return papers


def _item(half: str, file: Path, lines: Sequence[_PageLine]) -> GoldItem | GoldFileError:
    if {line.sha256 for line in lines} != {file_hash(file)}:
        return gold_error(str(file), "another version than the one whose pages were drawn")
    pages = tuple(GoldPage(number=line.page, regions=line.items) for line in lines)
    return GoldItem(name=f"layout-{half}/{file.stem}", file=file, gold=Gold(pages=pages), part=_HALVES[half])
