"""Finds the regular expressions that search hostile texts in more than linear time; see `scripts/growth`.

Two ways: regexploit reads a pattern and finds cubic and exponential backtracking; and each pattern searches texts of
what its own repeats repeat. A pattern that is only matched at the start of a text is only matched there.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined] # untyped
from re import _parser as parser  # type: ignore[attr-defined] # untyped
from types import ModuleType
from typing import Any

from tests.growth import LIMIT, seconds_of

__all__ = ["PACKAGES", "UsedPattern", "patterns", "probe"]

PACKAGES = (
    "paperscope_core",
    "ingest",
    "query",
    "graph_store",
    "paperscope",
    "service",
    "prompts",
    "paperscope_lab",
)
_ROOT = Path(__file__).parent.parent
# The position of the flags.
_FUNCTIONS = dict(
    zip(
        "compile search match fullmatch findall finditer split sub subn".split(),
        (1, 2, 2, 2, 2, 2, 3, 4, 4),
        strict=True,
    )
)
_ANCHORED = frozenset(("match", "fullmatch"))
_ANY = "Abc"  # Stands for the parts of a pattern that are only known when it is used.
_SIZE = 4000
# The letters of the longest text that is searched by a pattern that backtracks.
_BOUNDED = {
    "query.verification.number_checks._BY": 300,  # _LONGEST_CLAUSE
}
_SECONDS = 0.01  # Quadratic search of the size takes several times as long; linear search takes a tenth.
_STOPPED = 0.5
_LETTERS = "a1 .-,(x\nA"
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_MANY = 10  # A repeat of fewer takes bounded time.
_SAMPLES = 24


@dataclass(frozen=True, slots=True)
class UsedPattern:
    """A regular expression, where it is, and how it is used: the names of methods, "" for another use."""

    pattern: re.Pattern[Any]
    where: str
    uses: set[str] = field(default_factory=set)

    def run(self, text: str) -> None:
        """Uses the pattern on a text."""
        given = text if isinstance(self.pattern.pattern, str) else text.encode("latin-1", "replace")
        if self.uses and self.uses <= _ANCHORED:
            for use in self.uses:
                getattr(self.pattern, use)(given)
        else:
            for _ in self.pattern.finditer(given):
                pass


@cache
def patterns(package: str) -> list[UsedPattern]:
    """The patterns of a package: the values of its modules, and the arguments of the functions of `re`."""
    found: dict[re.Pattern[Any], UsedPattern] = {}
    root = _ROOT / "lab" if package == "paperscope_lab" else _ROOT
    for file in sorted((root / package).rglob("*.py")):
        name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        if name.endswith("__main__"):
            continue
        with suppress(ImportError):
            module, tree = importlib.import_module(name), ast.parse(file.read_text())
            for key, value in vars(module).items():
                for pattern in _patterns_in(value):
                    found.setdefault(pattern, UsedPattern(pattern, f"{name}.{key}")).uses.update(_uses(tree, key))
            for function, call in _calls(tree):
                compiled = _compiled(function, call, module)
                if compiled is not None:
                    used = found.setdefault(compiled, UsedPattern(compiled, f"{name}:{call.lineno}"))
                    used.uses.update([function] if function != "compile" else [])
    return list(found.values())


def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _patterns_in(one)


def _uses(tree: ast.Module, name: str) -> set[str]:
    """The methods of a value that a module calls, "" if it passes the value on."""
    owners = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    loads = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return {owners.get(id(node), "") for node in loads if node.id == name}


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls of functions of `re`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FUNCTIONS:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re":
                yield node.func.attr, node


def _compiled(function: str, call: ast.Call, module: ModuleType) -> re.Pattern[Any] | None:
    """The pattern of a call; None if it is a local value as a whole."""
    flags = [one.value for one in call.keywords if one.arg == "flags"] + call.args[_FUNCTIONS[function] :]
    try:
        text = _value(_Filled(module).visit(call.args[0]), module)
        return re.compile(text, *(_value(one, module) for one in flags))
    except (NameError, TypeError, re.error):
        return None


class _Filled(ast.NodeTransformer):
    """Replaces the parts of an f-string that are only known when it is used."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        try:
            _value(node.value, self._module)
        except NameError:
            return ast.copy_location(ast.Constant(_ANY), node)
        return node


