"""Entities and relations of a paper: by rules alone, or by rules and a language model."""

from ingest.extraction.combined import CombinedExtractor, TextExtractor
from ingest.extraction.kinds import ENTITY_TYPES
from ingest.extraction.local import LocalExtractor
from ingest.extraction.merge import combine
from ingest.extraction.model import ModelExtractor
from ingest.extraction.type_system import TypeSystem

__all__ = [
    "ENTITY_TYPES",
    "CombinedExtractor",
    "LocalExtractor",
    "ModelExtractor",
    "TextExtractor",
    "TypeSystem",
    "combine",
]
