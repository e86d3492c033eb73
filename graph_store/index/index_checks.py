"""Checks the index of a library. Nothing is changed."""

import sqlite3
from pathlib import Path
from typing import Literal

from graph_store.database import translate_errors
from graph_store.index.native import VECTORS_FILE, WORDS_FILE
from graph_store.index.postgresql_index import PostgresGraphIndex
from graph_store.index.text_index import TextIndex
from graph_store.index.vector_index import VectorIndex
from graph_store.reading import Checkpoint
from graph_store.store import Store

__all__ = ["index_damage"]


def index_damage(store: Store, name: Literal["native", "postgresql", "lightrag"]) -> list[str]:
    """Return what is wrong with the index that was derived from a store; `name` is that of `INDEXES`.

    An index that is missing or behind is not damaged, because it catches up when the library is opened.

    Raises:
        StoreError: The index can't be read, or can't be built again.
    """
    if name == "postgresql":
        return PostgresGraphIndex.damage(store)
    folder = store.index_folder
    with translate_errors(folder):
        return [*_words_damage(store, folder / WORDS_FILE), *_vector_damage(store, folder / VECTORS_FILE)]


def _words_damage(store: Store, file: Path) -> list[str]:
    if not file.is_file() or not file.stat().st_size:
        return []
    try:
        words = TextIndex.open_read_only(file)
    except sqlite3.Error as error:
        return [f"the index of words can't be read ({error})"]
    try:
        found = words.damage()
        stored = store.count_chunks()
        if not found and len(words) != stored and words.checkpoint == store.checkpoint(store.revision):
            found = [f"the index of words has {len(words)} chunks, the library {stored}"]
    except sqlite3.Error as error:
        return [f"the index of words is damaged ({error})"]
    else:
        return found
    finally:
        words.close()


def _vector_damage(store: Store, file: Path) -> list[str]:
    if not file.is_file():
        return []
    found = VectorIndex.load(file, embedder="", thorough=True).checkpoint
    if found == Checkpoint():
        return ["the snapshot of vectors can't be read"]
    return [] if store.checkpoint(found.revision) == found else ["the snapshot of vectors is that of another library"]
