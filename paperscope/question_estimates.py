"""Estimates the model usage of answering questions and filling tables before anything is asked."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from graph_store import Store
from paperscope.asking import Asker
from paperscope_core.models import DryRunModel, Models
from paperscope_core.models.wrapper import SendRequest
from paperscope_core.settings import Settings
from paperscope_core.types import AskRequest, ModelReply, ModelRequest, Usage
from paperscope_core.types.literature import ColumnSet
from query.answering.image_reader import irrelevant_reply

__all__ = ["QuestionEstimate", "QuestionEstimator", "sum_roles"]

# Tokens of a picture that is looked up, which is not known before.
_PICTURE_TOKENS = 1000
_REPLY_TOKENS = 300

Roles = Mapping[str, Usage]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionEstimate:
    """The estimated usage of answering a question, by role (answer, vision); empty without an answering model.

    Attributes:
        least: If the first answer is final.
        most: If images change it, and the model looks something up as often as it may.
    """

    least: Roles
    most: Roles


def sum_roles(*parts: Roles) -> dict[str, Usage]:
    """Return the sum of usages by role."""
    total: dict[str, Usage] = {}
    for role, usage in (item for part in parts for item in part.items()):
        total[role] = total.get(role, Usage()) + usage
    return total


class QuestionEstimator:
    """Answers questions with models that send nothing. Only an embedder on a server is asked, for the question.

    Args:
        store: The library, which has the replies of earlier calls.
        settings: Prices, and how often a model may look something up.
        build: Builds what answers with given models.
    """

    def __init__(self, store: Store, models: Models, settings: Settings, build: Callable[[Models], Asker]) -> None:
        self._models: dict[str, DryRunModel] = {}
        if models.answer:
            self._models["answer"] = DryRunModel(models.answer, store, prices=settings.answer.prices)
            if models.vision:
                self._models["vision"] = _DryVision(models.vision, store, prices=settings.vision.prices)
        dry = replace(models, answer=self._models.get("answer"), vision=self._models.get("vision"))
        self._asker = build(dry)
        self._rounds = settings.answer.rounds
        self._prices = settings.answer.prices
        self._looked_up = settings.vision.prices.usage(
            prompt_tokens=_PICTURE_TOKENS * settings.retrieval.images, completion_tokens=_REPLY_TOKENS
        )

    async def estimate(self, request: AskRequest) -> QuestionEstimate:
        """Estimate one question. Calls that several questions share are counted with the first one.

        Raises:
            NotFoundError: A paper is not in the library.
            ModelError: The embedder failed.
        """
        before = {role: model.usage for role, model in self._models.items()}
        if not self._models:
            return QuestionEstimate(least={}, most={})
        answer = await self._asker.ask(request, on_stage=lambda _: None)
        asked = self._models["answer"].usage.calls - before["answer"].calls
        least = {role: model.usage - before[role] for role, model in self._models.items()}
        if request.each_paper and asked:
            # What papers say, from which the last call concludes, is not known before.
            last = self._prices.usage(prompt_tokens=_REPLY_TOKENS * (asked + 4), completion_tokens=2 * _REPLY_TOKENS)
            least["answer"] += last
        read = bool(answer.readings)
        # A further request is about as long as the first.
        further = [least["answer"]] * (self._rounds + read)
        pictures = [self._looked_up] * (self._rounds if "vision" in least else 0)
        most = sum_roles(least, *({"answer": one} for one in further), *({"vision": one} for one in pictures))
        return QuestionEstimate(least=least, most=most)

    async def estimate_table(self, columns: ColumnSet, papers: Sequence[str] = ()) -> QuestionEstimate:
        """Estimate the cells that a literature table with these columns and papers lacks.

        Raises:
            UnknownPaperError: A paper is not in the library.
            ModelError: The embedder failed.
        """
        before = {role: model.usage for role, model in self._models.items()}
        if not self._models:
            return QuestionEstimate(least={}, most={})
        tables = self._asker.tables
        waiting = await asyncio.to_thread(tables.pending, columns, papers)
        for one in waiting:
            await tables.rows.fill(one.entry, columns, one.columns, known=one.rows)
        least = {role: model.usage - before[role] for role, model in self._models.items()}
        further = [{"answer": least["answer"]}] if self._rounds else []
        pictures = [{"vision": self._looked_up}] * (len(waiting) if self._rounds and "vision" in least else 0)
        return QuestionEstimate(least=least, most=sum_roles(least, *further, *pictures))


class _DryVision(DryRunModel):
    """Finds nothing in images, so that none is read twice."""

    async def _call(self, request: ModelRequest, send: SendRequest, /) -> ModelReply:
        reply = await super()._call(request, send)
        if reply.usage.cached:
            return reply
        return replace(reply, text=irrelevant_reply(sum(len(message.images) for message in request.messages)))
