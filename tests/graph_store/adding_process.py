"""Run as a process of its own: adds papers to a library, one after the other, until it is done or killed.

Arguments: where the library is, the first paper's number, the number of papers. Each paper is announced on stdout
before it is added; a third of the papers before it is then replaced or removed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from graph_store import NativeGraphIndex, Store
from paperscope_core.locations import parse_location
from paperscope_core.types import ModelReply
from tests.graph_store.indexed_papers import METHODS, add, make_indexed


def main() -> None:
    location, first, count = parse_location(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    store = Store.open(location)
    index = NativeGraphIndex.open(store)
    for number in range(first, first + count):
        store.put_call(f"call {number}", "model", ModelReply(text=f"reply {number}"))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        indexed = make_indexed(f"{number:012x}", names=METHODS, note=f"version {number}")
        add(store, indexed)
        index.catch_up()
        if number % 3 == 0:
            store.remove(indexed.paper.id)
            index.catch_up()
    index.close()
    store.close()


if __name__ == "__main__":
    main()
