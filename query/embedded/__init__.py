"""The answerer that works without a language model."""

from query.embedded.answerer import EmbeddedAnswerer
from query.embedded.weighed import weighed_texts

__all__ = ["EmbeddedAnswerer", "weighed_texts"]
