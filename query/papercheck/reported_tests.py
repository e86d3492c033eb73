"""Recomputes p-values from the test statistics beside them, as statcheck does.

Nuijten et al., "The prevalence of statistical reporting errors in psychology", Behavior Research Methods 48 (2016): a
result is "t(28) = 2.20, p = .036". Its p-value is wrong if no statistic that rounds to the printed one has it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal

from paperscope_core.types import Evidence, Paper, Passage, places_of
from query.papercheck.discrepancies import Discrepancy

__all__ = ["find_wrong_p_values"]

_DECIMAL = r"\d{0,6}\.?\d{1,6}"
_RESULT = re.compile(
    rf"(?<![\w.])(?P<name>[tFrzZ]|[\u03c7X\u03a7]\s?\^?\(?2\)?)\s?"
    rf"(?:\(\s?(?P<first>{_DECIMAL})\s?(?:,\s?(?:[Nn]\s?=\s?)?(?P<second>(?:\d{{1,3}},)*+{_DECIMAL})\s?)?\))?\s?=\s?"
    rf"(?P<sign>-?)\s?(?P<value>{_DECIMAL})\s?[,;]\s?p\s?(?P<relation>[<>=])\s?(?P<p>0?\.\d{{1,6}}|0|1(?:\.0+)?)(?!\d)"
)
# The p-value of one of several comparisons may be multiplied by their number.
_CORRECTED = re.compile(r"(?i)bonferroni|holm|tukey|\bFDR\b|\b(?:un)?corrected|\badjusted")
_MINUS = re.compile(r"[\u2010-\u2013\u2212]")


def find_wrong_p_values(paper: Paper) -> Iterator[Discrepancy]:
    """Yield the p-values of the text that do not belong to their test statistics."""
    for passage in paper.elements:
        if isinstance(passage, Passage) and passage.role in ("abstract", "paragraph", "list", "footnote"):
            if _CORRECTED.search(passage.text) or passage.place.page in paper.doubtful_pages:
                continue
            # Each replacement is of one character, so that the places in the text stay.
            text = _MINUS.sub("-", "".join(map(_plain, passage.text)))
            for match in _RESULT.finditer(text):
                if shown := _contradiction(match):
                    quote = passage.text[match.start() : match.end()]
                    statistic = " ".join(passage.text[match.start() : match.end("value")].split())
                    place, *more = places_of(passage, quote)
                    evidence = Evidence(element=passage.id, place=place, quote=quote, more_places=tuple(more))
                    yield Discrepancy(kind="p_value", arithmetic=f"{statistic} has {shown}", evidence=(evidence,))


def _plain(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character


def _contradiction(match: re.Match[str]) -> str:
    """Return what p-value the statistic has if the printed p-value does not belong to the statistic, else ""."""
    tail = _tail(match)
    if tail is None:
        return ""
    value, half = float(match["value"]), _half(match["value"])
    most, least = tail(max(0.0, value - half)), tail(value + half)
    stated, slack = float(match["p"]), _half(match["p"])
    sided = match["name"] in "trzZ"
    for low, high in ((least, most), *([(least / 2, most / 2)] if sided else [])):
        if match["relation"] == "=" and low <= stated + slack and stated - slack <= high:
            return ""
        if (match["relation"] == "<" and low < stated) or (match["relation"] == ">" and high > stated):
            return ""
    shown = " to ".join(dict.fromkeys((f"{least:.3g}", f"{most:.3g}")))
    return f"p = {shown}{', two-sided' if sided else ''}; printed: p {match['relation']} {match['p']}"


def _half(text: str) -> float:
    return float(Decimal(5).scaleb(-len(text.partition(".")[2]) - 1))


def _tail(match: re.Match[str]) -> Callable[[float], float] | None:
    """Return the function from a statistic to its p-value; None if its degrees of freedom are missing."""
    from scipy import special

    first, second = (float((match[group] or "0").replace(",", "")) for group in ("first", "second"))
    name = match["name"]
    if name in "zZ":
        return None if first else lambda value: float(2 * special.ndtr(-value))
    if first <= 0 or (name == "F" and second <= 0):
        return None
    if name == "F":
        return lambda value: float(special.fdtrc(first, second, value))
    if name not in "tr":
        return lambda value: float(special.chdtrc(first, value))

    def of_t(value: float) -> float:
        if name == "r":
            value *= (first / max(1e-12, 1 - value * value)) ** 0.5
        return float(2 * special.stdtr(first, -value))

    return of_t
