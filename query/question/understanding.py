"""Tells what a message asks for, rewrites follow-up questions, and splits questions that have several parts."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

import prompts
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import Corpus, Embedder, LanguageModel
from paperscope_core.text.words import singular_key
from paperscope_core.types import Filters, ModelRequest, Turn, Usage
from prompts import as_data
from query.progress import Stages
from query.question.follow_ups import complete_follow_up, depends_on_history, names_in, parallels
from query.question.kinds import MessageKind, kind_of
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
    """The reply of a model that reads a message of a conversation."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    kind: MessageKind = "papers"
    question: str = Field(min_length=1, max_length=4000)
    same_papers: bool = True
    reply: str = Field(default="", max_length=2000)


class _SplitReply(BaseModel):
    """The reply of a model that splits a question."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    questions: list[str] = Field(min_length=1, max_length=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Understood:
    """The self-contained question, its parts to look up (often only the question), and the filters.

    Attributes:
        kind: A message that is not on papers is not looked up.
        reply: A model's reply to small talk; "" if none was asked.
    """

    question: str
    parts: tuple[str, ...]
    filters: Filters
    kind: MessageKind = "papers"
    reply: str = ""
    usage: Usage = Usage()


class Understanding:
    """Reads messages with a model, or by rules if there is none.

    Args:
        embedder: Its vectors tell small talk and questions on the library from questions on papers; see `kind_of`.
        model: Rewrites follow-ups and confirms what is not on papers, in one call.
        decompose: Lets the model split questions.
    """

    def __init__(
        self, corpus: Corpus, embedder: Embedder, model: LanguageModel | None = None, *, decompose: bool = False
    ) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._model = model
        self._decompose = decompose
        self._names = PaperNames()
        self._rewrite = prompts.load("rewrite_question", placeholders=frozenset({"history", "question"}))
        self._split = prompts.load("split_question", placeholders=frozenset({"question"}))

    async def read(self, question: str, *, filters: Filters, history: Sequence[Turn], stages: Stages) -> Understood:
        """Reads a message. The model, if there is one, is called for each message of a conversation, whose form often
        does not tell whether it needs the turns before it ("Is XLNet there?"), and for what seems to be no question on
        papers. Raises ModelError.
        """
        kind = await kind_of(question, self._embedder)
        # Whoever names what the papers name asks for it, however politely ("And on CoNLL, please").
        if kind == "talk" and any(await asyncio.to_thread(lambda: list(map(self._type_of, names_in(question))))):
            kind = "papers"
        follows_up = kind == "papers" and bool(history) and (self._model is not None or depends_on_history(question))
        splitter = self._model if self._decompose else None
        asked = Understood(question=question, parts=(question,), filters=filters, kind=kind)
        if not follows_up and kind == "papers" and (splitter is None or not has_parts(question)):
            return asked
        with stages.run("understanding"):
            if self._model is not None and (follows_up or kind != "papers"):
                asked = await self._rewritten(asked, history, self._model)
            elif follows_up:
                asked = await self._by_rule(asked, history)
            if splitter is not None and asked.kind == "papers" and has_parts(asked.question):
                parts, spent = await self._parts(asked.question, splitter)
                asked = replace(asked, parts=parts, usage=asked.usage + spent)
        return asked

    async def _by_rule(self, asked: Understood, history: Sequence[Turn]) -> Understood:
        """Completes the question by rules; it is asked of the papers of the last answer unless it names others."""
        last = _last_cited(history)
        fragment, phrases = parallels(asked.question, last)
        near: dict[str, float] = {}
        if phrases:
            vector, *others = await self._embedder.embed([fragment, *phrases])
            near = {phrase: float(other @ vector) for phrase, other in zip(phrases, others, strict=True)}
        question = await asyncio.to_thread(complete_follow_up, asked.question, [last], self._type_of, near)
        kind = await kind_of(question, self._embedder)
        filters = await asyncio.to_thread(self._same_papers, asked.question, asked.filters, last)
        return replace(asked, question=question, parts=(question,), filters=filters, kind=kind)

    def _same_papers(self, question: str, filters: Filters, last: Turn) -> Filters:
        """The filters with the papers of a turn, unless these or the question name papers, or it asks for others."""
        entries = self._corpus.entries()
        if filters.papers or _OTHERS.search(question) or self._names.named_in(question, entries):
            return filters
        known = {entry.id for entry in entries}
        return replace(filters, papers=tuple(paper for paper in last.papers if paper in known))

    def _type_of(self, name: str) -> str:
        key = singular_key(name)
        found = self._corpus.entities([key]) if key else {}
        return next((entity.type for entity in found.values()), "")

    async def _rewritten(self, asked: Understood, history: Sequence[Turn], model: LanguageModel) -> Understood:
        """Reads the message with the model; a question is asked of the papers of the last answer if the model says so,
        unless it names others."""
        titles = {entry.id: entry.title for entry in await asyncio.to_thread(self._corpus.entries)}
        turns = "\n\n".join(_as_text(turn, titles) for turn in history[-_TURNS:])
        parts = self._rewrite.fill(history=as_data(turns), question=as_data(asked.question))
        reply, usage = await ask_json(model, ModelRequest.of(parts, "question"), _RewriteReply)
        question = reply.question if history else asked.question
        asked = replace(asked, question=question, parts=(question,), kind=reply.kind, reply=reply.reply, usage=usage)
        if not history or reply.kind != "papers" or not reply.same_papers:
            return asked
        filters = await asyncio.to_thread(self._same_papers, question, asked.filters, _last_cited(history))
        return replace(asked, filters=filters)

    async def _parts(self, question: str, model: LanguageModel) -> tuple[tuple[str, ...], Usage]:
        parts = self._split.fill(question=as_data(question))
        reply, usage = await ask_json(model, ModelRequest.of(parts, "questions"), _SplitReply)
        return tuple(dict.fromkeys(part for part in reply.questions if part)) or (question,), usage


def has_parts(question: str) -> bool:
    """Whether a question seems to ask for several things."""
    return _PARTS.search(question) is not None


def _last_cited(history: Sequence[Turn]) -> Turn:
    """The last turn whose answer cites papers, so that thanks between two questions part nothing; else the last."""
    return next((turn for turn in reversed(history) if turn.papers), history[-1])


def _as_text(turn: Turn, titles: dict[str, str]) -> str:
    lines = [f"Question: {turn.question}", f"Answer: {turn.answer[:_LONGEST_ANSWER]}"]
    papers = [titles[paper] for paper in turn.papers if titles.get(paper)]
    return "\n".join([*lines, f"From: {'; '.join(papers)}"] if papers else lines)
