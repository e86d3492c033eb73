"""Indexes derived from the store, which can be deleted and rebuilt without a model call."""

from graph_store.index.native import NativeGraphIndex

__all__ = ["NativeGraphIndex"]
