"""What tells a heading from running text: its letters, its number, its fixed names."""

import re
from dataclasses import dataclass

from ingest.pdf.backends.fonts import is_small_capitals
from ingest.pdf.page.lines import Line

__all__ = ["FIXED", "NUMBER", "LineStyle", "is_references_title", "split_number", "style_of"]

NUMBER = re.compile(
    r"(?:(?i:appendix|section|chapter)\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})"
    r"(?P<dot>[.:)]?)\s+(?=[^\W\d_]|\d+[A-Z]|[“\"'])"
)
FIXED = re.compile(
    r"(?:abstract|references|bibliography|works cited|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|"
    r"introduction|discussion|results|methods|(?:broader )?impact(?: statement)?|ethics statement|"
    r"supplementary materials?|declarations?|funding|data availability)[.:]?",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:\S+\s+)?(?:references(?: and notes| cited)?|notes and references|bibliography|works cited|"
    r"literature cited)[.:]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LineStyle:
    """How a line is set; `size` to half a point."""

    size: float
    bold: bool
    italic: bool
    capitals: bool

    @property
    def rank(self) -> tuple[float, bool, bool, bool]:
        """Sorts styles from the most to the least prominent."""
        return -self.size, not self.capitals, not self.bold, self.italic


def style_of(line: Line) -> LineStyle:
    """The style of most of a line's letters."""
    letters = [letter for letter in line.text if letter.isalpha()]
    capitals = len(letters) > 3 and sum(letter.isupper() for letter in letters) > 0.8 * len(letters)
    return LineStyle(
        size=round(line.size * 2) / 2,
        bold=line.bold > 0.85,
        italic=line.italic > 0.7,
        capitals=capitals or is_small_capitals(line.font),
    )


def split_number(text: str) -> tuple[str, str]:
    """`4.2 Results` -> (`4.2`, `Results`); a heading without a number gives ("", text)."""
    match = NUMBER.match(text)
    if not match:
        return "", text.strip()
    return match["number"], text[match.end() :].strip()


def is_references_title(text: str) -> bool:
    """Whether a heading opens the bibliography."""
    return bool(_REFERENCES.fullmatch(split_number(text)[1]))
