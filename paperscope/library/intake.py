"""How papers come into a library and leave it: with which models, what those took, and what becomes of the files."""

import asyncio
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from graph_store import Store
from ingest import check_size
from paperscope.errors import BudgetError, UnknownPaperError
from paperscope.library.adding import Added
from paperscope.library.estimating import Estimator
from paperscope.library.originals import Originals, file_name
from paperscope.library.progress import OnStage
from paperscope.library.wiring import build_adder, build_estimator
from paperscope.models import CachedEmbedder, MeteredModel, Models
from paperscope.settings import Settings
from paperscope.types import Paper, Usage

__all__ = ["Intake"]


class Intake:
    """Adds files with the models of a library, and removes papers; of a file that was handed over it keeps a copy."""

    def __init__(self, *, store: Store, originals: Originals, models: Models, settings: Settings) -> None:
        self._store = store
        self._originals = originals
        self._models = models
        self._settings = settings
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def add(
        self,
        file: Path,
        *,
        name: str | None,
        replaces: str | None,
        password: str | None,
        sha256: str | None,
        on_stage: OnStage,
    ) -> Added:
        """See `Library.add`; `usage` is what the models took for this file."""
        older = self._paper(replaces) if replaces is not None else None
        if name is None:
            added = await self._add(file, older, password=password, sha256=sha256, on_stage=on_stage)
        else:
            added = await self._take(file, older, name=name, password=password, sha256=sha256, on_stage=on_stage)
        if older is not None and older.id != added.paper.id:
            self._originals.drop(older.sha256)
        return added

    async def _take(
        self,
        file: Path,
        older: Paper | None,
        *,
        name: str,
        password: str | None,
        sha256: str | None,
        on_stage: OnStage,
    ) -> Added:
        """Add a copy of the file, which stays if it is the one that a paper was read from.

        Equal files are taken in turn: what one leaves behind is no other's yet.
        """
        check_size(file, max_mb=self._settings.limits.max_file_mb, name=file_name(name))
        digest = (await asyncio.to_thread(self._originals.put, file, name=name)).parent.name
        turn = self._turns.setdefault(digest, asyncio.Lock())
        async with turn:
            # Another turn may have dropped it.
            copy = await asyncio.to_thread(self._originals.put, file, name=name)
            try:
                return await self._add(copy, older, password=password, sha256=sha256, on_stage=on_stage)
            finally:
                known = self._store.paper_by_sha256(digest)
                self._originals.drop(digest, keep=known.file if known else "")

    async def _add(
        self,
        file: Path,
        older: Paper | None,
        *,
        password: str | None,
        sha256: str | None,
        on_stage: OnStage,
    ) -> Added:
        extract = MeteredModel(self._models.extract) if self._models.extract else None
        vision = MeteredModel(self._models.vision) if self._models.vision else None
        embedder = self._models.embedder
        embed = CachedEmbedder(embedder, self._store).embed
        adder = build_adder(self._store, embedder, self._settings, extract=extract, vision=vision, embed=embed)
        try:
            added = await adder.add(file, older=older, on_stage=on_stage, password=password, sha256=sha256)
        except BudgetError:
            # Calls under way are paid and will be kept: what is left to do is known when they have ended.
            await self._models.aclose()
            raise
        return replace(added, usage=sum((used.usage for used in (extract, vision) if used), Usage()))

    def estimator(self) -> Estimator:
        """See `Library.estimator`."""
        return build_estimator(self._store, self._models, self._settings)

    def remove(self, name: str) -> Paper:
        """See `Library.remove`."""
        paper = self._store.find_paper(name)
        self._store.remove(paper.id)
        self._store.sweep()
        self._originals.drop(paper.sha256)
        self._originals.sweep(keep={entry.sha256 for entry in self._store.entries()})
        return paper

    def _paper(self, paper: str) -> Paper:
        try:
            return self._store.paper(paper)
        except KeyError as error:
            raise UnknownPaperError(
                f"no paper {paper!r} in the library to replace; list the papers to see their ids"
            ) from error
