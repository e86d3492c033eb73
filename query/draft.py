"""What an answerer hands to the engine before verification."""

from dataclasses import dataclass

from paperscope.types import Claim, Status

__all__ = ["Draft"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """An answer's text with its claims; `status` is "unanswerable" where the evidence does not say.

    `confidence` is `Answer`'s.
    """

    text: str
    status: Status
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
