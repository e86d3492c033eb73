"""Estimates the cost of adding files before anything is sent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_store import Store
from paperscope.adding import Adder, AddRequest, ProgressCallback
from paperscope_core.models import DryRunModel, Models
from paperscope_core.models.embedders import BATCH_TEXTS
from paperscope_core.models.usage import estimate_embedding
from paperscope_core.protocols import LanguageModel
from paperscope_core.settings import RoleSettings, Settings
from paperscope_core.types import PaperFile, Prices, Usage

__all__ = ["Estimate", "Estimator"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """The estimated usage of adding a file, by role (extract, vision, embed); empty if the library has the file."""

    file: Path
    roles: Mapping[str, Usage]

    @property
    def total(self) -> Usage:
        """The sum over all roles."""
        return sum(self.roles.values(), Usage())


class Estimator:
    """Runs the stages of an add on files with models that send nothing.

    Calls that several files share are counted with the first one. Token counts and reply lengths are estimates (see
    `paperscope_core.models.usage`).
    """

    def __init__(self, store: Store, models: Models, settings: Settings) -> None:
        def dry_run(model: LanguageModel, role: RoleSettings) -> DryRunModel:
            return DryRunModel(model, store, prices=role.prices)

        self._models: dict[str, DryRunModel] = {}
        if models.extract:
            self._models["extract"] = dry_run(models.extract, settings.extract)
        if models.vision:
            self._models["vision"] = dry_run(models.vision, settings.vision)
        dry = replace(models, extract=self._models.get("extract"), vision=self._models.get("vision"))
        self._adder = Adder(store, dry, settings)
        # An embedder on a server has a price.
        self._compare_names = models.embedder.embed if settings.embed.local else None
        self._embed = settings.embed
        self._embedded: set[str] = set()

    async def estimate(
        self, file: PaperFile | Path, *, on_stage: ProgressCallback, password: str | None = None
    ) -> Estimate:
        """Estimate one file. Nothing is stored or sent.

        Args:
            password: Opens an encrypted file.

        Raises:
            PaperFileError: The file can't be read as a paper.
            StoreError: The library can't be read.
        """
        before = {role: model.usage for role, model in self._models.items()}
        file = PaperFile.of(file, password=password)
        request = AddRequest(file=file, on_stage=on_stage)
        texts = await self._adder.texts_to_embed(request, compare_names=self._compare_names)
        new = [text for text in texts if text not in self._embedded]
        self._embedded.update(new)
        roles = {role: model.usage - before[role] for role, model in self._models.items()}
        return Estimate(file=file.path, roles={**roles, "embed": self._embedding(new)})

    def _embedding(self, texts: Sequence[str]) -> Usage:
        if self._embed.local:
            return Usage()
        usage = estimate_embedding(texts, Prices(prompt=self._embed.price_prompt))
        return replace(usage, calls=math.ceil(len(texts) / BATCH_TEXTS))
