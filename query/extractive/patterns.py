"""The English patterns by which questions ask: no pattern knows a paper or a field. All match case-folded text."""

import re
from typing import Literal

__all__ = [
    "BIBLIOGRAPHIC",
    "CHOICE",
    "ENTRY",
    "FOCUS_ENDS",
    "FRAME",
    "GAIN",
    "HIGH",
    "KINDS",
    "LOW",
    "PICTURED",
    "PIVOT",
    "POLAR",
    "QUANTITY",
    "RANK",
    "RANKS",
    "YES_OR_NO",
    "Kind",
]


Kind = Literal[
    "look-up",
    "superlative",
    "comparison",
    "difference",
    "gain",
    "ratio",
    "sum",
    "average",
    "count",
    "formula",
    "reason",
]

_HIGH = r"highest|largest|greatest|biggest|maxim(?:um|al)|longest|strongest|most|top(?=-| |\?)"
_LOW = r"lowest|smallest|fewest|minim(?:um|al)|shortest|weakest|least"
_MORE = r"higher|lower|better|worse|more|less|larger|smaller|greater|fewer|faster|slower|longer|shorter"
_CALCULATED = r"calculat|comput|defin|formulat|deriv|updat|normali[sz]|weighted"
_BEATS = r"(?:outperform|exceed|surpass|beat)(?:s|ed)?"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


HIGH = re.compile(rf"\b(?:{_HIGH})\b")
LOW = re.compile(rf"\b(?:{_LOW})\b")
GAIN = _any(
    r"\b(?:improve(?:ment|s|d)?|boost(?:s|ed)?|gain(?:s|ed)?|increase[sd]?|drop(?:s|ped)?|decrease[sd]?|uplift)\b"
)

# The first kind whose pattern stands in the question is its kind; the matched words ask, and name nothing.
# Where names may stand within a pattern, group `asks` holds the words that ask.
KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "formula",
        _any(
            rf"\bhow (?:is|are|was|were|does|do|did) .*?\b(?P<asks>(?:{_CALCULATED})\w*)",
            r"\b(?:formulas?|formulae|equations?)\b",
            r"\bmathematical(?:ly)? (?:expression|definition|defined)\b",
        ),
    ),
    ("reason", _any(r"^\W*why\b", r"\bwhat (?:is|are|was|were) the (?:reason|motivation|purpose|goal|aim)s?\b")),
    (
        "difference",
        _any(
            r"\bby how (?:much|many)\b",
            rf"\bhow (?:much|many)(?: \w+)? (?:{_MORE})\b",
            r"\b(?:difference|gap|margin)s? (?:in|between|of)\b",
            rf"\bhow (?:much|many)\b.*\b(?P<asks_for>{_BEATS})\b",
        ),
    ),
    ("superlative", _any(rf"(?<!at )\b(?:{_HIGH}|{_LOW}|best|worst)\b")),
    ("gain", GAIN),
    ("ratio", _any(r"\bratios?\b", r"\bhow many times\b", r"\bfactor of\b")),
    (
        "comparison",
        _any(
            r"\bcompar(?:e|es|ed|ing|ison)\b",
            rf"\b(?:{_MORE}) than\b",
            rf"\b{_BEATS}\b",
            r"\b(?:versus|vs)\b",
            rf"\bwhich (?:\w+ )*(?:is|has|are) (?:the )?(?:{_MORE})\b",
        ),
    ),
    ("sum", _any(r"\bsum of\b", r"\bin total\b", r"\btotal (?:number|amount|count)\b", r"\b(?:altogether|combined)\b")),
    ("average", _any(r"\b(?:average|mean) (?:of|over|across)\b")),
    ("count", _any(r"\bhow many\b", r"\bnumber of (?:rows|columns|tables|figures)\b")),
)

# What follows names the standard of comparison.
PIVOT = _any(
    r"\b(?:when )?compar(?:ed|es?|ing) (?:to|with|against)(?: that of)?\b",
    r"\brelative to\b",
    r"\bthan(?: that of)?\b",
    r"\b(?:over|versus|vs|against)\b",
)

RANKS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
RANK = re.compile(rf"\b(?P<rank>{'|'.join(RANKS)})[\s-]+(?:{_HIGH}|{_LOW}|best|worst)\b")
# Only figures answer these.
QUANTITY = _any(
    r"\b(?:what|which) (?:[\w-]+ ){0,2}"
    r"(?:f1|score|accuracy|precision|recall|rate|ratio|percentage|number|epoch|step|year)\b",
)
POLAR = _any(r"^\W*(?:is|are|was|were|does|do|did|can|could|has|have)\b")
# "Does it support A or B?" asks for yes or no; "Is it A or B?" for one of them.
YES_OR_NO = _any(r"^\W*(?:does|do|did|can|could|has|have)\b")
CHOICE = re.compile(r"(?P<left>[^,?:]+?),? or (?P<right>[^,?]+?)\s*\?")
BIBLIOGRAPHIC = _any(
    r"\b(?:publi(?:sh(?:ed)?|cations?)|authors?|authored|wr(?:ote|itten by)|proceedings|conference|journal|preprint|"
    r"arxiv|cit(?:ed|es|ations?)|references?|titled?|presented (?:at|in|on))\b"
)
# "According to the paper", "does the document mention that": where it is to be told, not what.
_DOCUMENT = r"(?:the|this) (?:document|papers?|texts?|study|article|authors?|publication|manuscript)"
FRAME = _any(
    rf"\b(?:(?:mention|describ|introduc|propos|discuss|report|present|provid)\w* )?"
    rf"(?:according to|in|by|from) {_DOCUMENT}\b",
    rf"\b{_DOCUMENT} (?:mention|suggest|indicate|state|say|claim|discuss|describe|conclude|argue|confirm)s?"
    r"(?: that)?\b",
)
# What an entry of a bibliography need not say of itself.
ENTRY = _any(
    r"\b(?:publi(?:sh(?:ed)?|cations?)|authored|written|titled?|presented|preprint|available|expected to be|work)\b",
    r"\b(?:authors?|colleagues|others)\b",
    r"\b(?:appears?|included) in the (?:references?|bibliography)(?: list)?\b",
)
# What only a look at a picture tells.
_COLOUR = r"(?:black|blue|brown|gray|green|grey|orange|pink|purple|red|white|yellow)"
PICTURED = _any(
    r"\bwhat colou?rs?\b",
    r"\bcolou?rs? of\b",
    rf"\b{_COLOUR} (?:colou?r|background|bar|line|box|rectangle|arrow|curve|dot|circle)(?:s|ed)?\b",
    r"\bfig(?:ure|\.)s? ?\d",
    r"\b(?:the|this|that|first|second|last|example|which|each) (?:[\w-]+ ){0,2}"
    r"(?:figure|chart|plot|diagram|picture|graph)\b",
    r"\b(?:bar|pie|line) (?:chart|plot|graph)s?\b",
)
# "calculate X for Y": what is calculated ends here.
FOCUS_ENDS = frozenset("for in of on by with when at from under".split())
