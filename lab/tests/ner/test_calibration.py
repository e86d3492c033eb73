"""The calibration of confidences."""

from dataclasses import replace

import pytest
from tests.ner.tiny_encoder import GOLD

pytestmark = pytest.mark.slow


def test_the_calibration_error_is_the_distance_of_confidence_and_share() -> None:
    from paperscope_lab.ner.calibration import calibration_error

    sure = [replace(one, spans=tuple(replace(span, confidence=0.9) for span in one.spans)) for one in GOLD]
    assert calibration_error(GOLD, sure) == pytest.approx(0.1)
    assert calibration_error([replace(one, spans=()) for one in GOLD], sure) == pytest.approx(0.9)
    assert calibration_error(GOLD, GOLD) == 0.0
