"""Runs first in each Python process that a test starts: its local embedder asks that of the test, which is loaded."""

import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_PATCHED = "paperscope_core.models.build"


class _Patcher(MetaPathFinder):
    """Changes the module that builds embedders when it is imported, so that other processes import nothing more."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == _PATCHED else None
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                from tests.remembered_vectors import ServedEmbedder

                module._local_embedder = lru_cache(maxsize=1)(ServedEmbedder)  # type: ignore[attr-defined]

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Patcher())
