"""A question with its gold, whatever benchmark it comes from."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from paperscope_core.types import Paper, content_hash

__all__ = ["GoldQuestion", "Source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a library is made of: files, or papers that are known as text."""

    files: tuple[Path, ...] = ()
    papers: tuple[Paper, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Changes with the content; a file that is missing has that of none."""
        contents = [_content(file) for file in self.files]
        return content_hash("\0".join((*contents, *(paper.sha256 for paper in self.papers))).encode())


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldQuestion:
    """A question on one library.

    `name` is SET/PAPER/ITEM. `references` are gold answers, any of which is right; `answerable` tells whether the
    library says. `answer_format` is the form that the benchmark states ("Int", "Yes/No" …), "" where it states none.
    `pages` are where the evidence stands: a file of the source and a page in it from 1, none where unknown; `kinds`
    is what it is ("text", "table", "figure", "equation", "other"); `evidence` are each annotator's paragraphs.
    """

    name: str
    question: str
    references: tuple[str, ...]
    answerable: bool = True
    answer_format: str = ""
    pages: tuple[tuple[Path, int], ...] = ()
    kinds: tuple[str, ...] = ()
    evidence: tuple[tuple[str, ...], ...] = ()


@cache
def _content(file: Path) -> str:
    return content_hash(file.read_bytes()) if file.is_file() else ""
