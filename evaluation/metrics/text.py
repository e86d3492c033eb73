"""Comparing a predicted answer with a gold one as text. Scores are 0 to 1; take the best over several golds."""

import string
import unicodedata
from collections import Counter

from evaluation.matching import edit_distance, spaced

__all__ = ["anls", "contains_answer", "exact_match", "normalise", "token_f1"]

_ARTICLES = {"a", "an", "the"}


def normalise(text: str) -> str:
    """Folded case, without punctuation, English articles and needless blanks (the SQuAD script's `normalize_answer`).

    Unlike there, equal characters of Unicode meet (NFKC), and punctuation is what Unicode says it is. As there,
    punctuation leaves no blank behind: "state-of-the-art" is one token, and "0.5" is "05".
    """
    kept = "".join(char for char in spaced(text).casefold() if not _is_punctuation(char))
    return " ".join(token for token in kept.split() if token not in _ARTICLES)


def _is_punctuation(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char).startswith("P")


def exact_match(gold: str, predicted: str) -> bool:
    """Whether the two are equal once normalised (Rajpurkar et al., SQuAD, 2016)."""
    return normalise(gold) == normalise(predicted)


def contains_answer(gold: str, predicted: str) -> bool:
    """Whether the normalised gold stands in the normalised prediction as whole tokens; an empty one never does."""
    wanted = normalise(gold)
    return bool(wanted) and f" {wanted} " in f" {normalise(predicted)} "


def token_f1(gold: str, predicted: str) -> float:
    """F1 over the multisets of normalised tokens; 1 where neither has any (Rajpurkar et al., SQuAD 2.0, 2018)."""
    one, two = Counter(normalise(gold).split()), Counter(normalise(predicted).split())
    if not one or not two:
        return float(one == two)
    return 2 * (one & two).total() / (one.total() + two.total())


def anls(gold: str, predicted: str, *, threshold: float = 0.5) -> float:
    """1 - edit distance / length of the longer one; 0 where that distance reaches `threshold` of the length.

    Biten et al., Scene Text Visual Question Answering (2019), one question and one gold; case and blanks are folded.
    """
    one, two = spaced(gold).casefold(), spaced(predicted).casefold()
    longer = max(len(one), len(two))
    if one == two:
        return 1.0
    if abs(len(one) - len(two)) >= threshold * longer:  # the distance is at least that much
        return 0.0
    share = edit_distance(one, two) / longer
    return 1 - share if share < threshold else 0.0
