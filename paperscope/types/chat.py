"""What was asked before, and how it was answered."""

from dataclasses import dataclass

from paperscope.types.answer import Answer

__all__ = ["Turn"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question of a conversation and its answer; `papers` are the ids of the papers that the answer cites."""

    question: str
    answer: str = ""
    papers: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: Answer) -> "Turn":
        """The turn that an answer ends; of a follow-up the question as it was understood."""
        cited = (evidence.place.paper for claim in answer.claims for evidence in claim.evidence)
        return cls(question=answer.asked_as or answer.question, answer=answer.text, papers=tuple(dict.fromkeys(cited)))
