"""A paper with its gold as an item of the parsing suite."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.gold.values import GoldItem
from evaluation.parsing.paper import score_paper
from evaluation.values import Score
from ingest import PdfParser, parser_for
from ingest.document.pages import Backend, Document, OutlineEntry, PageContent
from ingest.document.source import read_pdf
from paperscope_core.codec import to_json
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Box

__all__ = ["ParsingItem", "outline_reader"]


_ANY_LENGTH = LimitSettings(max_pages=100_000)


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
        """A hash of the file and of its gold; a file that can't be read has that of none."""
        data = self.gold.file.read_bytes() if self.gold.file.is_file() else b""
        gold = to_json(self.gold.gold).encode()
        return hashlib.sha256(data).hexdigest() + hashlib.sha256(gold).hexdigest() + str(self.gold.hide_outline)

    def score(self) -> Score:
        """Raises PaperFileError where the paper can't be read."""
        parser = parser_for(self.settings, limits=_ANY_LENGTH)
        if self.gold.hide_outline:
            backend, check = _WithoutOutline(self.backend), self.settings.layout_check
            parser = PdfParser(dpi=self.settings.dpi, backend=backend, layout_check=check)
        return score_paper(parser.parse(self.gold.file).paper, self.gold.gold)


def outline_reader(backend: Backend, file: Path) -> Sequence[OutlineEntry]:
    """The bookmarks of a file. Raises PaperFileError."""
    with backend.open(read_pdf(file), name=file.name, password=None) as document:
        return tuple(document.outline)


class _WithoutOutline:
    """A backend whose documents keep their bookmarks to themselves."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["_Bare"]:
        with self._backend.open(data, name=name, password=password) as document:
            yield _Bare(document)


class _Bare:
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
