"""The only module that imports LightRAG: registers our storages with it, and makes instances on a library."""

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from graph_store.lightrag.storages import GraphStorage, KVStorage, StatusStorage, VectorStorage
from graph_store.lightrag.view import LibraryReader
from paperscope_core.errors import InputError, ModelError, PaperscopeError
from paperscope_core.processes import environment_variable

__all__ = [
    "STORAGES",
    "Complete",
    "PieceTokenizer",
    "import_lightrag",
    "make_lightrag",
    "query_param",
    "register",
    "storage_class",
]

VERSION = "1.5.7"
"""The release whose storages we implement; pyproject.toml names the same."""

Complete = Callable[[str, str, Sequence[Mapping[str, str]]], Awaitable[str]]
"""Replies to a prompt, given a system prompt and earlier messages."""

STORAGES = {
    "KV_STORAGE": "PaperscopeKVStorage",
    "VECTOR_STORAGE": "PaperscopeVectorStorage",
    "GRAPH_STORAGE": "PaperscopeGraphStorage",
    "DOC_STATUS_STORAGE": "PaperscopeDocStatusStorage",
}
"""The names of our storages in LightRAG's registry, by its kinds."""

_OWN = {
    "PaperscopeKVStorage": (KVStorage, "lightrag.base", "BaseKVStorage"),
    "PaperscopeVectorStorage": (VectorStorage, "lightrag.base", "BaseVectorStorage"),
    "PaperscopeGraphStorage": (GraphStorage, "lightrag.base", "BaseGraphStorage"),
    "PaperscopeDocStatusStorage": (StatusStorage, "lightrag.kg.json_doc_status_impl", "JsonDocStatusStorage"),
}
_NO_DOTENV = "PYTHON_DOTENV_DISABLED"
# Pieces about as long as tokens (`paperscope_core.models.token_counting`): 5.5 letters and spaces, 1 digit, 1.4 other
# ASCII characters; any other character is two or three bytes.
_PIECE = re.compile(rb"[A-Za-z \n\t\r]{1,5}|[\x00-\xff]", re.DOTALL)
_MARK = b"\x01"

_readers: WeakValueDictionary[str, LibraryReader] = WeakValueDictionary()
_importing = threading.Lock()


