"""Completes follow-up questions from the conversation, and splits questions that have several parts, with a model."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

import prompts
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import Corpus, LanguageModel
from paperscope_core.types import MAX_QUESTION_LENGTH, AskRequest, Filters, ModelRequest, Turn, Usage
from prompts import as_data
from query.progress import Progress
from query.question.paper_names import PaperNames

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
    """The reply of a model that completes a message of a conversation."""

    model_config = ConfigDict(str_strip_whitespace=True)

    question: str = Field(min_length=1, max_length=MAX_QUESTION_LENGTH)
    same_papers: bool = True


class _SplitReply(BaseModel):
    """The reply of a model that splits a question."""

    model_config = ConfigDict(str_strip_whitespace=True)

    questions: list[str] = Field(min_length=1, max_length=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Understood:
    """The self-contained question, its parts to look up (often only the question), and the filters."""

    question: str
    parts: tuple[str, ...]
    filters: Filters


class Understanding:
    """Reads messages with a model; without one, every message is a complete question.

    Args:
        model: Completes follow-up questions.
        decompose: Lets the model split questions.
    """

    def __init__(self, corpus: Corpus, model: LanguageModel | None = None, *, decompose: bool = False) -> None:
        self._corpus = corpus
        self._model = model
        self._decompose = decompose
        self._names = PaperNames()
        self._rewrite = prompts.load("rewrite_question", placeholders=frozenset({"history", "question"}))
        self._split = prompts.load("split_question", placeholders=frozenset({"question"}))

    async def read(self, request: AskRequest, progress: Progress) -> Understood:
        """Read a message. The model, if there is one, is called for each message of a conversation, whose form often
        does not tell whether it needs the turns before it ("Is XLNet there?"). Raises ModelError.
        """
        question = request.question
        asked = Understood(question=question, parts=(question,), filters=request.filters)
        if self._model is None or not (request.history or self._splits(question)):
            return asked
        with progress.stage("understanding") as stage:
            if request.history:
                asked, spent = await self._rewritten(asked, request.history, self._model)
                stage.usage += spent
            if self._splits(asked.question):
                parts, spent = await self._parts(asked.question, self._model)
                stage.usage += spent
                asked = replace(asked, parts=parts)
        return asked

    def _splits(self, question: str) -> bool:
        return self._decompose and has_parts(question)

    def _same_papers(self, question: str, filters: Filters, last: Turn) -> Filters:
        """Return the filters with the papers of a turn, unless these or the question name papers, or it asks for
        others."""
        entries = self._corpus.entries()
        if filters.papers or _OTHERS.search(question) or self._names.named_in(question, entries):
            return filters
        known = {entry.id for entry in entries}
        return replace(filters, papers=tuple(paper for paper in last.papers if paper in known))

    async def _rewritten(
        self, asked: Understood, history: Sequence[Turn], model: LanguageModel
    ) -> tuple[Understood, Usage]:
        """Complete the question with the model; it is asked of the papers of the last answer if the model says so,
        unless it names others."""
        titles = {entry.id: entry.title for entry in await asyncio.to_thread(self._corpus.entries)}
        turns = "\n\n".join(_as_text(turn, titles) for turn in history[-_TURNS:])
        parts = self._rewrite.fill(history=as_data(turns), question=as_data(asked.question))
        request = ModelRequest.of(parts, "question")
        reply, usage = await ask_json(model, request, _RewriteReply, otherwise=_plain_question)
        filters = asked.filters
        if reply.same_papers:
            filters = await asyncio.to_thread(self._same_papers, reply.question, filters, _last_cited(history))
        return Understood(question=reply.question, parts=(reply.question,), filters=filters), usage

    async def _parts(self, question: str, model: LanguageModel) -> tuple[tuple[str, ...], Usage]:
        parts = self._split.fill(question=as_data(question))
        reply, usage = await ask_json(model, ModelRequest.of(parts, "questions"), _SplitReply)
        return tuple(dict.fromkeys(part for part in reply.questions if part)) or (question,), usage


def _plain_question(text: str, _problem: str) -> _RewriteReply:
    """Take a line of text as the question. Raise ValueError if there are several lines."""
    if len(text.splitlines()) > 1:
        raise ValueError("more than a question")
    return _RewriteReply(question=text)


def has_parts(question: str) -> bool:
    """Return whether a question seems to ask for several things."""
    return _PARTS.search(question) is not None


def _last_cited(history: Sequence[Turn]) -> Turn:
    """Return the last turn whose answer cites papers, so that thanks between two questions change nothing; else the
    last."""
    return next((turn for turn in reversed(history) if turn.papers), history[-1])


def _as_text(turn: Turn, titles: dict[str, str]) -> str:
    lines = [f"Question: {turn.question}", f"Answer: {turn.answer[:_LONGEST_ANSWER]}"]
    papers = [titles[paper] for paper in turn.papers if titles.get(paper)]
    return "\n".join([*lines, f"From: {'; '.join(papers)}"] if papers else lines)
