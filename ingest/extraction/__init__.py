"""Entities and relations of a paper: by rules alone, or by rules and a language model."""

from ingest.extraction.entity_types import ENTITY_TYPES, TypeSystem
from ingest.extraction.local_extractor import LocalExtractor
from ingest.extraction.merge import combine
from ingest.extraction.model_extractor import ModelExtractor
from ingest.extraction.pipeline import EmbedTexts, ResolvingExtractor, extractor_for

__all__ = [
    "ENTITY_TYPES",
    "EmbedTexts",
    "LocalExtractor",
    "ModelExtractor",
    "ResolvingExtractor",
    "TypeSystem",
    "combine",
    "extractor_for",
]
