"""What `scripts/fuzz` found stays mended, a bounded run finds nothing new, and a defect would be noticed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from paperscope_core.errors import PaperFileError
from tests.fuzzing import runner
from tests.fuzzing.checks import check_error
from tests.fuzzing.mutation import mutated
from tests.fuzzing.targets import TARGETS, Target

CORPUS = Path(__file__).parent / "fuzzing" / "corpus"
# Readers and services run in processes of their own.
SLOW = ("readers", "http")


@pytest.mark.parametrize(
    "target", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in TARGETS]
)
def test_what_was_found_stays_mended(target: str) -> None:
    files = sorted(CORPUS.glob(f"{target}/*"))
    for file, finding in runner.replay(files).items():
        assert finding is None, f"{file}: {finding.story}"


@pytest.mark.slow
def test_a_bounded_run_finds_nothing() -> None:
    tallies = runner.fuzz(list(TARGETS), seconds=1, seed=0)
    assert all(tally.cases for tally in tallies.values())
    assert [finding.story for tally in tallies.values() for finding in tally.findings.values()] == []


def test_a_defect_is_found_and_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def broken(folder: Path) -> Iterator[Target]:
        def run(_name: str, data: bytes) -> None:
            if b"a" in data:
                raise ZeroDivisionError

        yield Target(samples=[("letters.txt", b"bcd" * 50 + b"a" + b"efg" * 50)], run=run)

    monkeypatch.setattr(runner, "TARGETS", {"broken": broken})
    kept: list[str] = []
    tallies = runner.fuzz(["broken"], seconds=0.2, seed=1, on_finding=lambda name, _finding: kept.append(name))
    (finding,) = tallies["broken"].findings.values()
    assert (finding.where, finding.data, kept) == ("ZeroDivisionError in test_fuzz.py run", b"a", ["broken"])


@pytest.mark.parametrize(
    "words", ["'a.pdf' made the parser fail at page 1 (signal 11)", "was given up: it took longer"]
)
def test_a_parser_that_fails_is_a_defect(words: str) -> None:
    with pytest.raises(AssertionError):
        check_error(PaperFileError(words))
    check_error(PaperFileError("'a.pdf' is empty. Fetch the file again."))


def test_a_seed_determines_a_case() -> None:
    one = {mutated(b'{"a": [1, 2]}', Random(number), others=[b"x"]) for number in range(20)}
    assert one == {mutated(b'{"a": [1, 2]}', Random(number), others=[b"x"]) for number in range(20)}
    assert len(one) > 10
