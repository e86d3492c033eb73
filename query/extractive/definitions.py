"""What an abbreviation stands for, as the papers themselves introduce it: "Long Form (LF)"."""

import re
from collections.abc import Sequence

from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Paper
from query.extractive.quotes import Quote, Scorer

__all__ = ["definition"]


_ASKED = re.compile(
    r"\bwhat (?:does|do|did) (?:the )?(?:abbreviation |acronym |term )?[“\"']?(?P<does>[\w&/+-]+)[”\"']?s? "
    r"(?:stand for|abbreviate|mean)\b"
    r"|\b(?:full (?:name|form)|expansion|meaning) of (?:the )?(?:abbreviation |acronym )?[“\"']?(?P<of>[\w&/+-]+)"
    r"|\bwhat is [“\"']?(?P<is>[\w&/+-]+)[”\"']? (?:short|an abbreviation|an acronym) (?:for|of)\b",
    re.IGNORECASE,
)


def definition(question: str, scorer: Scorer, papers: Sequence[Paper]) -> tuple[str, Quote] | None:
    """What the abbreviation that the question asks about stands for, and the first sentence that says so.

    None where the question asks for no abbreviation, or no passage introduces it.
    """
    match = _ASKED.search(question)
    short = next(filter(None, match.groups()), "") if match is not None else ""
    if sum(letter.isupper() for letter in short) < 2:
        return None
    for paper in papers:
        for element in paper.elements:
            text = element.text if element.kind == "passage" else ""
            for sentence in split_sentences(text) if short in text else []:
                long = next((one.long for one in find_definitions(sentence) if one.short in (short, f"{short}s")), "")
                quotes = scorer.quotes(element, "") if long else []
                found = next((quote for quote in quotes if quote.sentences == (sentence,)), None)
                if found is not None:
                    return f"{short} stands for {long}", found
    return None
