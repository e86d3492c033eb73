"""What an abbreviation stands for, as the papers themselves introduce it: "Long Form (LF)"."""

import re
from collections.abc import Sequence

from paperscope.sentences import sentences
from paperscope.types import Paper
from query.embedded.quotes import Quote, Scorer

__all__ = ["definition", "expansion"]

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
            for sentence in sentences(text) if f"({short}" in text else []:
                long = expansion(sentence, short)
                found = [quote for quote in scorer.quotes(element, "") if quote.sentences == (sentence,)]
                if long and found:
                    return f"{short} stands for {long}", found[0]
    return None


def expansion(text: str, short: str) -> str:
    """The long form before "(SHORT)" in a text, "" if there is none.

    The letters of the short form stand in the long form in their order, and its first begins a word (Schwartz and
    Hearst, 2003).
    """
    match = re.search(rf"\(\s*{re.escape(short)}s?\b", text)
    if match is None:
        return ""
    before = text[: match.start()].rstrip()
    letters = [letter for letter in short.casefold() if letter.isalnum()]
    at = len(before)
    for number, letter in reversed(list(enumerate(letters))):
        at -= 1
        while at >= 0 and not _stands(before, at, letter, first=number == 0):
            at -= 1
        if at < 0:
            return ""
    long = before[at:]
    return long if len(long.split()) <= min(len(letters) + 5, 2 * len(letters)) else ""


def _stands(text: str, at: int, letter: str, *, first: bool) -> bool:
    return text[at].casefold() == letter and not (first and at > 0 and text[at - 1].isalnum())
