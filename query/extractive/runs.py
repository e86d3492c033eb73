"""The runs of words in a question that no function word or stop parts: its phrases, as far as no parser is needed."""

import re
from dataclasses import dataclass

from query.extractive.question import Question
from query.extractive.words import FUNCTION_WORDS

__all__ = ["TELLS", "Run", "runs"]


# Verbs that tell are words of content here: "Does the report name its scorer?"
TELLS = frozenset("describe explain list mention name propose report say show tell write".split())
_BREAKS = (FUNCTION_WORDS | frozenset("among behind between during".split())) - TELLS
_STOP = re.compile(r"[,;:?!()\"“”]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """Indices of consecutive words, and the function word before them, "" where a stop or nothing is."""

    words: tuple[int, ...]
    before: str


def runs(question: Question) -> tuple[Run, ...]:
    """The runs in their order; signs belong to none."""
    found: list[Run] = []
    current: list[int] = []
    before = ""
    for index, word in enumerate(question.words):
        stopped = index > 0 and _STOP.search(question.text[question.words[index - 1].end : word.start]) is not None
        function = word.text in _BREAKS
        if current and (stopped or function or word.sign):
            found.append(Run(words=tuple(current), before=before))
            current = []
        if stopped or word.sign:
            before = ""
        if function:
            before = word.text
        elif not word.sign:
            current.append(index)
    if current:
        found.append(Run(words=tuple(current), before=before))
    return tuple(found)
