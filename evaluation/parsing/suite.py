"""The parsing suite and its items."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast, get_args

from evaluation.gold.files import file_hash
from evaluation.gold.paper_readers import load_items
from evaluation.gold.papers import Gold, GoldItem
from evaluation.parsing.page_tests import score_page_tests
from evaluation.parsing.tables import score_lookups, score_tables
from evaluation.parsing.text import score_captions, score_counts, score_headings, score_order, score_references
from evaluation.score import Score, total
from evaluation.suite import Loaded, Request, select_items
from ingest import PdfParser, parser_for
from ingest.document.pages import Backend, Document, OutlineEntry, PageContent
from ingest.document.source import read_pdf
from ingest.pdf.backends import BackendName, backend_for
from paperscope_core.codec import to_json
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Box, Paper, PaperFile

__all__ = ["ParsingItem", "ParsingSuite", "outline_reader", "score_paper"]


_SCORERS = (
    score_tables,
    score_lookups,
    score_captions,
    score_headings,
    score_order,
    score_references,
    score_counts,
    score_page_tests,
)


_ANY_LENGTH = LimitSettings(max_pages=100_000)
# Crops are not scored: a low resolution saves time.
_DPI = 36


def score_paper(paper: Paper, gold: Gold) -> Score:
    """Scores everything that the gold annotates; what it doesn't annotate has no tally."""
    return total(scorer(paper, gold) for scorer in _SCORERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsingItem:
    """Parses the paper and scores it."""

    gold: GoldItem
    settings: ParserSettings
    backend: Backend

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the file and of its gold; a file that can't be read hashes as empty."""
        return f"{file_hash(self.gold.file)} {to_json(self.gold.gold)} {self.gold.hide_outline}"

    def score(self) -> Score:
        """Raises PaperFileError if the paper can't be read."""
        parser = parser_for(self.settings, limits=_ANY_LENGTH)
        if self.gold.hide_outline:
            backend, check = _WithoutOutline(self.backend), self.settings.layout_check
            parser = PdfParser(dpi=self.settings.dpi, backend=backend, layout_check=check)
        return score_paper(parser.parse(PaperFile(self.gold.file)).paper, self.gold.gold)


def outline_reader(backend: Backend, file: Path) -> Sequence[OutlineEntry]:
    """Returns the bookmarks of a file. Raises PaperFileError."""
    with backend.open(read_pdf(file), name=file.name, password=None) as document:
        return tuple(document.outline)


class _WithoutOutline:
    """A backend whose documents hide their bookmarks."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["_DocumentWithoutOutline"]:
        with self._backend.open(data, name=name, password=password) as document:
            yield _DocumentWithoutOutline(document)


class _DocumentWithoutOutline:
    def __init__(self, document: Document) -> None:
        self._document = document
        self.page_count = document.page_count
        self.title = document.title
        self.authors = document.authors
        self.repaired = document.repaired
        self.repaired = document.repaired
        self.outline: Sequence[OutlineEntry] = ()

    def read(self, number: int) -> PageContent:
        return self._document.read(number)

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        return self._document.render(number, boxes, dpi=dpi, turns=turns)

    def cells(self, number: int, box: Box) -> Sequence[Box]:
        return self._document.cells(number, box)


class ParsingSuite:
    """Implements `Suite`; its modes are the PDF backends."""

    name = "parsing"
    modes: tuple[str, ...] = get_args(BackendName)
    headline = (
        "tables.cells",
        "tables.teds",
        "tables.lookups",
        "headings.found",
        "captions.found",
        "text.in_order",
        "references.count",
        "olmocr.tests",
    )

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`."""
        backend = backend_for(cast("BackendName", request.mode))
        settings = request.settings.parser.model_copy(update={"backend": request.mode, "dpi": _DPI})
        gold, bad = load_items(request.data, read_outline=partial(outline_reader, backend))
        items = [ParsingItem(gold=item, settings=settings, backend=backend) for item in gold]
        yield Loaded(items=select_items(items, request), bad=bad)
