"""How the time of each stage grows with its input: adversarial texts of three sizes, and the exponent of their times.

Run as a program, it prints the exponents of all stages; see `scripts/growth`.
"""

import asyncio
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docx import Document

from ingest.chunking import chunk_paper
from ingest.export import to_html, to_markdown, to_paper_json
from ingest.extraction import extractor_for
from ingest.pdf import PdfParser
from ingest.readers.markup import markup_parsers
from paperscope_core.errors import PaperscopeError
from paperscope_core.types import Claim, Evidence, Paper, PaperFile, Table
from query import Cited, verify

__all__ = ["LIMIT", "STAGES", "TEXTS", "Growth", "growth", "seconds_of"]

LIMIT = 1.3
"""The greatest exponent: more is a defect. Linear work has 1, sorting a little more."""

# Repeated up to the size that is measured: letters, numbers, brackets, nested markup, lines, cells, labels.
TEXTS: Mapping[str, str] = {
    "one digit": "0",
    "one word": "AaBbCc",
    "hyphens": "a-",
    "dots": "a.",
    "initials": "A.B. ",
    "capitals": "AB CD ",
    "words": "We use BERT for parsing. ",
    "joined names": "Abc Def of ",
    "commas": "a, ",
    "spaces": "a" + " " * 60,
    "short lines": "a\n",
    "hyphenated lines": "ab-\n",
    "paragraphs": "Ab c.\n\n",
    "numbers": "1.5, ",
    "numbered words": "F1 is 0.5 and ",
    "equal cells": "1  2  3\n",
    "equal rows": "|a|1|\n",
    "bars": "| ",
    "open brackets": "(a ",
    "square brackets": "[1, ",
    "citations": "[1] ",
    "authors": "Li et al. (2019) ",
    "entries": "[1] A. Li. Title. 2019.\n",
    "short forms": "Abc Def (AD) ",
    "quotes": "\u201ca ",
    "captions": "Figure 1: a\n\n",
    "mentions": "Figure 1, ",
    "headings": "# a\n\n",
    "sections": "1.1 Ab\n\n",
    "stars": "*a ",
    "underscores": "_a ",
    "backticks": "` ",
    "dollars": "$x ",
    "block quotes": "> ",
    "items": "- a\n",
    "links": "[a](",
    "definitions": "[a]: b\n",
    "nested bold": "<b>",
    "paragraph tags": "<p>a",
    "divisions": "<div>",
    "nested tables": "<table><tr><td>",
    "rows": "<tr><td>1</td></tr>",
    "less than": "<",
    "formulas": "x = 1 ",
    "commands": "\\frac{a}{",
    "addresses": "http://a.b/",
    "mail": "a@b.",
    "full stops": "\u3002 ",
    "points": ".",
    "question marks": "?!",
    "is a": "BERT is a model of ",
}
_ROOTS = {
    "html": ("<html><body>", "</body></html>"),
    "jats": ("<article><body><p>", "</p></body></article>"),
    "tei": ('<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>', "</p></body></text></TEI>"),
}
_LINE = 90


