"""`bench indexes`: the synthetic papers and the overlap."""

import numpy as np
from paperscope_lab.evaluation.bench.indexes import mixed_paper, overlap

from graph_store.writing import validate
from paperscope_core.types import Hit
from tests.graph_store.indexed_papers import PAPER_IDS, make_indexed


def test_a_synthetic_paper_mixes_real_chunks() -> None:
    real = [make_indexed(paper, texts=[f"{paper} says {number}" for number in range(9)]) for paper in PAPER_IDS]
    pool = [(chunk, vector) for one in real for chunk, vector in zip(one.chunks, one.vectors, strict=True)]
    one, other = (mixed_paper(number, real, pool) for number in range(2))
    validate(one)
    assert one.paper.id != other.paper.id
    assert len(one.chunks) == len(one.vectors) > 1
    assert np.allclose(np.linalg.norm(one.vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(one.vectors, mixed_paper(0, real, pool).vectors)


def test_overlap_is_that_of_the_ten_best() -> None:
    hits = [Hit(id=str(number), score=1 / number) for number in range(1, 21)]
    assert overlap(hits, hits[:10]) == 1
    assert overlap(hits, hits[5:]) == 0.5
    assert overlap([], []) == 1
    assert overlap(hits, []) == 0
