"""What figures say of statistical significance."""

import pytest

from query.extractive.significance import LEVEL, level_in, significance

FOR, AGAINST, OPEN = frozenset([True]), frozenset([False]), frozenset[bool]()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The lead is 0.22 points, and 𝑝 = 0.2109.", AGAINST),
        ("The test gives p = 0.0156 and 0.0078.", FOR),
        ("The gain holds (p < .001).", FOR),
        ("It is 0.3 points ahead (p > 0.05).", AGAINST),
        ("It is 0.3 points ahead (p < 0.1).", OPEN),
        ("A p-value of 3 × 10−5 was found.", FOR),
        ("The p-values are 0.01 and 0.3.", frozenset([True, False])),
        ("The lead comes with an interval that holds zero.", AGAINST),
        ("Its interval does not include zero.", FOR),
        ("Both intervals lie above zero.", FOR),
        ("The 95% interval of the difference is −0.1 to 0.5.", AGAINST),
        ("The 95% interval of the mean is 88.9 to 89.4.", OPEN),
        ("The interval ends above 0.5 points.", OPEN),
        ("It is ahead by more than chance explains.", FOR),
        ("The gap is due to chance.", AGAINST),
        ("The map = 0.9.", OPEN),
        ("The lead is 0.22 points.", OPEN),
    ],
)
def test_what_figures_say(text: str, found: frozenset[bool]) -> None:
    assert significance(text) == found


def test_the_papers_own_level_decides() -> None:
    level = level_in(["We train.", "All tests use a significance level of 1%."])
    assert level == 0.01
    assert significance("The gain has p = 0.03.", level) == AGAINST
    assert significance("The gain has p = 0.03.") == FOR
    assert level_in(["We train with α-dropout."]) == LEVEL
