"""Formulas of a gold answer, written in TeX, found again in an answer however that writes them."""

import re

from evaluation.matching import fold, nearest_distance
from evaluation.metrics.quantities import as_number

__all__ = ["formulas_in", "states_formula"]

_MOST_WRONG = 0.25
_TEX = re.compile(r"\$([^$]+)\$")
_MARKUP = re.compile(r"[_^]\{|\\[a-zA-Z]{2,}")
_PROSE = re.compile(r"(?<![\\\w{])[^\W\d_]{2,} [^\W\d_]{2,}")
_RELATES = re.compile(r"[=+*/<>^]|\\(?:frac|sum|prod|times|cdot|leq|geq)|-")
# JSON that was escaped once too little turns "\frac", "\times", "\right" and "\beta" into control characters.
_LOST = str.maketrans({"\f": r"\f", "\t": r"\t", "\r": r"\r", "\b": r"\b"})
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:left|right|mathcal|mathbf|mathrm|mathbb|operatorname|text|quad|qquad)\b|\\(?=[a-zA-Z{}|])")
_IDLE = re.compile(r"[{}\s$^_\\,;!]")


def formulas_in(text: str) -> list[str]:
    """The formulas between dollars, or the whole text where it is a bare one, that relate quantities.

    A lone symbol or number is none.
    """
    bare = [text] if "$" not in text and _MARKUP.search(text) and not _PROSE.search(text) else []
    found = [formula.translate(_LOST) for formula in _TEX.findall(text) or bare]
    return [formula for formula in found if _RELATES.search(formula) and as_number(formula) is None]


def states_formula(formula: str, answer: str) -> bool:
    """Whether a part of the answer differs from the formula in at most a quarter of its characters, markup aside."""
    wanted = _plain(formula)
    return nearest_distance(wanted, _plain(answer)) <= _MOST_WRONG * len(wanted)


def _plain(text: str) -> str:
    text = _COMMAND.sub("", _FRACTION.sub(r"\1/\2", text.translate(_LOST)))
    return _IDLE.sub("", fold(text)).casefold()
