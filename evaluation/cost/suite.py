"""The suite of cost: what adding a paper and asking a question takes."""

from evaluation.asking import AskingSuite
from evaluation.cost.items import cost_items

__all__ = ["cost_suite"]


def cost_suite() -> AskingSuite:
    """The suite."""
    return AskingSuite(
        name="cost",
        headline=("add.calls", "add.cost", "ask.calls", "ask.cost", "ask.context_words"),
        read=lambda request, libraries: cost_items(request.data, libraries),
    )
