"""Estimates what adding files costs before anything is sent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paperscope.adding import Adder, ProgressCallback
from paperscope_core.models import DryRunModel
from paperscope_core.models.tokens import count_tokens
from paperscope_core.settings import EmbedSettings
from paperscope_core.types import Usage

__all__ = ["Estimate", "Estimator"]


_MILLION = 1_000_000
# As many texts as `build_embedder` sends in a call.
_BATCH = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What adding a file would take of each role's model (extract, vision, embed); nothing for one that is there."""

    file: Path
    roles: Mapping[str, Usage]

    @property
    def total(self) -> Usage:
        """All roles together."""
        return sum(self.roles.values(), Usage())


class Estimator:
    """Goes through files as an add would, with models that send nothing.

    What several files share is counted with the first. Tokens are told by rule (`paperscope.models.tokens`), replies
    by what their kind takes on average (`paperscope.models.expected`).
    """

    def __init__(self, adder: Adder, models: Mapping[str, DryRunModel], embed: EmbedSettings) -> None:
        self._adder = adder
        self._models = models
        self._embed = embed
        self._embedded: set[str] = set()

    async def estimate(self, file: Path, *, on_stage: ProgressCallback, password: str | None = None) -> Estimate:
        """Estimate one file. Raises PaperFileError or StoreError; nothing is stored, and nothing sent."""
        before = {role: model.usage for role, model in self._models.items()}
        texts = await self._adder.texts_to_embed(file, on_stage=on_stage, password=password)
        fresh = [text for text in texts if text not in self._embedded]
        self._embedded.update(fresh)
        roles = {role: _difference(model.usage, before[role]) for role, model in self._models.items()}
        return Estimate(file=file, roles={**roles, "embed": self._embedding(fresh)})

    def _embedding(self, texts: Sequence[str]) -> Usage:
        """The bundled embedder takes neither calls nor tokens that anybody pays for."""
        if self._embed.provider == "local":
            return Usage()
        tokens = sum(map(count_tokens, texts))
        cost = tokens * self._embed.price_prompt / _MILLION
        return Usage(calls=math.ceil(len(texts) / _BATCH), prompt_tokens=tokens, cost=cost)


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        calls=after.calls - before.calls,
        cached=after.cached - before.cached,
        prompt_tokens=after.prompt_tokens - before.prompt_tokens,
        completion_tokens=after.completion_tokens - before.completion_tokens,
        cost=after.cost - before.cost,
    )
