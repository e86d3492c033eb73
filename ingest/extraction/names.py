"""The words of a name, and how it is spelled."""

import re
from collections.abc import Sequence

from ingest.extraction.mentions import is_coined

__all__ = ["features_of_form", "split_name"]

_MAX_SIGNS = 5
_FEW_LETTERS = 2
_SMALL_DIGITS = frozenset("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPLIT = re.compile(r"[\s\-\u2010\u2011\u2013]+")
_SWITCH = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")


def split_name(name: str) -> list[str]:
    """Returns the words of a name; the parts of a hyphenated word count singly."""
    return [word for word in _SPLIT.split(name) if word]


def features_of_form(name: str, words: Sequence[str]) -> dict[str, float]:
    """Returns how a name of these words is spelled, by the name of the feature."""
    signs = sum(not (character.isalnum() or character in " -'\u2019\u2010\u2013/") for character in name)
    spelled = {
        "one word": len(words) == 1,
        "two words": len(words) == 2,
        "three words": len(words) == 3,
        "no space": " " not in name,
        "coined": any(map(is_coined, name.split())),
        "all coined": all(map(is_coined, name.split())),
        "capitalized": all(word[:1].isupper() for word in words),
        "lower": name == name.lower(),
        "upper": name.isupper(),
        "inner capital": _INNER_CAPITAL.search(name) is not None,
        "digit": any(map(str.isdigit, name)),
        "leading digit": name[:1].isdigit(),
        "small digit": not _SMALL_DIGITS.isdisjoint(name),
        "signs": signs > 0,
        "code": "." in name or "_" in name,
        "few letters": sum(map(str.isalpha, name)) <= _FEW_LETTERS,
    }
    return {feature: float(value) for feature, value in spelled.items()} | {
        "many signs": float(min(signs, _MAX_SIGNS)),
        "switches": float(min(len(_SWITCH.findall(name)), _MAX_SIGNS)),
        "length": len(name) / 20,
    }
