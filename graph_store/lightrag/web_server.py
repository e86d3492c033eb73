"""LightRAG's own API server and WebUI on a library."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graph_store.lightrag.adapter import STORAGES, Complete, PieceTokenizer, import_lightrag, make_lightrag
from graph_store.lightrag.view import LibraryReader

__all__ = ["make_app"]

# Routes that only read, although they are no GET; every other one would change the library.
_READING = frozenset(
    {"/query", "/query/stream", "/query/data", "/documents/paginated", "/login", "/api/chat", "/api/generate"}
)
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_REFUSAL = b'{"detail":"LightRAG can not change this library: add and remove papers with Paperscope."}'


def make_app(
    reader: LibraryReader, *, host: str, port: int, inputs: Path, complete: Complete | None, model: str
) -> Any:  # noqa: ANN401
    """Return the ASGI application of LightRAG's server on a library; each request reads one revision, and one that
    would change something gets 403.

    With a key (LIGHTRAG_API_KEY), all but the health check and the files of the WebUI require it.

    Args:
        host: The address that it listens on, and the only origin of its pages.
        inputs: An empty folder for what is uploaded, which the library then refuses.
        model: The language model's name, which is shown.

    Raises:
        StoreDamagedError: All papers are damaged.
        InputError: LightRAG, or what its server needs, is not installed, or of another release.
    """
    with reader.held():
        config = import_lightrag("lightrag.api.config")
    with _arguments(["lightrag-server"]):
        args = config.parse_args()
    args.host, args.port, args.cors_origins = host, port, f"http://{host}:{port}"
    # By default, the routes of Ollama's API need no key either.
    args.whitelist_paths = "/health"
    args.scan_spool_dir = str(inputs)
    args.working_dir, args.input_dir, args.workspace = str(reader.store.folder), str(inputs), reader.workspace
    args.kv_storage, args.vector_storage = STORAGES["KV_STORAGE"], STORAGES["VECTOR_STORAGE"]
    args.graph_storage, args.doc_status_storage = STORAGES["GRAPH_STORAGE"], STORAGES["DOC_STATUS_STORAGE"]
    # Its own clients of models are made, but never called; those of "openai" need nothing that is not installed.
    args.llm_binding = args.embedding_binding = "openai"
    args.llm_model, args.embedding_model = model or "none", reader.texts.embedder
    args.embedding_dim = reader.texts.dimension
    config.initialize_config(args, force=True)
    server: Any = import_lightrag("lightrag.api.lightrag_server")
    # It would load a tokenizer from the network to count the tokens of Ollama's API.
    ollama: Any = import_lightrag("lightrag.api.routers.ollama_api")
    utils: Any = import_lightrag("lightrag.utils")
    ollama._ESTIMATE_TOKENIZER = utils.Tokenizer("paperscope", PieceTokenizer())  # noqa: SLF001
    made = server.LightRAG

    def on_library(**fields: Any) -> Any:  # noqa: ANN401
        options = {name: fields[name] for name in ("max_graph_nodes", "ollama_server_infos")}
        return make_lightrag(reader, complete=complete, **options)

    server.LightRAG = on_library
    try:
        app = server.create_app(args)
    finally:
        server.LightRAG = made
    # Its health check would tell them to callers.
    args.working_dir = args.input_dir = ""
    return _Pinned(app, reader)


class _Pinned:
    """Lets each request read one revision, and none change anything."""

    def __init__(self, app: Any, reader: LibraryReader) -> None:  # noqa: ANN401
        self._app = app
        self._reader = reader

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] not in _SAFE_METHODS and scope["path"].rstrip("/") not in _READING:
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(_REFUSAL)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": _REFUSAL})
            return
        await self._reader.view()
        with self._reader.held():
            await self._app(scope, receive, send)


@contextmanager
def _arguments(arguments: list[str]) -> Iterator[None]:
    """Replace the arguments of the program, which LightRAG parses."""
    before = sys.argv
    sys.argv = arguments
    try:
        yield
    finally:
        sys.argv = before
