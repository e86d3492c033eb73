"""Completes follow-up questions from the conversation with a model."""

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

__all__ = ["Understanding", "Understood"]

_TURNS = 5
_LONGEST_ANSWER = 600
_OTHERS = re.compile(r"(?i)\b(?:other|another|else|elsewhere|all|any)\b")


class _RewriteReply(BaseModel):
    """The reply of a model that completes a message of a conversation."""

    model_config = ConfigDict(str_strip_whitespace=True)

    question: str = Field(min_length=1, max_length=MAX_QUESTION_LENGTH)
    same_papers: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Understood:
    """The self-contained question, and the filters."""

    question: str
    filters: Filters


class Understanding:
    """Reads messages with a model; without one, every message is a complete question.

    Args:
        model: Completes follow-up questions.
    """

    def __init__(self, corpus: Corpus, model: LanguageModel | None = None) -> None:
        self._corpus = corpus
        self._model = model
        self._names = PaperNames()
        self._rewrite = prompts.load("rewrite_question", placeholders=frozenset({"history", "question"}))

    async def read(self, request: AskRequest, progress: Progress) -> Understood:
        """Read a message. The model, if there is one, is called for each message of a conversation, whose form often
        does not tell whether it needs the turns before it ("Is XLNet there?"). Raises ModelError.
        """
        asked = Understood(question=request.question, filters=request.filters)
        if self._model is None or not request.history:
            return asked
        with progress.stage("understanding") as stage:
            asked, spent = await self._rewritten(asked, request.history, self._model)
            stage.usage += spent
        return asked

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
        return Understood(question=reply.question, filters=filters), usage


def _plain_question(text: str, _problem: str) -> _RewriteReply:
    """Take a line of text as the question. Raise ValueError if there are several lines."""
    if len(text.splitlines()) > 1:
        raise ValueError("more than a question")
    return _RewriteReply(question=text)


def _last_cited(history: Sequence[Turn]) -> Turn:
    """Return the last turn whose answer cites papers, so that thanks between two questions change nothing; else the
    last."""
    return next((turn for turn in reversed(history) if turn.papers), history[-1])


def _as_text(turn: Turn, titles: dict[str, str]) -> str:
    lines = [f"Question: {turn.question}", f"Answer: {turn.answer[:_LONGEST_ANSWER]}"]
    papers = [titles[paper] for paper in turn.papers if titles.get(paper)]
    return "\n".join([*lines, f"From: {'; '.join(papers)}"] if papers else lines)
