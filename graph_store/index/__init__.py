"""Indexes derived from the store. They can be deleted, and rebuilt without a model call."""

from graph_store.index.checking import index_damage
from graph_store.index.native import NativeGraphIndex

__all__ = ["NativeGraphIndex", "index_damage"]
