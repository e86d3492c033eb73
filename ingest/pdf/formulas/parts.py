"""The parts of a formula: words, delimiters and what was read into one."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.page.words import Word

__all__ = ["OPERATORS", "Part", "delimiters_joined", "part_of"]

OPERATORS = frozenset("∑∏∫⋃⋂") | {"max", "min", "lim", "sup", "inf", "argmax", "argmin", "arg max", "arg min"}
_SIGNS = frozenset("∑∏∫⋃⋂")
_PIECES = {
    **dict.fromkeys("⎛⎜⎝", "("),
    **dict.fromkeys("⎞⎟⎠", ")"),
    **dict.fromkeys("⎡⎢⎣", "["),
    **dict.fromkeys("⎤⎥⎦", "]"),
    **dict.fromkeys("⎧⎨⎩", "{"),
    **dict.fromkeys("⎫⎬⎭", "}"),
    "⎪": "",
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Part:
    """A word, or several parts read into one; it spans `top` to `bottom`, its letters stand on `baseline`."""

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    top: float
    bottom: float

    @property
    def center(self) -> float:
        """The x of the middle."""
        return (self.x0 + self.x1) / 2

    @property
    def middle(self) -> float:
        """The y of the middle."""
        return (self.top + self.bottom) / 2


def part_of(word: Word) -> Part:
    """The word as a part, its mathematical letters as plain ones (𝑥 as x)."""
    text = "".join(_plain(letter) for letter in word.text)
    stretch = 0.35 * word.size if text in _SIGNS else 0.0
    return Part(
        text=text,
        x0=word.x0,
        x1=word.x1,
        baseline=word.baseline,
        size=word.size,
        top=word.y0 - stretch,
        bottom=word.y1 + stretch,
    )


def _plain(letter: str) -> str:
    styled = letter == "ℎ" or 0x1D400 <= ord(letter[0]) < 0x1D800
    return unicodedata.normalize("NFKC", letter) if styled else letter


def delimiters_joined(parts: Sequence[Part]) -> list[Part]:
    """The parts with the pieces of a tall delimiter, one above the other, as one in their middle."""
    whole = [part for part in parts if part.text not in _PIECES]
    columns: list[list[Part]] = []
    for piece in sorted((part for part in parts if part.text in _PIECES), key=lambda part: part.baseline):
        column = next((column for column in columns if _goes_on(column[-1], piece)), None)
        if column is None:
            columns.append([piece])
        else:
            column.append(piece)
    for column in columns:
        text = max((_PIECES[piece.text] for piece in column), default="")
        top, bottom = min(piece.top for piece in column), max(piece.bottom for piece in column)
        if text:
            first = column[0]
            baseline = (column[0].baseline + column[-1].baseline) / 2
            whole.append(
                Part(text=text, x0=first.x0, x1=first.x1, baseline=baseline, size=first.size, top=top, bottom=bottom)
            )
    return whole


def _goes_on(last: Part, piece: Part) -> bool:
    same = _PIECES[last.text] == _PIECES[piece.text] or not _PIECES[last.text] or not _PIECES[piece.text]
    return same and abs(last.x0 - piece.x0) < 1.5 and piece.baseline - last.baseline < 2.2 * piece.size
