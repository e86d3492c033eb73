"""No stage takes more than linear time: a small form of `scripts/growth`, with one input for each stage."""

import pytest

from tests.growth import LIMIT, confirmed_growth
from tests.growth_stages import STAGES

pytestmark = pytest.mark.slow

# Of the inputs of a stage that has one; of any other, the first.
FEW = ("one word", "emoji", "numbers", "mentions")
SIZE = 1000


@pytest.mark.parametrize("name", STAGES)
def test_time_grows_in_proportion_to_the_input(name: str) -> None:
    stage = STAGES[name]
    first = next((one for one in FEW if one in stage.inputs), next(iter(stage.inputs)))
    assert confirmed_growth(stage, first, size=SIZE, limit=5).exponent <= LIMIT
