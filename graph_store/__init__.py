"""The library on disk: `Store`, the transactional store, and `NativeGraphIndex`, the index derived from it."""

from graph_store.conversations import Conversations
from graph_store.index import NativeGraphIndex
from graph_store.job_queue import JobQueue
from graph_store.literature_tables import LiteratureTables
from graph_store.notes import Notes
from graph_store.store import Store

__all__ = ["Conversations", "JobQueue", "LiteratureTables", "NativeGraphIndex", "Notes", "Store"]
