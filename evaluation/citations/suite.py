"""The suite of citations: does each claim's place contain what the claim says, and is it on the right page?"""

from evaluation.asking import AskingSuite
from evaluation.citations.items import citation_items

__all__ = ["citations_suite"]


def citations_suite() -> AskingSuite:
    """The suite."""
    return AskingSuite(
        name="citations",
        headline=("place", "quote", "numbers", "words", "page"),
        read=lambda request, libraries: citation_items(request.data, libraries),
    )
