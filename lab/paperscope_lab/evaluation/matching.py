"""Text comparison: normalization, trigram similarity, edit distance, monotone alignment."""

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = [
    "align",
    "edit_distance",
    "longest_increasing_subsequence",
    "nearest_distance",
    "normalise_spaces",
    "pair_best",
    "remove_spaces",
    "similarity",
]


_PLAIN_CHARACTERS = str.maketrans(
    dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u2032`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u2033", '"')
    | {"\u00ad": None, "\u200b": None, "\u223c": "~"}
)
_GRAM = 3

A = TypeVar("A")
B = TypeVar("B")


def normalise_spaces(text: str) -> str:
    """NFKC, one kind of dash, quote and tilde, single spaces; case and hyphens are kept."""
    # Twice, because a replaced character may combine with a following mark.
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).translate(_PLAIN_CHARACTERS))
    return " ".join(text.replace("''", '"').split())


def remove_spaces(text: str) -> str:
    """`normalise_spaces` without any spaces."""
    return normalise_spaces(text).replace(" ", "")


def _grams(text: str) -> Counter[str]:
    padded = f"  {text} "
    return Counter(padded[start : start + _GRAM] for start in range(len(padded) - _GRAM + 1))


def similarity(first: str, second: str) -> float:
    """0 to 1: the Dice coefficient 2|A∩B| / (|A|+|B|) of the multisets of character trigrams of the folded texts."""
    one, two = remove_spaces(first).casefold(), remove_spaces(second).casefold()
    if one == two:
        return 1.0
    a, b = _grams(one), _grams(two)
    return 2 * (a & b).total() / (a.total() + b.total())


def edit_distance(first: str, second: str) -> int:
    """Levenshtein's distance: insertions, deletions and substitutions cost 1."""
    return _distances(first, second, anywhere=False)[-1]


def nearest_distance(pattern: str, text: str) -> int:
    """Return the smallest edit distance between `pattern` and any substring of `text` (Sellers, 1980)."""
    return 0 if pattern in text else min(_distances(pattern, text, anywhere=True))


def _distances(pattern: str, text: str, *, anywhere: bool) -> list[int]:
    """Return the edit distances between `pattern` and each prefix of `text`, or its best suffix if a match begins
    anywhere."""
    column = list(range(len(pattern) + 1))
    found = [column[-1]]
    for letter in text:
        diagonal, column[0] = column[0], 0 if anywhere else column[0] + 1
        for i, wanted in enumerate(pattern, start=1):
            diagonal, column[i] = column[i], min(column[i] + 1, column[i - 1] + 1, diagonal + (letter != wanted))
        found.append(column[-1])
    return found


def longest_increasing_subsequence(positions: Sequence[int]) -> list[int]:
    """Return the indices of a longest strictly increasing subsequence (Schensted, 1961)."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, position in enumerate(positions):
        length = bisect_left(tails, position)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [position]
        ends[length : length + 1] = [index]
    chain = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(index)
        index = before[index]
    return chain[::-1]


def align(first: Sequence[A], second: Sequence[B], *, worth: Callable[[A, B], float]) -> dict[int, int]:
    """Return the monotone one-to-one mapping of indices with the greatest total worth (Needleman-Wunsch without gap
    costs)."""
    worths = [[worth(left, right) for right in second] for left in first]
    best = [[0.0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, row in enumerate(worths):
        for j, value in enumerate(row):
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], best[i][j] + value)
    pairs: dict[int, int] = {}
    i, j = len(first), len(second)
    while i and j:
        value = worths[i - 1][j - 1]
        if value > 0 and best[i][j] == best[i - 1][j - 1] + value:
            i, j = i - 1, j - 1
            pairs[i] = j
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return pairs


def pair_best(
    first: Sequence[A], second: Sequence[B], *, worth: Callable[[A, B], float], least: float
) -> dict[int, int]:
    """One-to-one pairs of indices, best first, each worth at least `least`; earlier pairs win ties."""
    found = ((worth(a, b), i, j) for i, a in enumerate(first) for j, b in enumerate(second))
    ranked = sorted((entry for entry in found if entry[0] >= least), key=lambda entry: (-entry[0], entry[1], entry[2]))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in ranked:
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs
