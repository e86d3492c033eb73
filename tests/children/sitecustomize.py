"""Runs first in each Python process that a test starts: its local embedder and recognizer ask those of the test, which
are loaded, it reads no paper that another process of the run read, and its libraries are on the engine of the test."""

import os
import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_EMBEDDERS, _RECOGNIZERS = "paperscope_core.models.build", "ingest.extraction.recognizer.loading"
_PARSERS, _EXTRACTOR = "ingest.parsers", "ingest.extraction.pipeline"
_LOCATIONS, _STORE = "paperscope_core.locations", "graph_store.store"
_ENGINES = {_LOCATIONS, _STORE} if "TESTS_POSTGRESQL" in os.environ else set()


class _Patcher(MetaPathFinder):
    """Changes the modules that load models when they are imported, so that other processes import nothing more."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_patched = fullname in {_EMBEDDERS, _RECOGNIZERS, _PARSERS, _EXTRACTOR, *_ENGINES}
        spec = PathFinder.find_spec(fullname, path, target) if is_patched else None
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                if fullname == _EMBEDDERS:
                    from tests.remembered_vectors import ServedEmbedder

                    module._local_embedder = lru_cache(maxsize=1)(ServedEmbedder)  # type: ignore[attr-defined]
                elif fullname in {_PARSERS, _EXTRACTOR}:
                    import_module("tests.remembered_papers").PATCHED[fullname](module)
                elif fullname == _LOCATIONS:
                    import_module("tests.engine").patch_locations(module)
                elif fullname == _STORE:
                    import_module("tests.engine").patch_store(module.Store)
                else:
                    from tests.remembered_names import ServedRecognizer

                    module.papers_recognizer = partial(ServedRecognizer, module.papers_recognizer)  # type: ignore[attr-defined]

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Patcher())
# OpenAI's client imports aiohttp if it is installed, as it is for the tests of S3: a fifth of the time of the import.
sys.modules["openai._vendor.httpx_aiohttp"] = None  # type: ignore[assignment]
