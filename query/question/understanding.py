"""Rewrites follow-up questions and splits questions that have several parts."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

import prompts
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import Corpus, LanguageModel
from paperscope_core.text.words import singular_key
from paperscope_core.types import Filters, ModelRequest, Turn, Usage
from prompts import as_data
from query.progress import Stages
from query.question.follow_ups import complete_follow_up, depends_on_history
from query.question.scope import named_papers

__all__ = ["Understanding", "Understood", "has_parts"]

_TURNS = 5
_LONGEST_ANSWER = 600
_OTHERS = re.compile(r"(?i)\b(?:other|another|else|elsewhere|all|any)\b")
_ASKING = r"(?:what|which|who|whom|whose|when|where|why|how|does|do|did|is|are|was|were|can)"
_PARTS = re.compile(
    rf"(?is)^[^?]*\?(?>\W*\w).*\?|(?:\band\b|\bas well as\b|;|,)\s+{_ASKING}\b|\brespectively\b|\bboth\b.+\band\b"
    r"|\b(?:compare|difference|differ|differs|versus|vs\.?)\b"
)


class _RewriteReply(BaseModel):
    """The reply of a model that rewrites a follow-up question."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    question: str = Field(min_length=1, max_length=4000)


class _SplitReply(BaseModel):
    """The reply of a model that splits a question."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    questions: list[str] = Field(min_length=1, max_length=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Understood:
    """The self-contained question, its parts to look up (often only the question), and the filters."""

    question: str
    parts: tuple[str, ...]
    filters: Filters
    usage: Usage = Usage()


class Understanding:
    """Rewrites and splits questions with a model, or rewrites by rules if there is none; `decompose` lets the model
    split."""

    def __init__(self, corpus: Corpus, model: LanguageModel | None = None, *, decompose: bool = False) -> None:
        self._corpus = corpus
        self._model = model
        self._decompose = decompose
        self._rewrite = prompts.load("rewrite_question", placeholders=frozenset({"history", "question"}))
        self._split = prompts.load("split_question", placeholders=frozenset({"question"}))

    async def read(self, question: str, *, filters: Filters, history: Sequence[Turn], stages: Stages) -> Understood:
        """Rewrites and splits a question. The model is called only if the question needs it. Raises ModelError."""
        follows_up = bool(history) and depends_on_history(question)
        splitter = self._model if self._decompose else None
        if not follows_up and (splitter is None or not has_parts(question)):
            return Understood(question=question, parts=(question,), filters=filters)
        usage, parts = Usage(), tuple[str, ...]()
        with stages.run("understanding"):
            if follows_up and self._model is None:
                question, filters = await asyncio.to_thread(self._by_rule, question, filters, history)
            elif follows_up and self._model is not None:
                question, usage = await self._rewritten(question, history, self._model)
            if splitter is not None and has_parts(question):
                parts, spent = await self._parts(question, splitter)
                usage += spent
        return Understood(question=question, parts=parts or (question,), filters=filters, usage=usage)

    def _by_rule(self, question: str, filters: Filters, history: Sequence[Turn]) -> tuple[str, Filters]:
        """Completes the question by rules; it is asked of the papers of the last answer unless it names others."""
        last = history[-1]
        elsewhere = filters.papers or _OTHERS.search(question) or named_papers(question, self._corpus.entries())
        known = {entry.id for entry in self._corpus.entries()}
        if not elsewhere:
            filters = replace(filters, papers=tuple(paper for paper in last.papers if paper in known))
        return complete_follow_up(question, history, self._type_of), filters

    def _type_of(self, name: str) -> str:
        key = singular_key(name)
        found = self._corpus.entities([key]) if key else {}
        return next((entity.type for entity in found.values()), "")

    async def _rewritten(self, question: str, history: Sequence[Turn], model: LanguageModel) -> tuple[str, Usage]:
        titles = {entry.id: entry.title for entry in await asyncio.to_thread(self._corpus.entries)}
        turns = "\n\n".join(_as_text(turn, titles) for turn in history[-_TURNS:])
        parts = self._rewrite.fill(history=as_data(turns), question=as_data(question))
        reply, usage = await ask_json(model, ModelRequest.of(parts, "question"), _RewriteReply)
        return reply.question, usage

    async def _parts(self, question: str, model: LanguageModel) -> tuple[tuple[str, ...], Usage]:
        parts = self._split.fill(question=as_data(question))
        reply, usage = await ask_json(model, ModelRequest.of(parts, "questions"), _SplitReply)
        return tuple(dict.fromkeys(part for part in reply.questions if part)), usage


def has_parts(question: str) -> bool:
    """Whether a question seems to ask for several things."""
    return _PARTS.search(question) is not None


def _as_text(turn: Turn, titles: dict[str, str]) -> str:
    lines = [f"Question: {turn.question}", f"Answer: {turn.answer[:_LONGEST_ANSWER]}"]
    papers = [titles[paper] for paper in turn.papers if titles.get(paper)]
    return "\n".join([*lines, f"From: {'; '.join(papers)}"] if papers else lines)
