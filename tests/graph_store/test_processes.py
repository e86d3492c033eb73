"""Processes: killed at any instant, or several at once."""

import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from graph_store import NativeGraphIndex, Store
from paperscope_core.locations import Location, location_text
from paperscope_core.types import ModelReply, RetrievalRequest
from tests.graph_store.indexed_papers import METHODS, add, crop_of, make_indexed, unit_vector

ADDING_PROCESS = Path(__file__).with_name("adding_process.py")
REQUEST = RetrievalRequest(text="Train BERT+DSC on SST-5 with F1", vector=unit_vector(1), limit=10_000)


def start(location: Location, *, first: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(ADDING_PROCESS), location_text(location), str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own file


def check_whole(store: Store) -> None:
    """Each paper is there with all its parts or not at all; the stored index equals a new one."""
    for paper in store.papers():
        expected = make_indexed(paper.id, names=METHODS, note=f"version {int(paper.id, 16)}")
        found = store.indexed(paper.id)
        assert (found.paper, found.chunks, found.extraction) == (expected.paper, expected.chunks, expected.extraction)
        np.testing.assert_array_equal(found.vectors, expected.vectors)
        crop = next(element.crop for element in paper.elements if element.kind == "figure")
        assert store.crop(crop or "") == crop_of(paper.id)
    lists = set()
    for folder in ("index", "fresh"):
        index = NativeGraphIndex.open(store, store.folder / folder)
        found_now = index.retrieve(REQUEST)
        for hits in (found_now.by_words, found_now.by_vectors):
            assert len(hits) == len(METHODS) * len(store.entries())
        lists.add(
            tuple(tuple((round(hit.score, 5), hit.id) for hit in hits) for hits in (found_now.named, found_now.reached))
        )
        index.close()
    assert len(lists) == 1


@pytest.mark.slow
def test_killed_at_random_moments(location: Location) -> None:
    moments = random.Random(20)
    first = 1
    for _ in range(3):
        with start(location, first=first, count=10_000) as process:
            assert process.stdout is not None
            # When the second paper is announced, the first one is stored.
            first = [int(process.stdout.readline()) for _ in range(2)][-1] + 1
            time.sleep(moments.uniform(0.02, 0.4))
            process.kill()
            first = max([first, *(int(line) + 1 for line in process.stdout.read().split())])
    store = Store.open(location)
    announced = range(1, first)
    assert all(store.get_call(f"call {number}") == ModelReply(text=f"reply {number}") for number in announced)
    assert store.entries()
    check_whole(store)
    store.sweep()
    named = {element.crop for paper in store.papers() for element in paper.elements if element.kind == "figure"}
    assert {path.stem for path in (store.folder / "crops").glob("*/*.png")} == named
    store.close()


@pytest.mark.slow
def test_two_processes_add_to_one_library_at_once(location: Location) -> None:
    processes = [start(location, first=first, count=9) for first in (1, 101)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    store = Store.open(location)
    numbers = [number for first in (1, 101) for number in range(first, first + 9) if number % 3]
    assert sorted(int(entry.id, 16) for entry in store.entries()) == numbers
    check_whole(store)
    store.close()


def test_threads_add_and_ask_at_once(store: Store) -> None:
    index = NativeGraphIndex.open(store)
    started = threading.Barrier(4)

    def work(number: int) -> int:
        started.wait()
        for turn in range(3):
            paper = number * 10 + turn
            indexed = make_indexed(f"{paper:012x}", names=METHODS, note=f"version {paper}")
            add(store, indexed)
            index.catch_up()
            assert index.retrieve(REQUEST).by_words
        return number

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(work, range(1, 5))) == [1, 2, 3, 4]
    assert store.revision == index.revision == 12
    index.close()
    check_whole(store)
