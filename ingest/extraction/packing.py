"""Which chunks share a model's call, so that a change of the paper changes few calls."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from paperscope.models.tokens import count_tokens
from paperscope.types import Chunk

__all__ = ["pack"]


def pack(chunks: Sequence[Chunk], *, max_tokens: int) -> Iterator[Sequence[Chunk]]:
    """The chunks in order, cut into runs of at most `max_tokens`; a longer chunk is a run of its own.

    A run that is too long is cut in two where the sections part most, and inside a section where a hash of the words
    says so, and so on. Where it is cut depends on titles and words alone, never on how much stands before: a change
    moves the cuts beside it, and all other runs stay as they were (a treap over the cuts; see Seidel and Aragon,
    "Randomized search trees", 1996).
    """
    sizes = [count_tokens(chunk.text) for chunk in chunks]
    cuts = [_rank(before, after) for before, after in pairwise(chunks)]
    waiting = [(0, len(chunks))] if chunks else []
    while waiting:
        start, end = waiting.pop()
        if end - start == 1 or sum(sizes[start:end]) <= max_tokens:
            yield chunks[start:end]
        else:
            cut = min(range(start + 1, end), key=lambda position: cuts[position - 1])
            waiting += [(cut, end), (start, cut)]


def _rank(before: Chunk, after: Chunk) -> tuple[int, bytes]:
    """The smaller, the sooner it is cut between these two: first by how many sections they share, from the top."""
    shared = 0
    for one, other in zip(before.section.split(" > "), after.section.split(" > "), strict=False):
        if one != other:
            break
        shared += 1
    words = after.text if before.section == after.section else after.section
    return shared, hashlib.sha256(words.encode()).digest()
