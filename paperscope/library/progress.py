"""How far an add has come."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["OnStage", "Stage"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """What an add is at: "parsing", "reading images", "extracting entities", "embedding" or "storing".

    `done` of `total` are pages or pictures; `total` is 0 where nothing is counted, or not yet.
    """

    name: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.done}/{self.total}" if self.total else self.name


OnStage = Callable[[Stage], None]
