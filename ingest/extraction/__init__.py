"""Entities and relations of a paper: by rules alone, or by rules and a language model."""

from ingest.extraction.combined import CombinedExtractor, TextExtractor
from ingest.extraction.entity_types import ENTITY_TYPES, TypeSystem
from ingest.extraction.local_extractor import LocalExtractor
from ingest.extraction.merge import combine
from ingest.extraction.model_extractor import ModelExtractor

__all__ = [
    "ENTITY_TYPES",
    "CombinedExtractor",
    "LocalExtractor",
    "ModelExtractor",
    "TextExtractor",
    "TypeSystem",
    "combine",
]
