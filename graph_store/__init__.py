"""The library on disk: `Store`, the transactional truth, and `NativeGraphIndex`, the indexes derived from it."""

from graph_store.index import NativeGraphIndex
from graph_store.jobs import JobQueue
from graph_store.store import Store
from graph_store.values import Change, Edge, Mark, Searchable

__all__ = ["Change", "Edge", "JobQueue", "Mark", "NativeGraphIndex", "Searchable", "Store"]
