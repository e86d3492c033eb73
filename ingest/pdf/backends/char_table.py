"""The characters of a page in little memory: a long document has millions of them."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import add
from typing import TypeAlias, cast, overload

from ingest.pdf.backend import Char

__all__ = ["CharTable"]

_NUMBERS = 4
# Without Python code for each character, of which a paper has a hundred thousand.
_char = cast("Callable[[object], Char]", partial(tuple.__new__, Char))
_Style: TypeAlias = tuple[str, bool, bool, int]


class CharTable(Sequence[Char]):
    """The same characters as the sequence it was made of, held as columns and made anew when they are asked for."""

    __slots__ = ("_numbers", "_styles", "_texts")

    def __init__(self, chars: Sequence[Char]) -> None:
        known: dict[_Style, _Style] = {}
        styles = [(char.font, char.bold, char.italic, char.direction) for char in chars]
        numbers = ((char.x0, char.x1, char.baseline, char.size) for char in chars)
        self._texts = tuple(char.text for char in chars)
        self._numbers = array("d", chain.from_iterable(numbers))
        self._styles = tuple(known.setdefault(style, style) for style in styles)

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[Char]:
        numbers = iter(self._numbers)
        heads = zip(self._texts, numbers, numbers, numbers, numbers, strict=True)
        return map(_char, map(add, heads, self._styles))

    @overload
    def __getitem__(self, index: int) -> Char: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Char]: ...
    def __getitem__(self, index: int | slice) -> Char | Sequence[Char]:
        if isinstance(index, slice):
            return tuple(self)[index]
        at = range(len(self))[index]
        x0, x1, baseline, size = self._numbers[_NUMBERS * at : _NUMBERS * (at + 1)].tolist()
        return Char(self._texts[at], x0, x1, baseline, size, *self._styles[at])
