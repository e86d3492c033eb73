"""Text measures: exact match, token F1, ANLS, and F1 of lists."""

import ast
import json
import re
import string
import unicodedata
import warnings
from collections import Counter
from collections.abc import Sequence

from paperscope_lab.evaluation.matching import edit_distance, normalise_spaces
from paperscope_lab.evaluation.metrics.numbers import as_number, same_number
from paperscope_lab.evaluation.metrics.sets import best_assignment, overlap

__all__ = ["anls", "contains_answer", "exact_match", "item_similarity", "list_f1", "normalise", "read_list", "token_f1"]

_ARTICLES = {"a", "an", "the"}

_BULLET = re.compile(r"^\s*(?:[-*•·–]\s+|\(?\d{1,2}[.)]\s+)")
_BETWEEN = re.compile(r"(?:(?<!\s)\s*+)?(?:;|,(?!\d{3}(?!\d)))\s*(?:(?:and|or)\s+)?")
_LAST = re.compile(r"(?<!\s)\s+(?:and|or|&)\s+")


def normalise(text: str) -> str:
    """Folded case, without punctuation, English articles and extra spaces (the SQuAD script's `normalize_answer`).

    Unlike that script, it applies NFKC and uses Unicode's punctuation categories. Like it, it removes punctuation
    without leaving a space: "state-of-the-art" is one token, and "0.5" becomes "05".
    """
    kept = "".join(char for char in normalise_spaces(text).casefold() if not _is_punctuation(char))
    return " ".join(token for token in kept.split() if token not in _ARTICLES)


def _is_punctuation(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char).startswith("P")


def exact_match(gold: str, predicted: str) -> bool:
    """Return whether the two are equal after normalization (Rajpurkar et al., SQuAD, 2016)."""
    return normalise(gold) == normalise(predicted)


def contains_answer(gold: str, predicted: str) -> bool:
    """Return whether the normalised prediction contains the normalised gold as whole tokens; False for an empty
    gold."""
    wanted = normalise(gold)
    return bool(wanted) and f" {wanted} " in f" {normalise(predicted)} "


def token_f1(gold: str, predicted: str) -> float:
    """F1 over the multisets of normalised tokens; 1 if both are empty (Rajpurkar et al., SQuAD 2.0, 2018)."""
    one, two = Counter(normalise(gold).split()), Counter(normalise(predicted).split())
    if not one or not two:
        return float(one == two)
    return 2 * (one & two).total() / (one.total() + two.total())


def anls(gold: str, predicted: str, *, threshold: float = 0.5) -> float:
    """1 - edit distance / length of the longer text; 0 if that ratio reaches `threshold`.

    Biten et al., Scene Text Visual Question Answering (2019), for one question and one gold; case and spaces are
    folded.
    """
    one, two = normalise_spaces(gold).casefold(), normalise_spaces(predicted).casefold()
    longer = max(len(one), len(two))
    if one == two:
        return 1.0
    if abs(len(one) - len(two)) >= threshold * longer:  # the distance is at least that much
        return 0.0
    share = edit_distance(one, two) / longer
    return 1 - share if share < threshold else 0.0


def read_list(text: str) -> tuple[str, ...]:
    """Return the items of a list in JSON or Python, in lines, or in words ("a, b and c"), without empty ones.

    Thousands separators don't split a number, and "and" or "or" splits the part after the last comma. Any other text is
    one item.
    """
    text = text.strip()
    items = _literal(text) if text.startswith(("[", "(", "{")) else None
    if items is None:
        lines = [line for line in text.splitlines() if line.strip()]
        items = [_BULLET.sub("", line) for line in lines] if len(lines) > 1 else _in_words(text)
    return tuple(item for item in (item.strip() for item in items) if item)


def _literal(text: str) -> list[str] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about "\d" in the text
                value = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    if isinstance(value, set):
        return sorted(map(str, value))
    return list(map(str, value)) if isinstance(value, list | tuple) else None


def _in_words(text: str) -> list[str]:
    *items, last = _BETWEEN.split(text)
    return [*items, *_LAST.split(last)]


def item_similarity(gold: str, predicted: str) -> float:
    """0 to 1: for two numbers, whether they are the same; for texts, 1 if they are equal after normalization, else
    ANLS."""
    one, two = as_number(gold), as_number(predicted)
    if one is not None and two is not None:
        return float(same_number(one, two))
    return 1.0 if exact_match(gold, predicted) else anls(gold, predicted)


def list_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 of unordered items, which score their similarity in the best one-to-one assignment.

    1 if both are empty. No item counts twice, so extra items cost precision.
    """
    right = best_assignment(gold, predicted, worth=item_similarity)
    return overlap(right=right, gold=len(gold), predicted=len(predicted))["f1"].share
