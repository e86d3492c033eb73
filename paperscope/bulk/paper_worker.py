"""What runs on the machines of a cluster: workers, which add papers, and embedders on GPUs."""

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from numpy import float32
from numpy.typing import NDArray
from pydantic import SecretStr

from paperscope.adding import Adder, AddRequest, AddResult, PaperStore, Stage
from paperscope.bulk.mailbox import RemoteEmbedder, RemoteModel, RemoteStore, Sender
from paperscope_core.errors import PaperscopeError
from paperscope_core.models import Models
from paperscope_core.models.build import build_embedder
from paperscope_core.models.embedders import LocalEmbedder
from paperscope_core.models.weights import find_weights
from paperscope_core.protocols import Embedder
from paperscope_core.settings import Settings
from paperscope_core.types import PaperFile

__all__ = ["GpuEmbedder", "PaperWorker", "Work", "without_secrets"]

# The shortest time between two reports of a stage.
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A paper to add.

    Attributes:
        number: Distinguishes it from other work.
        file: The file with its content, without a folder and a password.
        folder: The files of a folder of MinerU, by path.
        source: The path or address that it comes from.
        replaces: The id of the paper that it replaces, if the caller says so.
    """

    number: int
    file: PaperFile
    folder: Mapping[str, bytes]
    source: str
    replaces: str | None


class PaperWorker:
    """An actor that adds one paper after another.

    Parsing and extraction by rules run in child processes with limits of time and memory, as everywhere.

    Args:
        mailbox: The handle of the mailbox.
        settings: The library's settings, without secrets.
        embedder: The handle of an embedder on a GPU; None to embed here, or on the server that the settings name.
    """

    def __init__(self, mailbox: Any, settings: Settings, embedder: Any) -> None:  # noqa: ANN401
        import ray

        self._sender = Sender(ray, mailbox)
        self._store = cast(PaperStore, RemoteStore(self._sender))
        self._settings = settings
        self._models = Models(
            embedder=self._embedder(ray, embedder), extract=self._model("extract"), vision=self._model("vision")
        )
        self._reported = 0.0
        self._stage = ""

    def ready(self) -> None:
        """Return once the worker has started."""

    def add(self, work: Work, password: str | None) -> AddResult | PaperscopeError:
        """Add a paper; returns the error if that fails.

        The password is not part of `work`, which Ray may write to a disk if memory is short.
        """
        self._sender.work = work.number
        try:
            with tempfile.TemporaryDirectory(prefix="paperscope-") as folder:
                request = AddRequest(
                    file=replace(work.file, path=_write(Path(folder), work), password=password),
                    source=work.source,
                    replaces=work.replaces,
                    on_stage=self._report,
                )
                return asyncio.run(Adder(self._store, self._models, self._settings).add(request))
        except PaperscopeError as error:
            return error

    def _report(self, stage: Stage) -> None:
        now = time.monotonic()
        if stage.name != self._stage or now - self._reported > _REPORT_SECONDS:
            self._stage, self._reported = stage.name, now
            self._sender.report(stage)

    def _embedder(self, ray: Any, actor: Any) -> Embedder:  # noqa: ANN401
        settings = self._settings.embed
        if not settings.local:
            return RemoteEmbedder(name=settings.model, sender=self._sender)
        if actor is None:
            return build_embedder(settings)
        return RemoteEmbedder(name=ray.get(actor.load.remote()), actor=actor)

    def _model(self, role: str) -> RemoteModel | None:
        settings = getattr(self._settings, role)
        if not settings.configured:
            return None
        calls = self._settings.calls
        return RemoteModel(self._sender, role=role, name=settings.model, concurrency=calls.concurrency)


def _write(folder: Path, work: Work) -> Path:
    path = folder / work.file.name
    for name, data in work.folder.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return path


class GpuEmbedder:
    """An actor that embeds texts on a GPU.

    Args:
        model: See `find_weights`.
    """

    def __init__(self, model: str) -> None:
        self._embedder = LocalEmbedder(find_weights(model), device="cuda")

    async def load(self) -> str:
        """Load the weights; return the embedder's name."""
        await self._embedder.embed(["text"])
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """See `Embedder.embed`."""
        return await self._embedder.embed(texts)


def without_secrets(settings: Settings) -> Settings:
    """Return the settings without keys, and without the library's address, which may have a password."""
    no_key = {"api_key": SecretStr("")}
    roles = {
        role: getattr(settings, role).model_copy(update=no_key) for role in ("answer", "extract", "vision", "embed")
    }
    return settings.model_copy(update={**no_key, **roles, "library": Path("library")})
