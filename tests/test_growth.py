"""No stage takes more than linear time: a small form of `scripts/growth`."""

import pytest

from tests.growth import LIMIT, STAGES, TEXTS, growth

pytestmark = pytest.mark.slow

FEW = ("one word", "points", "numbers", "equal rows", "mentions")


@pytest.mark.parametrize("stage", STAGES)
def test_time_grows_in_proportion_to_the_text(stage: str) -> None:
    for name in FEW:
        # Other processes can make a run longer, so the best of three counts.
        exponents = (growth(stage, TEXTS[name], size=1000, limit=5).exponent for _ in range(3))
        assert any(exponent <= LIMIT for exponent in exponents), name
