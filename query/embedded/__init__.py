"""The answerer that works without a language model."""

from query.embedded.answerer import EmbeddedAnswerer

__all__ = ["EmbeddedAnswerer"]
