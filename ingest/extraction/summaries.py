"""A model's summaries of the terms that a paper discusses most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from ingest.extraction.mentions import TermFinder, read_paper
from ingest.extraction.model_batches import ask_in_batches
from paperscope_core.errors import ModelError
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Entity, Paper, model_words

__all__ = ["DiscussedTerm", "most_discussed", "summarise"]

# In characters; shorter texts need no summary besides the description and the sentences.
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
    """Return the terms whose sentences together exceed a description's length, the most discussed first."""
    finder = TermFinder({term.id: (term.name, *term.aliases) for term in terms})
    sentences = finder.holders({sentence.text: sentence.text for sentence in read_paper(paper).sentences})
    discussed = [DiscussedTerm(entity=term, sentences=tuple(sentences.get(term.id, ()))) for term in terms]
    long = (one for one in discussed if one.length > _LEAST)
    return sorted(long, key=lambda one: (-one.length, one.entity.id))[:_MOST_TERMS]


async def summarise(model: LanguageModel, discussed: Sequence[DiscussedTerm]) -> list[Entity | str]:
    """Ask a model for summaries of terms.

    Returns:
        Each entity with a summary after its own description, marked as a model's words; or the reason why it has none.

    Raises:
        PaperscopeError: An error other than ModelError, when all calls have ended.
    """
    answers = await ask_in_batches(
        model,
        [_shown(one) for one in discussed],
        size=_TERMS_A_CALL,
        prefix="T",
        prompt="summarise_entities",
        placeholder="terms",
        schema_name="summaries",
        reply=SummarisedTerms,
        answers=_by_term,
    )
    return [_summarised(one.entity, answer) for one, answer in zip(discussed, answers, strict=True)]


def _shown(term: DiscussedTerm) -> Mapping[str, str | list[str]]:
    """Return the term with as many sentences as fit, in order."""
    shown: list[str] = []
    room = _SHOWN
    for sentence in term.sentences:
        if len(sentence) <= room:
            shown.append(sentence)
            room -= len(sentence)
    return {"name": term.entity.name, "sentences": shown}


def _by_term(reply: SummarisedTerms) -> Mapping[str, str]:
    """Return the first summary of each term, without empty and overlong ones."""
    summaries = ((one.term, " ".join(one.summary.split())) for one in reversed(reply.terms))
    return {term: summary for term, summary in summaries if 0 < len(summary) <= _SUMMARY}


def _summarised(entity: Entity, answer: str | ModelError | None) -> Entity | str:
    if isinstance(answer, ModelError):
        return str(answer)
    if answer is None:
        return "the reply has no summary of it, or one that is too long"
    return replace(entity, description="\n".join(filter(None, (entity.description, model_words(answer)))))
