"""What a text says of statistical significance: p-values against a level, intervals against zero, chance."""

import re
from collections.abc import Iterable

from query.extractive.words import fold

__all__ = ["LEVEL", "asks_significance", "level_in", "significance"]


# Fisher's convention, where a paper states no level of its own.
LEVEL = 0.05
_ASKED = re.compile(r"significan\w*|statistical\w*", re.IGNORECASE)
_NUMBER = r"(?:\d+(?:\.\d+)?(?:\s?[×x·]\s?10\s?-\s?\d+|e-?\d+)?|\.\d+)"
_P_VALUE = re.compile(
    rf"\bp(?:[ -]?values?)?\s*(?:(?:is|are|was|were|of|at)\s+)?(?P<sign>[=<>≤≥≪≈]|below|above|under|over)?\s*"
    rf"(?P<values>{_NUMBER}(?:(?:,\s*|\s+and\s+|,\s*and\s+){_NUMBER})*)(?P<percent>\s?%)?"
)
_LEVEL = re.compile(
    rf"\b(?:significance level|level of significance|alpha|α)\s*(?:of|=|is|was|at|to)?\s*(?P<value>{_NUMBER})"
    rf"(?P<percent>\s?%)?|(?P<before>{_NUMBER})(?P<share>\s?%)?\s+(?:significance level|level of significance)",
    re.IGNORECASE,
)
_HOLDS_ZERO = re.compile(
    r"\b(?:interval|CI)s?\b[^.;]{0,60}?\b(?P<not>(?:not|n['’]t|never)\s+)?"
    r"(?:hold|contain|includ|span|cross|cover|straddl|overlap)\w*\s+(?:with\s+)?(?:zero|0)\b(?!\.\d)",
    re.IGNORECASE,
)
_OFF_ZERO = re.compile(
    r"\b(?:interval|CI)s?\b[^.;]{0,60}?\b(?:above|below|beyond|clear of|away from|exclud\w*)\s+(?:zero|0)\b(?!\.\d)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"\b(?:interval|CI)\b[^.;\d+-]{{0,30}}[\[(]?\s*(?P<low>[+-]?\s?{_NUMBER})\s*(?:,|to|;)\s*(?P<high>[+-]?\s?{_NUMBER})"
)
_BEYOND_CHANCE = re.compile(r"\b(?:more than|beyond|not (?:due to|by)) (?:mere |pure )?chance\b", re.IGNORECASE)
_CHANCE = re.compile(r"(?<!not )\b(?:due to|within|explained by|by) (?:mere |pure )?(?:chance|noise)\b", re.IGNORECASE)


def asks_significance(word: str) -> bool:
    """Whether a folded word of a question asks for significance, or qualifies it ("statistically")."""
    return _ASKED.fullmatch(word) is not None


def level_in(texts: Iterable[str]) -> float:
    """The level of significance that the texts state first, else `LEVEL`."""
    for text in texts:
        match = _LEVEL.search(fold(text))
        if match is not None:
            percent = match["percent"] or match["share"]
            value = _value(match["value"] or match["before"]) / (100 if percent else 1)
            if 0 < value < 1:
                return value
    return LEVEL


def significance(text: str, level: float = LEVEL) -> frozenset[bool]:
    """What the figures of a text say: True for significance, False against it, both where they differ."""
    folded = fold(text)
    found = {verdict for match in _P_VALUE.finditer(folded) for verdict in _of_p_value(match, level)}
    found |= {match["not"] is not None for match in _HOLDS_ZERO.finditer(folded)}
    found |= {True for _ in _OFF_ZERO.finditer(folded)}
    # An interval that lies off zero speaks for a difference only, and which it is of can't be told.
    found |= {False for match in _RANGE.finditer(folded) if _signed(match["low"]) < 0 < _signed(match["high"])}
    found |= {True for _ in _BEYOND_CHANCE.finditer(folded)} | {False for _ in _CHANCE.finditer(folded)}
    return frozenset(found)


def _of_p_value(match: re.Match[str], level: float) -> set[bool]:
    """Nothing where a bound leaves it open: "p < 0.1"."""
    sign = match["sign"] or "="
    values = [_value(value) / (100 if match["percent"] else 1) for value in re.findall(_NUMBER, match["values"])]
    if sign in ("=", "≈"):
        return {value <= level for value in values if value <= 1}
    if sign in (">", "≥", "above", "over"):
        return {False for value in values if level <= value <= 1}
    return {True for value in values if value <= level}


def _value(text: str) -> float:
    number, _, power = re.sub(r"\s?[×x·]\s?10\s?", "e", text.replace(" ", "")).partition("e")
    return float(number) * float(f"1e{power or 0}")


def _signed(text: str) -> float:
    return (-1 if text.startswith("-") else 1) * _value(text.lstrip("+- "))
