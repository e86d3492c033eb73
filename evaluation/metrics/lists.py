"""Comparing answers that are lists, whatever the order of their items."""

import ast
import json
import re
import warnings
from collections.abc import Sequence

from evaluation.metrics.numbers import same_number
from evaluation.metrics.quantities import as_number
from evaluation.metrics.sets import assigned, overlap
from evaluation.metrics.text import anls, exact_match

__all__ = ["item_similarity", "list_f1", "read_list"]

_BULLET = re.compile(r"^\s*(?:[-*•·–]\s+|\(?\d{1,2}[.)]\s+)")
_BETWEEN = re.compile(r"\s*(?:;|,(?!\d{3}(?!\d)))\s*(?:(?:and|or)\s+)?")
_LAST = re.compile(r"\s+(?:and|or|&)\s+")


def read_list(text: str) -> tuple[str, ...]:
    """The items of a list in JSON or Python, in lines, or in words ("a, b and c"); blank ones go.

    A number's commas don't part it, and "and" or "or" part what follows the last comma. Any other text is one item.
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
                warnings.simplefilter("ignore")  # of "\d" in a stranger's string
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
    """0 to 1: of two numbers, whether they are the same; of texts, 1 where they are equal normalised, else ANLS."""
    one, two = as_number(gold), as_number(predicted)
    if one is not None and two is not None:
        return float(same_number(one, two))
    return 1.0 if exact_match(gold, predicted) else anls(gold, predicted)


def list_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 of unordered items, each worth its similarity in the one-to-one assignment that makes most of them.

    1 where both are empty. As no item counts twice, naming more than the gold does costs precision.
    """
    right = assigned(gold, predicted, worth=item_similarity)
    return overlap(right=right, gold=len(gold), predicted=len(predicted))["f1"].share
