"""Makes words and characters as they are read from a page."""

from ingest.document.pages import Char
from ingest.pdf.words import Word

LETTER = 0.5


def word(text: str, x0: float, baseline: float, *, size: float = 10.0, bold: bool = False, math: float = 0.0) -> Word:
    """A word whose letters are half as wide as they are high."""
    return Word(
        text=text,
        x0=x0,
        x1=x0 + LETTER * size * len(text),
        baseline=baseline,
        size=size,
        font="Times",
        bold=bold,
        italic=False,
        math=math,
    )


def chars(text: str, x0: float, baseline: float, *, size: float = 10.0) -> list[Char]:
    width = LETTER * size
    return [
        Char(letter, x0 + index * width, x0 + (index + 1) * width, baseline, size, "Times", False, False)
        for index, letter in enumerate(text)
        if letter != " "
    ]


def sentence(text: str, x0: float, baseline: float, *, size: float = 10.0) -> list[Word]:
    words, x = [], x0
    for part in text.split():
        words.append(word(part, x, baseline, size=size))
        x = words[-1].x1 + 3
    return words
