"""Indexes derived from the store. They can be deleted, and rebuilt without a model call."""

from typing import Literal, TypeAlias

from graph_store.index.index_checks import index_damage
from graph_store.index.native import NativeGraphIndex
from graph_store.index.postgresql_index import PostgresGraphIndex

__all__ = ["INDEXES", "IndexName", "LibraryIndex", "NativeGraphIndex", "PostgresGraphIndex", "index_damage"]

IndexName: TypeAlias = Literal["native", "postgresql", "lightrag"]

LibraryIndex: TypeAlias = NativeGraphIndex | PostgresGraphIndex
"""An index that also finds the entities that a text names."""

INDEXES: dict[IndexName, type[LibraryIndex]] = {
    "native": NativeGraphIndex,
    "postgresql": PostgresGraphIndex,
    # LightRAG finds no entities by their names.
    "lightrag": NativeGraphIndex,
}
"""By `retrieval.index`, what finds entities, and also chunks unless LightRAG does."""
