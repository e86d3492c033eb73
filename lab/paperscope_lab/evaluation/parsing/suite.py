"""The parsing suite: parses papers, and scores what their gold annotates."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from ingest.document.pages import Document, OutlineEntry
from ingest.document.source import read_pdf
from ingest.parsers import parser_for
from ingest.pdf import PdfBackend, PdfParser
from paperscope_core.protocols import Parser
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Paper, PaperFile
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.gold.generated_tables import GENERATED_SET, generated_items
from paperscope_lab.evaluation.gold.page_layouts import layout_items
from paperscope_lab.evaluation.gold.paper_readers import FIELDS_SET, load_items
from paperscope_lab.evaluation.gold.papers import Gold, GoldItem
from paperscope_lab.evaluation.parsing.fields import score_fields
from paperscope_lab.evaluation.parsing.layout import score_layout
from paperscope_lab.evaluation.parsing.page_tests import score_page_tests
from paperscope_lab.evaluation.parsing.tables import score_lookups, score_tables
from paperscope_lab.evaluation.parsing.text import (
    score_captions,
    score_counts,
    score_headings,
    score_order,
    score_references,
)
from paperscope_lab.evaluation.score import Score, total
from paperscope_lab.evaluation.suite import Item, Loaded, Request, Suite

__all__ = ["SUITE", "outline_reader", "score_paper"]

_SCORERS = (
    score_tables,
    score_lookups,
    score_captions,
    score_headings,
    score_order,
    score_references,
    score_counts,
    score_page_tests,
    score_layout,
    score_fields,
)
_ANY_LENGTH = LimitSettings(max_pages=100_000)
# Crops are not scored: a low resolution saves time.
_DPI = 36


def score_paper(paper: Paper, gold: Gold) -> Score:
    """Score everything that the gold annotates; what it doesn't annotate has no tally."""
    return total(scorer(paper, gold) for scorer in _SCORERS)


def outline_reader(file: Path) -> Sequence[OutlineEntry]:
    """Return the bookmarks of a file. Raises PaperFileError."""
    with PdfBackend().open(read_pdf(PaperFile(file)), name=file.name, password=None) as document:
        return tuple(document.outline)


class _WithoutOutline:
    """A backend whose documents hide their bookmarks."""

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator[Document]:
        with PdfBackend().open(data, name=name, password=password) as document:
            yield cast("Document", _DocumentWithoutOutline(document))


class _DocumentWithoutOutline:
    outline: Sequence[OutlineEntry] = ()

    def __init__(self, document: Document) -> None:
        self._document = document

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._document, name)


def _score(item: GoldItem, settings: ParserSettings) -> Score:
    """Parse the paper and score it. Raises PaperFileError if the paper can't be read."""
    parser: Parser
    if item.hide_outline:
        parser = PdfParser(dpi=settings.dpi, backend=_WithoutOutline())
    else:
        parser = parser_for(settings, limits=_ANY_LENGTH)
    return score_paper(parser.parse(PaperFile(item.file)).paper, item.gold)


def _load(request: Request, _stack: ExitStack) -> Loaded:
    settings = request.settings.parser.model_copy(update={"dpi": _DPI})
    gold, bad = load_items(request.data, read_outline=outline_reader)
    if any(name.split("/")[0] == GENERATED_SET for name in request.names):
        typeset, failed = separate_errors(generated_items(request.work / GENERATED_SET))
        gold, bad = [*gold, *typeset], [*bad, *failed]
    drawn, missing = layout_items(request.data)
    pages, wrong = separate_errors(drawn)
    items = [
        Item(
            name=item.name,
            score=partial(_score, item, settings),
            gold=(item.gold, item.hide_outline),
            files=(item.file,),
            part=item.part,
        )
        for item in (*gold, *pages)
    ]
    left_out = f"{', '.join(missing) if pages else f'its {len(missing)} papers'} (not in papers/)"
    if missing and not pages and any(name.startswith("layout-") for name in request.names):
        raise GoldFileError(f"{request.data}: the PDFs whose pages were drawn are not there: {', '.join(missing)}")
    facts = {"layout": f"without {left_out}"} if missing else {}
    if not (request.data / "papers" / FIELDS_SET).is_dir():
        if any(name.split("/")[0] == FIELDS_SET for name in request.names):
            raise GoldFileError(f"{request.data}: the papers of many fields are not there: papers/{FIELDS_SET}")
        facts[FIELDS_SET] = f"left out (no papers/{FIELDS_SET})"
    return Loaded(items=items, bad=(*bad, *wrong), facts=facts)


SUITE = Suite(
    name="parsing",
    modes=("pymupdf",),
    headline=(
        "tables.cells",
        "tables.teds",
        "tables.lookups",
        "headings.found",
        "captions.figure",
        "captions.table",
        "text.in_order",
        "references.count",
        "olmocr.tests",
        "layout.figures.whole",
        "layout.tables.whole",
        "layout.listings.whole",
        "layout.headings.found",
        "fields.cells",
        "fields.whole",
        "fields.neighbours",
    ),
    load=_load,
    missing="no gold here; name a folder with papers/NAME/paper.pdf and gold_tables.json beside it",
)
