"""Which chunks share a model's call, so that a change of the paper changes few calls."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from paperscope.models.tokens import count_tokens
from paperscope.types import Chunk

__all__ = ["pack"]


def pack(chunks: Sequence[Chunk], *, max_tokens: int) -> Iterator[Sequence[Chunk]]:
    """The chunks in order, cut into runs of at most `max_tokens`; a longer chunk is a run of its own.

    A run that is too long is cut in two in its middle half: where the sections part most, and inside a section where a
    hash of the words says so; then each part is cut likewise. So titles and words decide, and not how much stands
    before: a change moves the cuts beside it, and the other runs stay as they were (a balanced treap over the cuts; see
    Seidel and Aragon, "Randomized search trees", 1996).
    """
    ends = [0, *accumulate(count_tokens(chunk.text) for chunk in chunks)]
    ranks = [_rank(before, after) for before, after in pairwise(chunks)]
    waiting = [(0, len(chunks))] if chunks else []
    while waiting:
        start, end = waiting.pop()
        size = ends[end] - ends[start]
        if end - start == 1 or size <= max_tokens:
            yield chunks[start:end]
            continue
        cuts = range(start + 1, end)
        middle = [cut for cut in cuts if size <= 4 * (ends[cut] - ends[start]) <= 3 * size]
        cut = min(middle or cuts, key=lambda cut: ranks[cut - 1])
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
