"""Tokens put together to running text, as they stood before they were cut."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Running", "running_text"]

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_OPENS = re.compile(r"(?:[(\[{\u201c\u2018\u00ab]|``)$")
_CLOSES = re.compile(r"(?:[)\]},;:!?%\u201d\u2019\u00bb]|''|\.(?!\d)|'(?:s|re|ve|ll|d|m|t)?$|n't$)", re.IGNORECASE)
_JOINS = frozenset("-/\u2010\u2011")
_QUOTE = '"'


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """Running text, and for each of its tokens where it begins and ends in there."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def of(self, first: int, end: int) -> str:
        """The words from token `first` to before token `end`. Raises IndexError where there are no such tokens."""
        if not 0 <= first < end <= len(self.ends):
            raise IndexError(f"there are no tokens from {first} to before {end} among {len(self.ends)}")
        return self.text[self.starts[first] : self.ends[end - 1]]


def running_text(tokens: Sequence[str]) -> Running:
    """The tokens with blanks only where print has them: "state - of - the - art ( SOTA ) ." is one word and brackets.

    Brackets in the Penn Treebank's spelling ("-LRB-") become signs. Straight quotes open and close in turns.
    """
    text = ""
    starts, ends = [], []
    for token, spaced in _spaced(tokens):
        text += " " if spaced and text else ""
        starts.append(len(text))
        text += token
        ends.append(len(text))
    return Running(text=text, starts=tuple(starts), ends=tuple(ends))


def _spaced(tokens: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each token, and whether a blank stands before it."""
    glued = True
    quoted = False
    for raw in tokens:
        token = _BRACKETS.get(raw, raw)
        closing = quoted if token == _QUOTE else bool(_CLOSES.match(token))
        yield token, not (glued or closing or token in _JOINS)
        if token == _QUOTE:
            quoted = not quoted
        glued = token in _JOINS or bool(_OPENS.search(token)) or (token == _QUOTE and quoted)
