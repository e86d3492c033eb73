"""Cuts texts into the terms of the native text index, for an index that SQLite does not keep."""

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from graph_store.index.bm25 import LONGEST, POSTING, TOKENIZE

__all__ = ["Tokenizer", "WordRows", "bounded"]

# A database limits the size of a key. What is longer is no word, such as encoded data.
_LONGEST_TERM = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class WordRows:
    """The postings of some texts: columns with an entry for each term and owner, and the lengths of the texts."""

    terms: Sequence[str]
    owners: Sequence[int]
    texts: Sequence[int]
    postings: Sequence[bytes]
    lengths: Sequence[int]


class Tokenizer:
    """FTS5's own tokenizer, in a database in memory that is empty between calls; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        options = f"content = '', tokenize = '{TOKENIZE}'"
        self._connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (text, {options})")
        self._connection.execute("CREATE VIRTUAL TABLE words USING fts5vocab (texts, instance)")

    def close(self) -> None:
        """Release the memory."""
        self._connection.close()

    def terms(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the terms of each text, in order."""
        found: list[list[tuple[int, str]]] = [[] for _ in texts]
        for term, text, position in self._occurrences(texts):
            found[text].append((position, term))
        return [tuple(term for _, term in sorted(one)) for one in found]

    def postings(self, texts: Sequence[str], *, numbers: Sequence[int], owners: Sequence[int]) -> WordRows:
        """Return the postings of texts with these numbers and owners; the texts of an owner follow one another."""
        found = self._occurrences(texts)
        order: dict[str, int] = {}
        rows = np.array(
            [(order.setdefault(term, len(order)), text, place) for term, text, place in found], dtype=np.int64
        ).reshape(-1, 3)
        term, text, place = rows.T
        lengths = np.bincount(text, minlength=len(texts))
        postings = np.empty(len(rows), dtype=POSTING)
        postings["number"] = np.array(numbers, dtype=np.int64)[text]
        postings["length"] = np.minimum(lengths[text], LONGEST)
        postings["position"] = np.minimum(place, LONGEST)
        owner = np.array(owners, dtype=np.int64)[text]
        starts = _starts(term) | _starts(owner)
        firsts = np.flatnonzero(starts)
        new_texts = starts | _starts(text)
        data, size = postings.tobytes(), POSTING.itemsize
        ends = [*firsts[1:].tolist(), len(rows)]
        terms = list(order)
        return WordRows(
            terms=[terms[one] for one in term[firsts].tolist()],
            owners=owner[firsts].tolist(),
            texts=np.add.reduceat(new_texts.astype(np.int64), firsts).tolist() if len(rows) else [],
            postings=[data[first * size : end * size] for first, end in zip(firsts.tolist(), ends, strict=False)],
            lengths=lengths.tolist(),
        )

    def _occurrences(self, texts: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return the terms with the numbers of their texts, from 0, and their positions, by term."""
        with self._lock:
            rows = [(number, text) for number, text in enumerate(texts, start=1)]
            try:
                self._connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
                query = "SELECT term, doc - 1, offset FROM words ORDER BY term, doc, offset"
                found = self._connection.execute(query).fetchall()
            finally:
                self._connection.execute("INSERT INTO texts (texts) VALUES ('delete-all')")
        return [(bounded(term), text, place) for term, text, place in found]


def bounded(key: str) -> str:
    """Return a key, or the digest of one that is too long for an index of a database."""
    encoded = key.encode(errors="replace")
    return key if len(encoded) <= _LONGEST_TERM else hashlib.blake2b(encoded, digest_size=16).hexdigest()


def _starts(column: NDArray[int64]) -> NDArray[bool_]:
    """Return where a value differs from the one before."""
    return np.asarray(np.diff(column, prepend=-1) != 0)
