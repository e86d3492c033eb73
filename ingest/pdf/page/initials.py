"""Initials: a large capital letter that opens a paragraph and reaches down over its first lines."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.pdf.page.words import Word

__all__ = ["fold_initials"]

_LARGE = 1.7
_CAP_HEIGHT = 0.68


def fold_initials(words: Sequence[Word]) -> list[Word]:
    """The words of a page, each initial put at the head of the word beside its top; "A" and "I" may stay alone."""
    if not words:
        return []
    body = median(word.size for word in words for _ in word.text)
    folded = list(words)
    for initial in words:
        if len(initial.text) == 1 and initial.text.isupper() and initial.size > _LARGE * body:
            beside = [word for word in words if _is_beside(word, initial, body=body)]
            if beside:
                word = min(beside, key=lambda word: (round(word.baseline), word.x0))
                alone = initial.text in "AI" and len(word.text) > 2 and _is_known(word.text, words, but=word)
                text = f"{initial.text} {word.text}" if alone else initial.text + word.text
                folded[folded.index(word)] = replace(word, text=text, x0=initial.x0)
                folded.remove(initial)
    return folded


def _is_beside(word: Word, initial: Word, *, body: float) -> bool:
    """Whether a word of body size stands right of an initial, its capitals as high as the initial's top."""
    top = initial.baseline - _CAP_HEIGHT * initial.size
    return (
        word.size < 1.3 * body
        and -0.3 * body < word.x0 - initial.x1 < 1.2 * body
        and abs(word.baseline - _CAP_HEIGHT * word.size - top) < 0.5 * body
        and initial.baseline - word.baseline > 0.6 * body
    )


def _is_known(text: str, words: Sequence[Word], *, but: Word) -> bool:
    return any(word is not but and word.text.lower() == text.lower() for word in words)
