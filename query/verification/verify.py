"""`verify`: which statements of an answer its evidence supports."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Self

from paperscope_core.cancellation import check_cancelled
from paperscope_core.protocols import Corpus
from paperscope_core.text.latex import without_latex
from paperscope_core.types import Check, Claim, Element, Finding
from paperscope_core.types.tables import table_rows
from query.cells import Statement
from query.element_views import element_text
from query.numbers import numbers_in
from query.verification.cited import CitedEvidence, EvidenceReader
from query.verification.number_checks import check_numbers
from query.verification.text_checks import KnownWords, check_extremes, unknown_names, unsupported_quotations

__all__ = ["Cited", "Verified", "verify"]

# Longer answers and claims, and more claims, are not checked to their ends; a finding says so. An answer with more
# claims is not checked as a whole, either: the evidence of the others would be missing.
_LONGEST_STATEMENT = 20_000
_MOST_CLAIMS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Cited:
    """The evidence of an answer.

    Attributes:
        readings: What a vision model read in the images of elements, by their ids. Who cites such an element may state
            what its image shows.
        headings: The title of the paper and the titles of the sections in which elements stand, by their ids.
        around: The texts that were retrieved with them, in which names may occur.
        papers: What the context calls the papers, which an answer may put in quotation marks.
    """

    elements: Mapping[str, Element] = field(default_factory=dict)
    readings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headings: Mapping[str, str] = field(default_factory=dict)
    around: Sequence[str] = ()
    papers: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        ids: Iterable[str],
        *,
        readings: Mapping[str, Sequence[str]] | None = None,
        around: Sequence[str] = (),
        papers: frozenset[str] = frozenset(),
    ) -> Self:
        """Return the elements of a library with these ids as evidence. Raises NotFoundError if there is no such."""
        elements = {key: corpus.element(key) for key in ids}
        headings = {key: corpus.paper(one.place.paper).headings(one) for key, one in elements.items()}
        return cls(elements=elements, readings=readings or {}, headings=headings, around=around, papers=papers)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """A check for each number of an answer, and what the evidence does not support."""

    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()


def verify(*, question: str, text: str, claims: Sequence[Claim], cited: Cited) -> Verified:
    """Check each claim against its evidence, and the answer's text against the evidence of all claims.

    A number is supported if the evidence prints it where the claim says, if the question gives it, or if it is a
    difference, sum, mean, ratio, percentage or count of such numbers. A quotation must occur in the evidence or its
    headings word for word, or be what a paper is called; a name must occur in the question or in the retrieved context.
    """
    checks: dict[Check, None] = {}
    found: list[Finding | None] = [
        Finding(kind="claim", subject=claim.text, message=f"no evidence is cited for {claim.text!r}")
        for claim in claims
        if not claim.evidence
    ]
    found += [] if claims else [Finding(kind="claim", message="the answer cites no evidence")]
    statements = [(claim.text, [claim]) for claim in claims[:_MOST_CLAIMS]]
    if len(claims) > _MOST_CLAIMS:
        found.append(
            _unchecked(f"only the first {_MOST_CLAIMS} claims were checked, and not the text of the whole answer")
        )
    else:
        statements.append((text, list(claims)))
    if any(len(said) > _LONGEST_STATEMENT for said, _ in statements):
        found.append(_unchecked(f"only the first {_LONGEST_STATEMENT} characters of each text were checked"))
    reader = EvidenceReader(cited.elements, cited.readings, cited.headings)
    words_of = cache(KnownWords)
    retrieved = cache(lambda: frozenset(number.value for text in cited.around for number in numbers_in(text)))
    for whole, behind in statements:
        check_cancelled()
        said = without_latex(whole[:_LONGEST_STATEMENT])
        if len(whole) > _LONGEST_STATEMENT:
            # Half a number or name would be flagged.
            said = said.rpartition(" ")[0] or said
        statement = Statement.of(said, question=question)
        scope = CitedEvidence(behind, statement=statement, reader=reader)
        for check, finding in check_numbers(said, scope, question=question):
            checks[check] = None
            found.append(_uncited(finding, retrieved()) if finding is not None and finding.place is None else finding)
        extreme, finding = check_extremes(said, scope, statement=statement)
        checks |= {extreme: None} if extreme is not None else {}
        found.append(finding)
        found.extend(_unsaid(said, scope, question=question, cited=cited, words_of=words_of))
    return Verified(checks=tuple(checks), findings=tuple(dict.fromkeys(filter(None, found))))


def _unchecked(message: str) -> Finding:
    return Finding(kind="unchecked", message=message)


def _uncited(finding: Finding, retrieved: Set[Decimal]) -> Finding:
    """Return the finding about a number; it says so if the number is printed in what was retrieved."""
    if not any(number.value in retrieved for number in numbers_in(finding.subject)):
        return finding
    message = f"the number {finding.subject} is printed in what was retrieved, but not in what is cited for it"
    return replace(finding, message=message)


def _unsaid(
    said: str, scope: CitedEvidence, *, question: str, cited: Cited, words_of: Callable[[str], KnownWords]
) -> Iterator[Finding]:
    """Yield each quotation and name that occurs nowhere."""
    quotes = [evidence.quote for evidence in scope.evidence]
    elements = {evidence.element: cited.elements.get(evidence.element) for evidence in scope.evidence}
    texts = [element_text(element) for element in elements.values() if element is not None]
    texts += chain.from_iterable(cited.readings.get(element, ()) for element in elements)
    printed = [question, " ".join(quotes), *quotes, *texts]
    # Read only if the text quotes something; the words of the rows are those of the texts.
    rows = (row.name for table in scope.tables for row in table_rows(table))
    headings = [title for element in elements if (title := cited.headings.get(element))]
    for quotation in dict.fromkeys(unsupported_quotations(said, chain(printed, rows, headings, cited.papers))):
        message = f"the quotation {quotation!r} is not in the cited evidence"
        yield Finding(kind="quotation", subject=quotation, message=message)
    known = chain(printed, headings, cited.around, elements)
    for name in unknown_names(said, map(words_of, known)):
        message = f"the name {name!r} is neither in the cited evidence nor in what was retrieved with it"
        yield Finding(kind="name", subject=name, message=message)
