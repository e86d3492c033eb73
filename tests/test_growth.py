"""No stage takes more than linear time: a small form of `scripts/growth`."""

import pytest

from tests.growth import LIMIT, confirmed_growth
from tests.growth_stages import STAGES

pytestmark = pytest.mark.slow

# Of the inputs of a stage that has them; of any other, all.
FEW = ("one word", "emoji", "numbers", "mentions")
SIZE = 1000


@pytest.mark.parametrize("name", STAGES)
def test_time_grows_in_proportion_to_the_input(name: str) -> None:
    stage = STAGES[name]
    for one in [one for one in FEW if one in stage.inputs] or stage.inputs:
        assert confirmed_growth(stage, one, size=SIZE, limit=5).exponent <= LIMIT, one