class _Tokenizer(Protocol):
    """What LightRAG asks of a tokenizer; it must be safe for several threads."""

    def encode(self, content: str) -> list[int]:
        """Return the tokens of a text."""

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens."""


class PieceTokenizer:
    """Cuts texts into pieces whose number estimates the tokens. LightRAG would download a vocabulary otherwise.

    A token's number is its piece, read as bytes, so that every text can be restored.
    """

    def encode(self, content: str) -> list[int]:
        """Return the tokens of a text."""
        return [int.from_bytes(_MARK + piece) for piece in _PIECE.findall(content.encode(errors="replace"))]

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens; a character that is cut is left out."""
        pieces = [token.to_bytes((token.bit_length() + 7) // 8)[1:] for token in tokens]
        return b"".join(pieces).decode(errors="ignore")


@contextmanager
def _without_dotenv() -> Iterator[None]:
    """Keep python-dotenv from reading the `.env` file of the working directory."""
    with _importing, environment_variable(_NO_DOTENV, "1"):
        yield


def import_lightrag(module: str = "lightrag.lightrag") -> ModuleType:
    """Import a module of LightRAG without the `.env` file that it would read.

    Raises:
        InputError: It is not installed, or of a release whose storages differ from ours.
    """
    with _without_dotenv():
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            raise InputError(
                f"LightRAG is not installed (no module {error.name!r}): pip install 'paperscope[lightrag]'"
            ) from error


def __getattr__(name: str) -> type:
    """LightRAG takes a storage's class from the module that its registry names."""
    if name in _OWN:
        return storage_class(name)
    raise AttributeError(name)


@cache
def storage_class(name: str) -> type:
    """Return one of our storages as a subclass of LightRAG's base class.

    Raises:
        InputError: The base class requires methods that ours lacks.
    """
    own, module, base = _OWN[name]
    bases = (own, getattr(import_lightrag(module), base))
    found = type(name, bases, {"reader": property(_reader_of), **_attributes(name), "__module__": __name__})
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise _unsupported(f"{base} requires {', '.join(missing)}")
    return found


def _attributes(name: str) -> dict[str, Any]:
    if name == "PaperscopeGraphStorage":
        return {"types": import_lightrag("lightrag.types")}
    if name == "PaperscopeDocStatusStorage":
        return {"locks": import_lightrag("lightrag.kg.shared_storage")}
    return {}


def _reader_of(storage: Any) -> LibraryReader:  # noqa: ANN401
    return _readers[storage.workspace]


def _unsupported(why: str) -> InputError:
    version = getattr(import_lightrag("lightrag"), "__version__", "?")
    return InputError(f"lightrag-hku {version} can't be used: {why}; install lightrag-hku=={VERSION}")


def register(reader: LibraryReader) -> None:
    """Let LightRAG find our storages by name, and the library by its workspace, as long as the reader is in use.

    Raises:
        InputError: LightRAG is not installed, or of a release that our storages don't fit.
    """
    registry = import_lightrag("lightrag.kg")
    _readers[reader.workspace] = reader
    for kind, name in STORAGES.items():
        storage_class(name)
        try:
            names = registry.STORAGE_IMPLEMENTATIONS[kind]["implementations"]
            registry.STORAGES[name] = __name__
            registry.STORAGE_ENV_REQUIREMENTS[name] = []
        except (AttributeError, KeyError, TypeError) as error:
            raise _unsupported(f"its registry of storages has another form ({error!r})") from error
        if name not in names:
            names.append(name)


def make_lightrag(
    reader: LibraryReader,
    *,
    complete: Complete | None = None,
    tokenizer: _Tokenizer | None = None,
    known_vectors: Mapping[str, Any] | None = None,
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return a `LightRAG` on a library. Each of its queries reads one revision. It must be used in one event loop.

    Args:
        tokenizer: Counts tokens; None for an estimate.
        known_vectors: Vectors of texts that need not be embedded; the mapping may change.
        options: Further fields of `LightRAG`.

    Raises:
        InputError: LightRAG is not installed, or of a release that our storages don't fit; it refuses the options.
    """
    register(reader)
    utils = import_lightrag("lightrag.utils")
    for name in ("lightrag", "nano-vectordb"):
        logging.getLogger(name).setLevel(logging.ERROR)
    known = known_vectors if known_vectors is not None else {}

    async def embed(texts: list[str], **_options: object) -> Any:  # noqa: ANN401
        found = [known.get(text) for text in texts]
        if all(vector is not None for vector in found):
            return np.stack([vector for vector in found if vector is not None])
        return await asyncio.to_thread(reader.texts.embed_questions, texts)

    async def reply(
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, str]] | None = None,
        **_options: object,
    ) -> str:
        try:
            return await (complete or _no_model)(prompt, system_prompt or "", history_messages or ())
        except PaperscopeError as error:
            rag.paperscope_failure = error
            raise

    fields = {
        "working_dir": str(reader.store.folder),
        "workspace": reader.workspace,
        "kv_storage": STORAGES["KV_STORAGE"],
        "vector_storage": STORAGES["VECTOR_STORAGE"],
        "graph_storage": STORAGES["GRAPH_STORAGE"],
        "doc_status_storage": STORAGES["DOC_STATUS_STORAGE"],
        "embedding_func": utils.EmbeddingFunc(embedding_dim=reader.texts.dimension, func=embed),
        "llm_model_func": reply,
        "tokenizer": utils.Tokenizer("paperscope", tokenizer or PieceTokenizer()),
        "enable_llm_cache": False,
    }
    try:
        rag = _lightrag_class()(**(fields | options))
    except ValueError as error:
        # It names a storage that does not exist, or the environment variables that one lacks.
        raise InputError(f"LightRAG refuses these options: {error}") from error
    rag.paperscope_reader, rag.paperscope_failure = reader, None
    return rag


async def _no_model(_prompt: str, _system: str, _history: Sequence[Mapping[str, str]]) -> str:
    raise ModelError(
        "LightRAG asked a language model, and none is set: set PAPERSCOPE_MODEL, or call aquery_data with hl_keywords "
        "and ll_keywords, which needs none"
    )


@cache
def _lightrag_class() -> type:
    """`LightRAG`, with queries that read one revision, and that raise a model's error instead of returning None."""
    base = import_lightrag().LightRAG

    def pinned(name: str) -> Callable[..., Awaitable[Any]]:
        async def method(self: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            reader: LibraryReader = self.paperscope_reader
            await reader.view()
            with reader.held():
                result = await getattr(base, name)(self, *args, **options)
            if result is None and self.paperscope_failure is not None:
                raise self.paperscope_failure
            return result

        return method

    return type("LightRAG", (base,), {name: pinned(name) for name in ("aquery", "aquery_data", "aquery_llm")})


def query_param(**options: Any) -> Any:  # noqa: ANN401
    """LightRAG's parameters of a query."""
    return import_lightrag("lightrag.base").QueryParam(**options)