def _parse(parser: Any, data: bytes, name: str) -> Paper | None:
    """The paper, None if the file is refused."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        with suppress(PaperscopeError):
            paper: Paper = parser.parse(PaperFile(file)).paper
            return paper
    return None


def _reader(name: str) -> Callable[[str], Callable[[], object]]:
    def prepare(text: str) -> Callable[[], object]:
        start, end = _ROOTS.get(name, ("", ""))
        return partial(_parse, markup_parsers()[name], f"{start}{text}{end}".encode(), f"a.{name}")  # type: ignore[index]

    return prepare


def _docx(text: str) -> Callable[[], object]:
    document = Document()
    for line in text.split("\n"):
        document.add_paragraph(line)
    file = BytesIO()
    document.save(file)
    return partial(_parse, markup_parsers()["docx"], file.getvalue(), "a.docx")


def _pdf(text: str) -> Callable[[], object]:
    import pymupdf

    lines = [line[at : at + _LINE] for line in text.split("\n") for at in range(0, max(len(line), 1), _LINE)]
    document = pymupdf.open()
    for at in range(0, len(lines), 60):
        page = document.new_page()
        page.insert_text((50, 50), lines[at : at + 60], fontsize=8)
    return partial(_parse, PdfParser(), document.tobytes(), "a.pdf")


@cache
def _paper(text: str) -> Paper:
    paper = _parse(markup_parsers()["markdown"], f"Title\n\n{text}".encode(), "a.md")
    assert paper is not None
    return paper


def _chunk(text: str) -> Callable[[], object]:
    return partial(chunk_paper, _paper(text))


def _extract(text: str) -> Callable[[], object]:
    paper = _paper(text)
    chunks = chunk_paper(paper)
    return lambda: asyncio.run(extractor_for(None).extract(paper, chunks))


def _verify(text: str) -> Callable[[], object]:
    elements = {element.id: element for element in _paper(text).elements[:50]}
    claims = [
        Claim(text=text, evidence=(Evidence(element=element.id, place=element.place, quote=text),))
        for element in list(elements.values())[:2]
    ]
    cited = Cited(elements=elements, around=[text])
    return partial(verify, question="What is the highest?", text=text, claims=claims, cited=cited)


def _render(text: str) -> Callable[[], object]:
    paper = _paper(text)

    def work() -> None:
        to_html(paper)
        to_markdown(paper)
        to_paper_json(paper, pictures={})
        for element in paper.elements:
            if isinstance(element, Table):
                element.to_csv()

    return work


STAGES: Mapping[str, Callable[[str], Callable[[], object]]] = {
    **{f"read {name}": _reader(name) for name in ("text", "markdown", "html", "jats", "tei")},
    "read docx": _docx,
    "read pdf": _pdf,
    "chunk": _chunk,
    "extract": _extract,
    "render": _render,
    "verify": _verify,
}
"""Each stage by its name: a function that prepares a text and returns the work to be timed."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The seconds for three sizes, each twice the one before, and their exponent."""

    seconds: tuple[float, ...]
    stopped: bool = False

    @property
    def exponent(self) -> float:
        """How the time grows: 1 is linear; infinite if the work was stopped."""
        return math.inf if self.stopped else math.log(self.seconds[2] / self.seconds[0], 4)


class _StoppedError(Exception):
    """The work took too long."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(*_signal: object) -> None:
        raise _StoppedError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seconds_of(work: Callable[[], object], *, limit: float) -> float:
    """The processor time of work, which is stopped after `limit` seconds; if it is, `limit`."""
    start = time.process_time()
    try:
        with _limited(limit):
            work()
    except _StoppedError:
        return limit
    return time.process_time() - start


def growth(stage: str, text: str, *, size: int, least: float = 0.05, limit: float = 20.0) -> Growth:
    """Measures a stage on a text of `size`, `2 * size` and `4 * size` letters.

    Args:
        least: Times below this many seconds count as this: they measure the clock.
        limit: The seconds after which the work is stopped.
    """
    STAGES[stage](text * 10)()  # Loads what is loaded once.
    seconds: list[float] = []
    for factor in (1, 2, 4):
        work = STAGES[stage]((text * (factor * size // len(text) + 1))[: factor * size])
        runs = []
        # The shorter of two runs: other processes make the longer one.
        for _ in range(2):
            runs.append(seconds_of(work, limit=limit))
            if runs[0] < least:
                break
            if runs[-1] >= limit:
                return Growth((*seconds, limit), stopped=True)
        seconds.append(max(min(runs), least))
    return Growth(tuple(seconds))


def main() -> int:
    """Prints the worst exponents of each stage; 1 if one is above the limit."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    stages = sys.argv[2:] or list(STAGES)
    failed = 0
    for stage in stages:
        found = {name: growth(stage, text, size=size) for name, text in TEXTS.items()}
        worst = sorted(found, key=lambda name: -found[name].exponent)[:4]
        shown = ", ".join(f"{name} {found[name].exponent:.2f} ({found[name].seconds[-1]:.2f} s)" for name in worst)
        print(f"{stage:14}  {shown}", flush=True)  # noqa: T201
        failed += sum(one.exponent > LIMIT for one in found.values())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
