"""Which names of one paper mean the same, by rule or as a model judges, and what it says most of, summed up."""

from ingest.resolution.resolving import EmbedTexts, ResolvingExtractor

__all__ = ["EmbedTexts", "ResolvingExtractor"]
