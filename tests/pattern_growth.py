"""Lists the regular expressions that search hostile texts in more than linear time; see `scripts/growth`.

Each pattern searches texts of what its own repeats repeat. A pattern that is only matched at the start of a text, or on
short texts, may be listed without being a defect.
"""

import importlib
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined] # untyped
from re import _parser as parser  # type: ignore[attr-defined] # untyped
from typing import Any

from tests.growth import seconds_of

_PACKAGES = ("paperscope_core", "ingest", "query", "graph_store", "paperscope", "service", "prompts")
_SIZE = 2000
_LETTERS = "a1 .-,(x\nA"
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_MANY = 10  # A repeat of fewer takes bounded time.


def patterns() -> dict[str, re.Pattern[str]]:
    """The compiled patterns of the product's modules by their names; one in several modules is listed once."""
    root = Path(__file__).parent.parent
    found: dict[re.Pattern[str], str] = {}
    for file in (file for package in _PACKAGES for file in sorted((root / package).rglob("*.py"))):
        name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        if not name.endswith("__main__"):
            with suppress(ImportError):
                for key, value in vars(importlib.import_module(name)).items():
                    for pattern in _patterns_in(value):
                        found.setdefault(pattern, f"{name}.{key}")
    return {name: pattern for pattern, name in found.items()}


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _patterns_in(one)


def _sample(tree: Iterable[Any], choose: random.Random, repeated: list[tuple[str, str]]) -> str:
    """A text that a parsed pattern is likely to match; `repeated` gets what each repeat repeats, and what precedes."""
    text = ""
    for code, value in tree:
        if code is codes.LITERAL:
            text += chr(value)
        elif code is codes.ANY:
            text += "a"
        elif code is codes.IN:
            matching = [letter for letter in _LETTERS if _is_in(letter, value)]
            first = [chr(one if kind is codes.LITERAL else one[0]) for kind, one in value[:1] if kind in _PLAIN]
            text += choose.choice(matching or first or ["a"])
        elif code is codes.BRANCH:
            text += _sample(choose.choice(value[1]), choose, repeated)
        elif code is codes.SUBPATTERN:
            text += _sample(value[3], choose, repeated)
        elif code is codes.ATOMIC_GROUP:
            text += _sample(value, choose, repeated)
        elif code in _REPEATS:
            least, most, inner = value
            if most >= _MANY:
                repeated.append((text, _sample(inner, choose, [])))
            text += "".join(_sample(inner, choose, repeated) for _ in range(max(least, choose.randrange(2))))
    return text


_PLAIN = (codes.LITERAL, codes.RANGE)


def _is_in(letter: str, options: Any) -> bool:
    kinds = {codes.CATEGORY_DIGIT: str.isdigit, codes.CATEGORY_SPACE: str.isspace, codes.CATEGORY_WORD: str.isalnum}
    negated = options[0][0] is codes.NEGATE
    for code, value in options:
        inside = (
            (code is codes.LITERAL and value == ord(letter))
            or (code is codes.RANGE and value[0] <= ord(letter) <= value[1])
            or (code is codes.CATEGORY and value in kinds and kinds[value](letter))
            or (code is codes.CATEGORY and str(value).startswith("CATEGORY_NOT_DIGIT") and not letter.isdigit())
            or (code is codes.CATEGORY and str(value).startswith("CATEGORY_NOT_SPACE") and not letter.isspace())
            or (code is codes.CATEGORY and str(value).startswith("CATEGORY_NOT_WORD") and not letter.isalnum())
        )
        if inside:
            return not negated
    return negated


def worst(pattern: re.Pattern[str]) -> tuple[float, str]:
    """The greatest exponent of a pattern's time, and the repeated text that takes it."""
    choose = random.Random(1)
    tree = parser.parse(pattern.pattern, pattern.flags)
    repeated: list[tuple[str, str]] = []
    wholes = [_sample(tree, choose, repeated) for _ in range(12)]
    pieces = {("", whole) for whole in wholes} | {(before[-9:], one) for before, one in repeated}
    pieces |= {("", before[-9:] + one) for before, one in repeated}
    found = [(0.0, "")]
    for before, piece in sorted(one for one in pieces if one[1])[:60]:
        times = []
        for factor in (1, 2, 4):
            text = before + piece * (factor * _SIZE // len(piece)) + "\0"
            times.append(max(seconds_of(lambda text=text: list(pattern.finditer(text)), limit=2.0), 0.004))  # type: ignore[misc]
            if times[-1] >= 2:
                break
        exponent = math.inf if times[-1] >= 2 else math.log(times[-1] / times[0], 4)
        found.append((exponent, before[-9:] + piece[:20]))
    return max(found)


def main() -> int:
    """Prints the patterns whose time grows with an exponent of 1.5 or more, worst first in each module."""
    for name, pattern in patterns().items():
        if not sys.argv[1:] or any(one in name for one in sys.argv[1:]):
            exponent, piece = worst(pattern)
            if exponent >= 1.5:
                print(f"{exponent:5.2f}  {name}  {piece!r}", flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
