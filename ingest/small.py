"""Small texts are read at once: to start a process for one would take longer than the worst of them does."""

from collections.abc import Callable
from pathlib import Path

from paperscope.protocols import Parser
from paperscope.types import ParsedPaper

__all__ = ["SmallAtOnce"]


class SmallAtOnce:
    """Reads files of up to `most_bytes` with `parser` in this process, and larger ones with `isolated`."""

    def __init__(self, parser: Parser, *, isolated: Parser, most_bytes: int) -> None:
        self._parser = parser
        self._isolated = isolated
        self._most_bytes = most_bytes

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`."""
        parser = self._parser if _size(file) <= self._most_bytes else self._isolated
        return parser.parse(file, password=password, on_page=on_page)


def _size(file: Path) -> int:
    """The file's size; 0 where it can't be looked up, which the parser will say."""
    try:
        return file.stat().st_size
    except OSError:
        return 0
