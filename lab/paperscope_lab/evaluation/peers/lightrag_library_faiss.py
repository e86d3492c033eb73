"""The LightRAG worker of `bench query` with its FAISS storage; see `lightrag_library`."""

import logging
import sys
from functools import partial

from paperscope_lab.evaluation.peers.lightrag_library import open_library
from paperscope_lab.evaluation.peers.runner import refuse_network
from paperscope_lab.evaluation.peers.timing import run_worker

__all__: list[str] = []


if __name__ == "__main__":
    sys.addaudithook(refuse_network)
    logging.disable(logging.WARNING)
    run_worker(sys.argv[1:], partial(open_library, vectors="FaissVectorDBStorage"))
