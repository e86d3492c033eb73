"""Imports PyMuPDF without the heavy modules that it imports if it can."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

__all__ = ["Untyped", "pymupdf"]

# With them comes onnxruntime: two seconds and 100 MB. The first is loaded for the papers that need it; the second is
# not used.
_HEAVY_IMPORTS_OF_PYMUPDF = ("pymupdf.layout", "pymupdf4llm")


@contextmanager
def _imports_fail(names: Sequence[str]) -> Iterator[None]:
    """Make the import of modules that are not loaded fail inside the block."""
    hidden = [name for name in names if name not in sys.modules]
    # None is the documented value for a module that can't be imported.
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _imports_fail(_HEAVY_IMPORTS_OF_PYMUPDF):
    import pymupdf as _pymupdf

# PyMuPDF has no usable types; its values are untyped where they are used.
Untyped: TypeAlias = Any
pymupdf: Untyped = _pymupdf
