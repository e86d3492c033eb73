"""A model's summaries of the terms that a paper discusses most, several terms per call."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

import prompts
from ingest.extraction.mentions import TermFinder, read_paper
from paperscope_core.errors import ModelError
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Entity, Message, ModelRequest, Paper, model_words
from prompts import as_data

__all__ = ["DiscussedTerm", "Summariser", "most_discussed"]


# In characters; shorter texts need no summary beside the description and the sentences.
_LEAST = 1200
_MOST_TERMS = 24
_TERMS_A_CALL = 12
_SHOWN = 2400
_SUMMARY = 800


@dataclass(frozen=True, kw_only=True, slots=True)
class DiscussedTerm:
    """A term and the sentences that name it, without repeats, in reading order."""

    entity: Entity
    sentences: tuple[str, ...]

    @property
    def length(self) -> int:
        """In characters."""
        return sum(map(len, self.sentences))


class SummarisedTerm(BaseModel):
    """A summary in a model's reply."""

    term: str
    summary: str


class SummarisedTerms(BaseModel):
    """A model's reply to a batch of terms."""

    terms: Sequence[SummarisedTerm]


def most_discussed(paper: Paper, terms: Sequence[Entity]) -> list[DiscussedTerm]:
    """Returns the terms whose sentences together exceed a description's length, the most discussed first."""
    finder = TermFinder([(term.name, *term.aliases) for term in terms])
    said: dict[int, dict[str, None]] = defaultdict(dict)
    for sentence in read_paper(paper).sentences:
        for number in finder.find(sentence.text):
            said[number][sentence.text] = None
    spoken = (DiscussedTerm(entity=terms[number], sentences=tuple(sentences)) for number, sentences in said.items())
    much = sorted((one for one in spoken if one.length > _LEAST), key=lambda one: (-one.length, one.entity.id))
    return much[:_MOST_TERMS]


class Summariser:
    """Asks a model for summaries; wrappers of the model limit and cache the calls."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def summarise(self, spoken: Sequence[DiscussedTerm]) -> Mapping[str, Entity | str]:
        """By entity id, the entity with a summary after its own description, marked as a model's words; or the reason
        why there is none. All calls run at once; errors other than ModelError are raised when all have ended."""
        calls = [spoken[start : start + _TERMS_A_CALL] for start in range(0, len(spoken), _TERMS_A_CALL)]
        found = await asyncio.gather(*map(self._summarise, calls), return_exceptions=True)
        told: dict[str, Entity | str] = {}
        for batch, outcome in zip(calls, found, strict=True):
            if isinstance(outcome, ModelError):
                told.update({one.entity.id: str(outcome) for one in batch})
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                told.update(outcome)
        return told

    async def _summarise(self, spoken: Sequence[DiscussedTerm]) -> Mapping[str, Entity | str]:
        named = {f"T{number}": one for number, one in enumerate(spoken, start=1)}
        reply, _ = await ask_json(
            self._model, _request(named), SummarisedTerms, accept=lambda reply: _by_term(reply).keys() >= named.keys()
        )
        said = _by_term(reply)
        return {one.entity.id: _outcome(one.entity, said.get(name, "")) for name, one in named.items()}


def _by_term(reply: SummarisedTerms) -> Mapping[str, str]:
    """Returns the first summary of each term, without empty and overlong ones."""
    summaries = ((one.term, " ".join(one.summary.split())) for one in reversed(reply.terms))
    return {term: summary for term, summary in summaries if 0 < len(summary) <= _SUMMARY}


def _outcome(entity: Entity, summary: str) -> Entity | str:
    if not summary:
        return "the reply has no summary of it, or one that is too long"
    return replace(entity, description="\n".join(filter(None, (entity.description, model_words(summary)))))


def _request(terms: Mapping[str, DiscussedTerm]) -> ModelRequest:
    lines = [f"{name} {json.dumps(_shown(one), ensure_ascii=False)}" for name, one in terms.items()]
    prompt = prompts.load("summarise_entities", placeholders=frozenset({"terms"}))
    system, user = prompt.fill(terms=as_data("\n".join(lines)))
    return ModelRequest(
        messages=(Message(role="system", text=system), Message(role="user", text=user)), schema_name="summaries"
    )


def _shown(spoken: DiscussedTerm) -> Mapping[str, str | list[str]]:
    """Returns the term with as many sentences as fit, in order."""
    shown: list[str] = []
    room = _SHOWN
    for sentence in spoken.sentences:
        if len(sentence) <= room:
            shown.append(sentence)
            room -= len(sentence)
    return {"name": spoken.entity.name, "sentences": shown}
