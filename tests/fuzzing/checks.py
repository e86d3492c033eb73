"""What must hold for each output, whatever a paper, a question file or a model says."""

import asyncio
import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import lxml.html

from ingest.chunking import chunk_paper
from ingest.export import export_files, read_paper_json
from ingest.extraction import extractor_for
from paperscope_core.errors import PaperscopeError
from paperscope_core.types import Answer, ParsedPaper
from service.batch import BatchRow, render_report
from service.batch.rows import render_csv
from service.batch.summary import summarize
from tests.html_checker import check_html
from tests.rendered_markdown import elements

__all__ = ["CONTAINED", "DefectError", "check", "check_answer", "check_error", "check_paper", "check_rows"]

# A parser that fails or is killed is contained by its process, and is a defect nevertheless.
CONTAINED = re.compile(r"failed on something unexpected|made the parser fail|was given up|died")
_REASON = re.compile(r"\((?:\w+(?:Error|Exception)\b|signal \d+)|longer than|of memory")
_MAX_MESSAGE = 3000
_MOST_CHUNKS = 30
_MARKDOWN = frozenset("div p br hr h1 h2 h3 h4 h5 h6 strong em b i ul ol li pre code blockquote img".split())
_MARKDOWN |= frozenset("table caption thead tbody tr th td".split())
_PAGE = _MARKDOWN | frozenset("html head body meta title style main nav section figure figcaption a".split())
_PAGE |= frozenset("details summary".split())
_PICTURE = re.compile(r"(?:tables|figures|equations)/[^/\\]+\.png")
_NUMBER = re.compile(r"[+-]?[\d.,eE+\s%-]*|[+-]+")


class DefectError(AssertionError):
    """What must hold for a case does not."""


def check(holds: object, what: str) -> None:
    """Raises DefectError unless `holds`."""
    if not holds:
        raise DefectError(what)


def check_error(error: PaperscopeError) -> None:
    """A message for people, of bounded length, and about no crash or limit."""
    text = str(error)
    check(error.public.strip(), "no message")
    check(len(text) <= _MAX_MESSAGE, "a message that is too long")
    check("Traceback" not in text, "a traceback in a message")
    if found := CONTAINED.search(text):
        reason = _REASON.search(text)
        raise DefectError(f"{found[0]} {reason[0] if reason else ''}")


def check_page(page: str) -> None:
    """No element of a page runs, loads or leads anywhere."""
    for element in lxml.html.document_fromstring(page).iter():
        if not isinstance(element.tag, str):
            continue
        check(element.tag in _PAGE, f"<{element.tag}> in HTML")
        for name, value in ((str(name), str(value)) for name, value in element.attrib.items()):
            check(not name.startswith("on") and name != "style", f"the attribute {name} in HTML")
            check(name != "href" or value.startswith("#"), "a link in HTML")
            check(name != "src" or _PICTURE.fullmatch(value), "a foreign image in HTML")


def check_markdown(markdown: str) -> None:
    """No text of a paper or a model is markup."""
    for element in elements(markdown, "markdown-it").iter():
        check(element.tag in _MARKDOWN, f"<{element.tag}> in Markdown")
        check(element.tag != "img" or _PICTURE.fullmatch(element.get("src", "")), "a foreign image in Markdown")


def check_csv(text: str) -> None:
    """No cell is a formula."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    for row in csv.reader(io.StringIO(text, newline=""), strict=True):
        for cell in row:
            check(_NUMBER.fullmatch(cell) or cell.lstrip()[:1] not in tuple("=+-@＝＋－＠"), "a formula in CSV")


def check_answer(answer: Answer) -> None:
    """An answer in every form in which it is shown."""
    check_rows([BatchRow(index=0, question=answer.question, status=answer.status, answer=answer)])
    check_html(answer._repr_html_())


def check_rows(rows: Sequence[BatchRow]) -> None:
    """The results of a batch."""
    check_markdown(render_report(rows, summarize(rows, questions=len(rows), seconds=1.0)))
    check_csv(render_csv(rows))
    for row in rows:
        json.loads(row.to_json())


def check_paper(parsed: ParsedPaper) -> None:
    """A paper in every form in which it is exported and shown; its chunks and entities can be found."""
    files = export_files(parsed)
    for name, data in files.items():
        check(not Path(name).is_absolute() and ".." not in Path(name).parts, "a path outside the folder")
        if name.endswith(".csv"):
            check_csv(data.decode())
    check_page(files["paper.html"].decode())
    check_markdown(files["paper.md"].decode())
    check(read_paper_json(files["paper.json"]).id == parsed.paper.id, "a paper that is not read back")
    check_html(parsed.paper._repr_html_())
    chunks = chunk_paper(parsed.paper)
    if len(chunks) <= _MOST_CHUNKS:
        asyncio.run(extractor_for(None).extract(parsed.paper, chunks))
