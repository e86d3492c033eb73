"""The form of a gold answer, which decides by what measure an answer is right."""

import re
from typing import Literal

from evaluation.metrics.lists import read_list
from evaluation.metrics.numbers import stated_numbers
from evaluation.metrics.quantities import as_number, numbers_in
from evaluation.metrics.text import normalise

__all__ = ["Form", "form_of", "polarity"]

Form = Literal["none", "polar", "number", "list", "text", "free"]

# Names and phrases; what is longer says something.
_MOST_TOKENS = 5
_POLAR = re.compile(r"\W*(yes|no)\b(?:\W*$|\s*[.,;:!(\u2013\u2014]|\s+-)", re.IGNORECASE)
_ABSTAINS = re.compile(
    r"\W*(?:unanswerable|not answerable|n/a|not (?:given|mentioned|stated|specified)\b.*|"
    r"the (?:papers?|documents?|text|context) (?:do(?:es)? not|don't|doesn't) (?:say|mention|state|specify)\b.*)\W*",
    re.IGNORECASE,
)


def form_of(gold: str, *, answer_format: str = "") -> Form:
    """The form that the benchmark states, as far as the gold has it; else the one that it looks to have.

    "none" wants an abstention, "polar" yes or no, "number" its numbers, "list" its items, "text" a name or a phrase;
    "free" is all that says more.
    """
    stated = answer_format.casefold()
    if stated == "none" or _ABSTAINS.fullmatch(gold):
        return "none"
    if polarity(gold):
        return "polar"
    if as_number(gold) or (stated in ("int", "float", "numeric") and stated_numbers(gold)):
        return "number"
    if stated == "list" or (gold.lstrip().startswith("[") and len(read_list(gold)) > 1):
        return "list"
    short = len(normalise(gold).split()) <= _MOST_TOKENS and not numbers_in(gold)
    return "text" if stated == "str" or short else "free"


def polarity(text: str) -> str:
    """`yes` or `no` where the text opens with that word alone, else nothing."""
    match = _POLAR.match(text)
    return match[1].casefold() if match else ""
