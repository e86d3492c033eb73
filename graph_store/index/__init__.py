"""Indexes derived from the store: they can be thrown away and built anew without a model call."""

from graph_store.index.native import NativeGraphIndex

__all__ = ["NativeGraphIndex"]
