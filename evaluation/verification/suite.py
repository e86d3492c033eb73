"""The suite of verification: wrong numbers planted in right answers are flagged, right answers are not."""

from evaluation.asking import AskingSuite
from evaluation.verification.items import planting_items

__all__ = ["verification_suite"]


def verification_suite() -> AskingSuite:
    """The suite."""
    return AskingSuite(
        name="verification",
        headline=("flagged", "passed"),
        read=lambda request, libraries: planting_items(request.data, libraries, seed=request.seed),
    )
