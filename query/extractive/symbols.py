"""Symbols in a table's headers, spelt out as its caption does: "Mean ± s" under "with sample deviation s"."""

import re

from query.extractive.words import fold

__all__ = ["spelt_out"]


_SYMBOL = re.compile(r"(?<![\w-])[^\W\d_](?![\w-])")


def spelt_out(header: str, caption: str) -> str:
    """The header with its one-letter symbols replaced by the two words before each in the caption.

    "" where the caption spells none out.
    """
    folded, told = fold(header), fold(caption)
    words = {symbol: _words_before(symbol, told) for symbol in _SYMBOL.findall(folded)}
    if not any(words.values()):
        return ""
    return _SYMBOL.sub(lambda match: words[match[0]] or match[0], folded)


def _words_before(symbol: str, told: str) -> str:
    match = re.search(rf"([^\W\d_]{{3,}} [^\W\d_]{{3,}}),? \(?{re.escape(symbol)}(?![\w-])", told)
    return match[1] if match else ""
