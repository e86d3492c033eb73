"""What a question asks a thing of: "what learning rate has the ensemble" asks a rate, of an ensemble."""

from query.extractive.question import Question
from query.extractive.runs import runs

__all__ = ["topic"]


# A noun phrase follows; "to" is left out, since a verb may.
_OF = frozenset(
    """a about across among an at between by during each every for from in into of on over that the their this through
    under within with""".split()
)


def topic(question: Question) -> frozenset[int]:
    """Indices of the telling words that name it; none where the question asks for no thing, or of nothing."""
    asked = question.expected.asked & question.telling
    if not asked:
        return frozenset()
    named = frozenset(index for run in runs(question) if run.before in _OF for index in run.words)
    return (named | question.names) & question.telling - asked
