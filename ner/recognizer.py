"""The protocol of all extractors of the lab."""

from collections.abc import Sequence
from typing import Protocol

from ner.examples import Example

__all__ = ["Recognizer"]


class Recognizer(Protocol):
    """Finds entities in texts."""

    @property
    def name(self) -> str:
        """Identifies the system in reports."""
        ...

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts of any length.

        Args:
            examples: The texts. Their spans are not read; a text without tokens is split into words.

        Returns:
            The same texts in the same order, each with the entities found or with the reason of a failure.

        Raises:
            ModelError: A model can't be reached at all, or its weights can't be loaded.
        """
        ...
