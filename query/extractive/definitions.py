"""Definitions that a paper states in a fixed form: "Long Form (LF)", "X, short for ...", "we define X as ..."."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Claim, Paper, Passage
from query.definitions import asked_term, states_definition
from query.extractive.quoting import quoted
from query.extractive.wording import fold

__all__ = ["definition"]

# Phrases that ask for a long form, and the short form next to them. If there is none, the question's only short form is
# meant.
_EXPANDS = re.compile(
    r"\bstands? for\b|\bshort for\b|\babbreviat\w+|\bacronyms?\b|\b(?:spell|spelt|spelled|spells) out\b"
    r"|\bfull (?:name|form)\b|\bexpan(?:sion|d|ds|ded)\b",
    re.IGNORECASE,
)
_NAMED_SHORT_FORM = re.compile(
    r"\b(?:does|do|did|is) (?:the )?(?:abbreviation |acronym |term )?[“\"']?(?P<first>[\w&/+-]+)[”\"']?"
    r" (?:stand|short|abbreviate|an a|mean)|\babbreviated (?:as |to )?[“\"']?(?P<named>[\w&/+-]+)"
    r"|\bof (?:the )?(?:abbreviation |acronym )?[“\"']?(?P<last>[\w&/+-]+)",
    re.IGNORECASE,
)
_SHORT = re.compile(r"(?<![\w-])(?=\w*[A-Z]\w*[A-Z])[\w&/+-]{2,10}(?![\w-])")
# "What does X stand for, and who uses it?" asks for more than a definition.
_SECOND_QUESTION = re.compile(r"\band (?:what|which|who|how|when|where|why)\b", re.IGNORECASE)


def definition(question: str, papers: Sequence[Paper]) -> Claim | None:
    """The papers' definition of the term that the question asks about.

    Args:
        question: The question.
        papers: The papers asked, the most relevant first.

    Returns:
        The definition with the sentence that states it; None if the question asks for none, no paper states one in a
        fixed form, or the papers expand a short form differently.
    """
    text = fold(question)
    if _SECOND_QUESTION.search(text):
        return None
    if _EXPANDS.search(text):
        beside = (form for match in _NAMED_SHORT_FORM.finditer(text) for form in match.groups() if form)
        shorts = [form for form in beside if _SHORT.fullmatch(form)][:1] or _SHORT.findall(text)
        expanded = [claim for short in dict.fromkeys(shorts) if (claim := _expansion(short, papers)) is not None]
        return expanded[0] if len(expanded) == 1 else None
    term = asked_term(text)
    if not term:
        return None
    return next(_stated_definitions(term, papers), None) or _expansion(term, papers)


def _expansion(short: str, papers: Sequence[Paper]) -> Claim | None:
    """The long form of a short form, if all papers that define it agree."""
    if not _SHORT.fullmatch(short):
        return None
    found = [
        (one.long, passage, sentence)
        for passage, sentence in _sentences(papers, holding=short)
        for one in find_definitions(sentence)
        if one.short in (short, f"{short}s")
    ]
    if len({fold(long).casefold().rstrip("s").replace("-", " ") for long, _, _ in found}) != 1:
        return None
    long, passage, sentence = found[0]
    return quoted(passage, sentence, lead=f"{short} stands for {long}")


def _stated_definitions(term: str, papers: Sequence[Paper]) -> Iterator[Claim]:
    for passage, sentence in _sentences(papers, holding=term.split(maxsplit=1)[0]):
        if states_definition(term, sentence):
            yield quoted(passage, sentence)


def _sentences(papers: Sequence[Paper], *, holding: str) -> Iterator[tuple[Passage, str]]:
    wanted = holding.casefold()
    for element in chain.from_iterable(paper.elements for paper in papers):
        if isinstance(element, Passage) and wanted in element.text.casefold():
            yield from (
                (element, sentence) for sentence in split_sentences(element.text) if wanted in sentence.casefold()
            )
