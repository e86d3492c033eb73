"""Checks a statement of somebody else against elements that they name as its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from paperscope_core.protocols import Corpus
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Claim, Context, ContextSource
from query.element_views import element_text
from query.evidence import EvidenceFinder, EvidenceNamer
from query.verification import Cited, Verified, verify

__all__ = ["CheckedStatement", "check_statement"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedStatement(Verified):
    """What the evidence of a statement bears.

    Attributes:
        claims: Its sentences, each with the sentences and cells of the evidence that are closest to it.
    """

    claims: tuple[Claim, ...]


def check_statement(corpus: Corpus, text: str, elements: Sequence[str]) -> CheckedStatement:
    """Check the numbers, names and quotations of a statement against elements, as those of an answer are checked.

    Args:
        text: One or a few sentences.
        elements: The ids of the elements that are its evidence.

    Raises:
        NotFoundError: There is no such element.
    """
    cited = Cited.of(corpus, elements)
    sources = tuple(
        ContextSource(id=number, content=element_text(element), element=element.id, place=element.place)
        for number, element in enumerate(cited.elements.values())
    )
    finder = EvidenceFinder(corpus=corpus, context=Context(sources=sources))
    claims = [
        Claim(
            text=sentence,
            evidence=tuple(one for source in sources for one in finder.find(f"S{source.id}", claim=sentence)),
        )
        for sentence in split_sentences(text)
    ]
    verified = verify(question="", text=text, claims=claims, cited=cited)
    namer = EvidenceNamer(corpus)
    return CheckedStatement(
        claims=namer.claims(claims), checks=namer.checks(verified.checks), findings=verified.findings
    )
