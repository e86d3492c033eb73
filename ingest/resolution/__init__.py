"""Which names of one paper mean the same: certain by rule, likely by their letters and meanings, judged by a model."""

from ingest.resolution.resolving import EmbedTexts, ResolvingExtractor

__all__ = ["EmbedTexts", "ResolvingExtractor"]
