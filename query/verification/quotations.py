"""Whether what stands in quotation marks stands in the evidence, word for word."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

__all__ = ["folded", "unquoted"]

_SAME = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | {"\u00ad": None, "\u200b": None, "\u2026": "..."}
)
_STRAIGHT = re.compile(r'(?<!\w)"([^"\n]+)"(?!\w)')
_CUT = re.compile(r"\s*(?:\[\s*(?:\.\.\.|\u2026)\s*\]|\.\.\.|\u2026)\s*")
# Fewer words are a name or an emphasis, not a quotation.
_LEAST_WORDS = 3


def folded(text: str) -> str:
    """NFKC, one kind of dash, quotation mark and blank, no soft hyphens: what two typesettings of a text share."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME).replace("''", '"').split())


def unquoted(text: str, printed: Sequence[str]) -> list[str]:
    """The quotations of a text that none of the printed texts holds; each part of one with an ellipsis counts alone.

    Only typography may differ, and the mark at the end, which some styles put inside.
    """
    known = [folded(one) for one in printed]
    return [
        quotation
        for quotation in _quotations(text)
        if not any(folded(quotation) in one for one in known)
        for part in _CUT.split(quotation)
        if len(part.split()) >= _LEAST_WORDS and not any(folded(part).rstrip(".,;:!?") in one for one in known)
    ]


def _quotations(text: str) -> Iterator[str]:
    """What stands between curly marks, the outermost ones, then between straight ones."""
    depth, start, rest = 0, 0, ""
    for index, letter in enumerate(text):
        if letter == "\u201c":
            start = index + 1 if depth == 0 else start
            depth += 1
        elif letter == "\u201d" and depth:
            depth -= 1
            if depth == 0:
                yield text[start:index]
        elif depth == 0:
            rest += letter
    yield from _STRAIGHT.findall(rest)
