"""No regular expression searches a hostile text in more than linear time; see `scripts/growth patterns`."""

import re
import warnings
from types import ModuleType

import pytest

from tests.pattern_growth import PACKAGES, UsedPattern, patterns, probe

# regexploit fails on these with an IndexError; the probe covers them.
_UNREADABLE = frozenset({"query.question.paper_names._CITED"})


def test_probe_finds_quadratic_search() -> None:
    assert probe(UsedPattern(re.compile(r"\s+;"), "")) is not None
    assert probe(UsedPattern(re.compile(r"(?<!\s)\s+;"), "")) is None
    assert probe(UsedPattern(re.compile(r"a*;"), "", {"match"})) is None


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_no_pattern_searches_in_more_than_linear_time(package: str) -> None:
    found = {used.where: text[:30] for used in patterns(package) if (text := probe(used)) is not None}
    assert not found


@pytest.fixture(scope="module")
def regexploit() -> ModuleType:
    with warnings.catch_warnings():
        # It parses by `sre_parse`, which is deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        module: ModuleType = pytest.importorskip("regexploit.ast.sre", reason="run scripts/setup to install regexploit")
        return module


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_regexploit_finds_no_backtracking(package: str, regexploit: ModuleType) -> None:
    from regexploit.ast.repeat import FiniteRepeat
    from regexploit.redos import find

    class Parser(regexploit.SreOpParser):  # type: ignore[name-defined, misc]
        """Reads Python 3.11's quantifiers that do not backtrack, too."""

        def from_POSSESSIVE_REPEAT(self, data):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, N802
            least, _, elements = data
            return FiniteRepeat(self.sequence_or_singleton(elements), least, max(least, 1))

        def from_ATOMIC_GROUP(self, elements):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, N802
            return self.sequence_or_singleton(elements)

    found = {
        used.where: redos.example()
        for used in patterns(package)
        if isinstance(used.pattern.pattern, str) and used.where not in _UNREADABLE
        for redos in find(Parser().parse_sre(used.pattern.pattern, used.pattern.flags))
    }
    assert not found
