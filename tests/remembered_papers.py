"""The isolated parser and the isolated extractor for tests: a file is read once for all processes of a run.

What fails is tried each time, and so is what a test replaces.
"""

import hashlib
import os
import pickle
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

from filelock import FileLock

from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope_core.protocols import PageCallback, Parser
from paperscope_core.types import Chunk, Extraction, Paper, PaperFile, ParsedPaper

__all__ = ["PAPERS_FOLDER", "PATCHED"]

PAPERS_FOLDER = "TESTS_PAPERS"
"""The variable of the environment with the folder of what was read."""

_PARSE = IsolatedParser.parse


class _Remembered:
    """What was computed for a key, in a file that all processes of the run see. A test may be unable to write there."""

    def __init__(self, key: bytes) -> None:
        self._file = Path(os.environ.get(PAPERS_FOLDER, ""), hashlib.sha256(key).hexdigest())
        self._usable = PAPERS_FOLDER in os.environ and os.access(self._file.parent, os.W_OK, effective_ids=True)

    def lock(self) -> ExitStack:
        """Return a context in which no other process computes it."""
        stack = ExitStack()
        if self._usable:
            stack.enter_context(FileLock(f"{self._file}.lock"))
        return stack

    def load(self) -> Any:
        """Return it, None if it was not computed yet."""
        return pickle.loads(self._file.read_bytes()) if self._usable and self._file.exists() else None  # noqa: S301

    def store(self, computed: object) -> None:
        if self._usable:
            unfinished = self._file.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(pickle.dumps(computed))
            unfinished.rename(self._file)


class _RememberedParser(IsolatedParser):
    """Parses like an isolated parser, which starts a child process only for a file that no process of the run read."""

    def __init__(self, parser: Parser, **options: Any) -> None:
        super().__init__(parser, **options)
        self._parser = pickle.dumps(parser)

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `IsolatedParser.parse`."""
        if IsolatedParser.parse is not _PARSE or file.content is None:
            return super().parse(file, on_page=on_page)
        # Texts may show the pictures beside them.
        beside = file.path.parent if not file.content.startswith(b"%PDF") else None
        names = sorted(one.name for one in beside.iterdir()) if beside and beside.is_dir() else []
        given = (self._parser, file.name, file.sha256, file.password, file.content, names)
        remembered = _Remembered(pickle.dumps(given))
        pages: list[tuple[int, int]] = []

        def note(done: int, total: int) -> None:
            pages.append((done, total))
            if on_page:
                on_page(done, total)

        with remembered.lock():
            if (found := remembered.load()) is None:
                parsed = super().parse(file, on_page=note)
                remembered.store((parsed, pages))
                return parsed
        parsed, pages = found
        for page in pages:
            if on_page:
                on_page(*page)
        parsed_before: ParsedPaper = parsed
        return parsed_before


def _patch_parsers(module: ModuleType) -> None:
    module.IsolatedParser = _RememberedParser  # type: ignore[attr-defined]


def _patch_extractor(module: ModuleType) -> None:
    class RememberedExtractor(module.IsolatedExtractor):  # type: ignore[misc, name-defined]
        """Extracts like an isolated extractor, once from the same paper."""

        def __init__(self, draw: object, *arguments: Any, **options: Any) -> None:
            super().__init__(draw, *arguments, **options)
            self._draw = pickle.dumps(draw)

        async def extract(self, paper: Paper, chunks: Sequence[Chunk], found: Sequence[object] = ()) -> Extraction:
            remembered = _Remembered(self._draw + repr((paper, found)).encode("utf-8", "backslashreplace"))
            extraction: Extraction | None = remembered.load()
            if extraction is None:
                extraction = await super().extract(paper, chunks, found)
                remembered.store(extraction)
            return extraction

    module.IsolatedExtractor = RememberedExtractor  # type: ignore[attr-defined]


PATCHED = {"ingest.parsers": _patch_parsers, "ingest.extraction.pipeline": _patch_extractor}
"""The modules to patch, and how."""
