"""`eval/parse_olmocr_unit_tests.jsonl`: unit tests on the pages of `papers/olmocr`."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from evaluation.gold.values import Gold, GoldItem, PageTest
from paperscope_core.errors import GoldFileError

__all__ = ["olmocr_items"]


_TEST = TypeAdapter(PageTest)


def olmocr_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """One item a PDF that the tests name, and the errors of lines that can't be used."""
    file = data / "eval" / "parse_olmocr_unit_tests.jsonl"
    bad: list[GoldFileError] = []
    tests: dict[str, list[PageTest]] = {}
    for number, test in json_lines(file, _TEST, bad=bad):
        pdf = data / "papers" / "olmocr" / PurePosixPath(test.pdf).name
        if pdf.is_file():
            tests.setdefault(pdf.name, []).append(test)
        else:
            bad.append(GoldFileError(f"{file}:{number}: unknown paper {test.pdf!r}; {pdf} is not there"))
    yield from bad
    for name, found in sorted(tests.items()):
        pdf = data / "papers" / "olmocr" / name
        yield GoldItem(name=f"olmocr/{pdf.stem}", file=pdf, gold=Gold(tests=tuple(found)))
