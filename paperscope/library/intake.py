"""How papers come into a library: with which models, and what they took."""

from dataclasses import replace
from pathlib import Path

from graph_store import Store
from paperscope.errors import BudgetError
from paperscope.library.adding import Added
from paperscope.library.estimating import Estimator
from paperscope.library.progress import OnStage
from paperscope.library.wiring import build_adder, build_estimator
from paperscope.models import CachedEmbedder, MeteredModel, Models
from paperscope.settings import Settings
from paperscope.types import Usage

__all__ = ["Intake"]


class Intake:
    """Adds files with the models of a library."""

    def __init__(self, *, store: Store, models: Models, settings: Settings) -> None:
        self._store = store
        self._models = models
        self._settings = settings

    async def add(self, file: Path, *, password: str | None, on_stage: OnStage) -> Added:
        """See `Library.add`; `usage` is what the models took for this file."""
        extract = MeteredModel(self._models.extract) if self._models.extract else None
        vision = MeteredModel(self._models.vision) if self._models.vision else None
        embedder = self._models.embedder
        embed = CachedEmbedder(embedder, self._store).embed
        adder = build_adder(self._store, embedder, self._settings, extract=extract, vision=vision, embed=embed)
        try:
            added = await adder.add(file, on_stage=on_stage, password=password)
        except BudgetError:
            # Calls under way are paid and will be kept: what is left to do is known when they have ended.
            await self._models.aclose()
            raise
        return replace(added, usage=sum((used.usage for used in (extract, vision) if used), Usage()))

    def estimator(self) -> Estimator:
        """See `Library.estimator`."""
        return build_estimator(self._store, self._models, self._settings)
