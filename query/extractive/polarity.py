"""Whether more is better: arrows in a name decide, else what the measure is called."""

import re

from query.extractive.grid import Datum

__all__ = ["better_direction"]


_LESS_IS_BETTER = re.compile(
    r"\b(?:perplexity|ppl|errors?|error rate|loss|[wcp]er|mae|rmse|mse|fid|time|latency|seconds|secs?|cost|flops|"
    r"memory|params|parameters)\b|↓",
    re.IGNORECASE,
)


def better_direction(datum: Datum, *, caption: str = "") -> int:
    """1 where a higher value is better, -1 where a lower one is."""
    name = " ".join(part.text for part in datum.column)
    rows = " ".join(part.text for part in datum.row)
    if "↑" in name:
        return 1
    if _LESS_IS_BETTER.search(name) or "↓" in rows:
        return -1
    return -1 if not name and _LESS_IS_BETTER.search(caption) else 1
