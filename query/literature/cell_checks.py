"""Makes cells of a model's replies: finds their evidence, checks them against it and against their column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from paperscope_core.cancellation import check_cancelled
from paperscope_core.protocols import Corpus
from paperscope_core.types import (
    Claim,
    Context,
    Evidence,
    Finding,
    ImageFinding,
    marked_words,
    paper_words,
)
from paperscope_core.types.literature import CellStatus, LiteratureCell, LiteratureColumn
from query.element_views import element_text
from query.evidence import EvidenceFinder, EvidenceNamer
from query.numbers import numbers_in
from query.verification import Cited, check_links, verify
from query.verification.text_checks import normalize_typography

__all__ = ["CellMaker", "CellReply"]

# Characters of words that are copied; fewer may occur anywhere.
_LEAST_WORDS = 20
_MOST_EVIDENCE = 6
_LONGEST_VALUE = 4000
# What a reply has in place of an empty value.
_EMPTY = re.compile(r"(?i)(?:not (?:stated|reported|given|available|applicable)|none|n/?a|null|unclear|-|–|—)?\.?")


class CellReply(BaseModel):
    """A cell as a model gives it."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    column: str
    value: str = ""
    status: Literal["stated", "computed", "not stated", "unclear"] = "unclear"
    evidence: list[str] = Field(default=[])
    words: str = ""

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """Join a list, and take null for an empty value."""
        if isinstance(value, list):
            return "; ".join(map(str, value))
        return "" if value is None else value

    @field_validator("status", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        """Take another status for doubt: it is no reason to lose the row."""
        word = str(value).strip().casefold().replace("_", " ")
        return word if word in ("stated", "computed", "not stated") else "unclear"


@dataclass(frozen=True, kw_only=True, slots=True)
class CellMaker:
    """Makes the cells of one paper.

    Attributes:
        corpus: The library.
        context: What the model was shown.
        namer: Names the evidence.
        findings: What was read in images, by the numbers of their rows.
        model: The model's name.
    """

    corpus: Corpus
    context: Context
    namer: EvidenceNamer
    findings: Mapping[int, ImageFinding] = field(default_factory=dict)
    model: str = ""

    def cell(self, reply: CellReply | None, column: LiteratureColumn) -> LiteratureCell:
        """Return a checked cell; an unclear one without a reply.

        A value that its evidence does not support, or that the column does not allow, is "unclear", with a finding.
        """
        check_cancelled()
        if reply is None:
            readable = self.context.sources or self.findings
            said = "the model gave no cell for this column" if readable else "it has no text"
            left_out = Finding(kind="reply", subject=column.name, message=said)
            return LiteratureCell(column=column.name, findings=(left_out,), model=self.model)
        # "The paper does not mention it" is no value.
        said_nothing = reply.status == "not stated" and not reply.evidence
        value, findings = ("", list[Finding]()) if said_nothing else _of_column(reply.value, column)
        if not value:
            status: CellStatus = "unclear" if findings or reply.status == "unclear" else "not stated"
            named = self.namer.claims([Claim(text="", evidence=self._evidence(reply, ""))])[0].evidence
            shown = named if status == "unclear" else ()
            return LiteratureCell(
                column=column.name, status=status, evidence=shown, findings=tuple(findings), model=self.model
            )
        evidence = self._evidence(reply, value)
        cell = self._verified(value, column, evidence)
        findings += cell.findings
        supported = bool(evidence) and not any(one.kind in ("number", "quotation", "note") for one in findings)
        computed = any(check.finding == "computed" and check.formula for check in cell.checks)
        status = "unclear" if not supported or reply.status == "unclear" else "computed" if computed else "stated"
        return replace(cell, status=status, findings=tuple(findings))

    def _evidence(self, reply: CellReply, value: str) -> tuple[Evidence, ...]:
        """Return the evidence of a reply: in the rows that it cites, or in the source that has its words."""
        finder = EvidenceFinder(corpus=self.corpus, context=self.context, findings=self.findings)
        claim = f"{reply.words} {value}".strip()
        rows = list(dict.fromkeys(reply.evidence))[:_MOST_EVIDENCE]
        words = normalize_typography(reply.words)
        if len(words) >= _LEAST_WORDS:
            texts = {f"S{one.id}": normalize_typography(paper_words(one.content)) for one in self.context.sources}
            printing = [row for row, text in texts.items() if words in text]
            if printing and not set(rows) & set(printing):
                rows = [printing[0], *rows][:_MOST_EVIDENCE]
        found = [one for row in rows for one in finder.find(row, claim=claim)]
        return tuple(dict.fromkeys(found))

    def _verified(self, value: str, column: LiteratureColumn, evidence: Sequence[Evidence]) -> LiteratureCell:
        claims = (Claim(text=value, evidence=tuple(evidence)),)
        around = [source.content for source in self.context.sources]
        readings: dict[str, list[str]] = {}
        for one in self.findings.values():
            readings.setdefault(one.element, []).append(one.text)
        for source in self.context.sources:
            readings.setdefault(source.element, []).extend(marked_words(source.content))
        ids = {one.element for one in evidence if one.element}
        cited = Cited.of(self.corpus, ids, readings=readings, around=around)
        said = f"“{value}”" if column.type == "quotation" else value
        verified = verify(question=column.instruction, text=said, claims=claims, cited=cited)
        printed = [*map(paper_words, around), *map(element_text, cited.elements.values())]
        links = check_links([(value, None)], [column.instruction, *printed])
        return LiteratureCell(
            column=column.name,
            value=value,
            evidence=self.namer.claims(claims)[0].evidence,
            checks=self.namer.checks(verified.checks),
            findings=tuple(dict.fromkeys((*verified.findings, *links))),
            model=self.model,
        )


def _of_column(text: str, column: LiteratureColumn) -> tuple[str, list[Finding]]:
    """Return a value in the form of its column, and what is wrong with it."""
    value = text.strip()[:_LONGEST_VALUE]
    if _EMPTY.fullmatch(value) and value.casefold() not in {one.casefold() for one in column.allowed}:
        return "", []
    if column.type == "quotation":
        return value.strip('"“”„« »'), []
    if column.allowed:
        return _allowed(value, column)
    if column.type == "number":
        if next(numbers_in(value, spelled=True), None) is None:
            return value, [_note(column, f"{value[:80]!r} is no number")]
        rest = re.sub(r"[\d\s.,±+\-−–()\[\]%]", "", value)
        if rest and column.unit and column.unit.casefold() not in value.casefold():
            return value, [
                Finding(kind="unchecked", subject=column.name, message=f"printed as it is, not in {column.unit}")
            ]
    return value, []


def _allowed(value: str, column: LiteratureColumn) -> tuple[str, list[Finding]]:
    """Return the allowed value that this is, or it as it is with a finding."""
    said = value.casefold().rstrip(".")
    found = next((one for one in column.allowed if one.casefold().rstrip(".") == said), "")
    if not found and column.type == "yes/no":
        found = next((one for one in column.allowed if re.match(rf"{one}\b", said)), "")
    listed = ", ".join(column.allowed)
    outside = [_note(column, f"{value[:80]!r} is none of the values of this column: {listed}")]
    return (found, []) if found else (value, outside)


def _note(column: LiteratureColumn, message: str) -> Finding:
    return Finding(kind="note", subject=column.name, message=message)
