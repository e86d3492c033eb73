"""Makes characters, words, lines and pages as they are read from a file."""

from collections.abc import Sequence

from ingest.document.pages import Char, PageContent
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word

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


def printed_line(text: str, baseline: float, *, x0: float = 50, size: float = 10.0) -> Line:
    return line_of(sentence(text, x0, baseline, size=size))


def printed_page(number: int, texts: Sequence[tuple[str, float]], *, x0: float = 50, size: float = 10.0) -> PageLayout:
    """A page of lines, each a text and its baseline."""
    content = PageContent(number=number, width=600, height=800)
    lines = tuple(printed_line(text, baseline, x0=x0, size=size) for text, baseline in texts)
    return PageLayout(content=content, words=tuple(word for line in lines for word in line.words), lines=lines)