def _value(node: ast.expr, module: ModuleType) -> Any:
    expression = ast.fix_missing_locations(ast.Expression(node))
    return eval(compile(expression, module.__name__, "eval"), vars(module))  # noqa: S307


def probe(used: UsedPattern) -> str | None:
    """A text that the pattern searches for too long; None if there is none among those tried."""
    for text in _texts(used.pattern, size=_BOUNDED.get(used.where, _SIZE)):
        # The shortest of three runs: other processes make the longer ones.
        if all(_seconds(used, text) > _SECONDS for _ in range(3)):
            quarter = max(min(_seconds(used, text[: len(text) // 4]) for _ in range(3)), _SECONDS / 20)
            seconds = _seconds(used, text)
            if seconds >= _STOPPED or seconds / quarter > 4**LIMIT:
                return text
    return None


def _seconds(used: UsedPattern, text: str) -> float:
    return seconds_of(partial(used.run, text), limit=_STOPPED)


def _texts(pattern: re.Pattern[Any], *, size: int) -> Iterator[str]:
    repeats = list(_repeats(parser.parse(pattern.pattern, pattern.flags), ""))
    pieces = set(repeats) | {("", before[-9:] + piece) for before, piece in repeats}
    pieces |= {("", letter) for letter in _LETTERS} if repeats else set()
    for before, piece in sorted(one for one in pieces if one[1]):
        yield (before + piece * (size // len(piece)))[: size - 1] + "\0"


def _repeats(tree: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
    """What precedes each repeat of a parsed pattern, and what it repeats."""
    for code, value in tree:
        if code in _REPEATS:
            if value[1] >= _MANY:
                yield from ((before, piece) for piece in _samples(value[2]))
            yield from _repeats(value[2], before)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
        elif code is codes.SUBPATTERN or code is codes.ATOMIC_GROUP:
            yield from _repeats(value[3] if code is codes.SUBPATTERN else value, before)
        before += next(iter(_samples([(code, value)])), "")


def _samples(tree: Iterable[Any]) -> list[str]:
    """Texts that a parsed pattern is likely to match: one for each branch."""
    found = [""]
    for code, value in tree:
        ends = [""]
        if code is codes.LITERAL:
            ends = [chr(value)]
        elif code is codes.ANY:
            ends = ["a"]
        elif code is codes.IN:
            first = [chr(one if kind is codes.LITERAL else one[0]) for kind, one in value[:1] if kind in _PLAIN]
            ends = [letter for letter in _LETTERS if _is_in(letter, value)][:2] + first or ["a"]
        elif code is codes.NOT_LITERAL:
            ends = [next(letter for letter in _LETTERS if ord(letter) != value)]
        elif code is codes.BRANCH:
            ends = [one for branch in value[1] for one in _samples(branch)[:2]]
        elif code is codes.SUBPATTERN:
            ends = _samples(value[3])
        elif code is codes.ATOMIC_GROUP:
            ends = _samples(value)
        elif code in _REPEATS:
            once = _samples(value[2])
            ends = [one * max(value[0], 1) for one in once] + ([""] if not value[0] else [])
        # Each end once, and not in all combinations.
        found = [found[at % len(found)] + ends[at % len(ends)] for at in range(max(len(found), len(ends)))]
    return list(dict.fromkeys(found))[:_SAMPLES]


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


def main() -> int:
    """Prints the patterns that search some text for too long, with the text's beginning."""
    failed = 0
    for package in PACKAGES:
        for used in patterns(package):
            text = probe(used)
            if text is not None:
                failed = 1
                print(f"{_seconds(used, text):5.2f} s  {used.where}  {text[:30]!r}", flush=True)  # noqa: T201
    return failed


if __name__ == "__main__":
    sys.exit(main())
