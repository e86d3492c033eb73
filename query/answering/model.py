"""`ModelAnswerer`: an initial answer from the context, merged with what its images show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

import prompts
from paperscope_core.cancellation import check_cancelled, run_in_thread
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import Corpus, LanguageModel
from paperscope_core.types import Claim, Context, ImageFinding, ModelRequest, Reading, UnreadImage, Usage
from prompts import as_data
from query.answering.images import ImageReader
from query.citing import paper_names
from query.context import render_for_model
from query.evidence import Draft, EvidenceFinder, parse_row
from query.progress import FinalText, Stages
from query.words import Rarity, content_words

__all__ = ["ModelAnswerer", "WrittenAnswer"]

# Sources that a merge gets because they share most words with the question and the findings: a finding may name a row
# of a table that the initial answer did not cite, and a second source holds what such a row is compared with.
_CLOSEST = 2


class _ClaimReply(BaseModel):
    """One claim and the ids of the context rows that support it."""

    model_config = ConfigDict(extra="forbid")

    text: str
    evidence: list[str]


class _AnswerReply(BaseModel):
    """The reply of the language model, both to the initial and to the merge request."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["answered", "unanswerable"]
    answer: str
    claims: list[_ClaimReply]

    @field_validator("answer")
    @classmethod
    def _says_something(cls, answer: str) -> str:
        if not answer.strip():
            raise ValueError("must not be empty")
        return answer.strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenAnswer:
    """A draft to verify, and the intermediate results that `Answer` reports."""

    draft: Draft
    initial: str
    merged: str = ""
    readings: tuple[Reading, ...] = ()
    usage: Usage = Usage()


class ModelAnswerer:
    """Writes answers with a language model.

    Without a `reader`, images of the context are not read, and a warning says so.
    """

    def __init__(self, corpus: Corpus, model: LanguageModel, *, reader: ImageReader | None = None) -> None:
        self._corpus = corpus
        self._model = model
        self._reader = reader
        self._initial = prompts.load("initial_answer", placeholders=frozenset({"question", "context"}))
        self._merge = prompts.load(
            "merge_answer", placeholders=frozenset({"question", "context", "initial", "findings"})
        )

    async def answer(
        self, question: str, context: Context, *, stages: Stages, text: FinalText | None = None
    ) -> WrittenAnswer:
        """Asks for an initial answer, reads the images, and merges if an image adds something to the answer.

        Args:
            question: The question.
            context: The context.
            stages: Measures the stages.
            text: Receives the final text while it is written: the initial answer once no merge can follow, else the
                merged one.

        Raises:
            ModelError: The language model failed. An image that fails becomes an `UnreadImage` and a warning.
        """
        names = await run_in_thread(partial(paper_names, self._corpus, context))
        if text is not None and self._reader is not None and context.images:
            text.hold()
        with stages.run("answering"):
            rows = as_data(render_for_model(context, papers=names))
            initial, usage = await self._ask(self._initial.fill(question=question, context=rows), "answer", text)
        readings, spent = await self._read(question, context, initial, stages)
        usage += spent
        findings = {
            image.id: finding
            for image, finding in zip(context.images, readings, strict=False)
            if isinstance(finding, ImageFinding) and finding.relevant
        }
        final = initial
        merges = any(not finding.agrees or initial.status == "unanswerable" for finding in findings.values())
        if merges:
            labels = {image.id: image.label for image in context.images}
            read = "\n".join(f"I{number} ({labels[number]}): {finding.text}" for number, finding in findings.items())
            needed = _needed(question, context, initial, findings.values())
            with stages.run("merging"):
                if text is not None:
                    text.restart()
                parts = self._merge.fill(
                    question=question,
                    context=as_data(render_for_model(needed, papers=names)),
                    initial=as_data(initial.model_dump_json()),
                    findings=as_data(read),
                )
                final, spent = await self._ask(parts, "merged_answer", text)
            usage += spent
        finder = EvidenceFinder(corpus=self._corpus, context=context, question=question, findings=findings)
        return WrittenAnswer(
            draft=await run_in_thread(partial(_draft, final, finder, warnings=_unread(context, readings))),
            initial=initial.answer,
            merged=final.answer if merges else "",
            readings=readings,
            usage=usage,
        )

    async def _read(
        self, question: str, context: Context, initial: _AnswerReply, stages: Stages
    ) -> tuple[tuple[Reading, ...], Usage]:
        if self._reader is None or not context.images:
            return (), Usage()
        with stages.run("reading images"):
            return await self._reader.read(question, context.images, answer=f"({initial.status}) {initial.answer}")

    async def _ask(
        self, parts: tuple[str, str], schema_name: str, text: FinalText | None
    ) -> tuple[_AnswerReply, Usage]:
        on_text = text.grow if text is not None else None
        return await ask_json(self._model, ModelRequest.of(parts, schema_name), _AnswerReply, on_text=on_text)


def _needed(question: str, context: Context, initial: _AnswerReply, findings: Iterable[ImageFinding]) -> Context:
    """The part of a context that a merge needs: the rows that the initial answer cites, the sources of the images, and
    the sources closest to what is asked and found; all sources if there is no initial answer."""
    cited = {row for claim in initial.claims for row in map(parse_row, claim.evidence)}
    found = list(findings)
    read = {finding.element for finding in found}
    asked = content_words("\n".join((question, *(finding.text for finding in found))))
    rarity = Rarity.of(source.content for source in context.sources)
    ranked = sorted(context.sources, key=lambda source: -rarity.coverage(asked, source.content))
    closest = {source.id for source in ranked[:_CLOSEST]}
    return Context(
        entities=tuple(row for row in context.entities if ("E", row.id) in cited),
        relations=tuple(row for row in context.relations if ("R", row.id) in cited),
        sources=tuple(
            source
            for source in context.sources
            if initial.status == "unanswerable"
            or ("S", source.id) in cited
            or source.element in read
            or source.id in closest
        ),
    )


def _draft(reply: _AnswerReply, finder: EvidenceFinder, *, warnings: Sequence[str]) -> Draft:
    """Resolves the cited rows; rows that the context does not have are dropped and reported in a warning."""
    unknown: list[str] = []
    claims = []
    for claim in reply.claims:
        check_cancelled()
        found = {row: finder.find(row, claim=claim.text) for row in dict.fromkeys(claim.evidence)}
        claims.append(Claim(text=claim.text, evidence=tuple(dict.fromkeys(chain.from_iterable(found.values())))))
        unknown += [row for row, evidence in found.items() if not evidence]
    if unknown:
        rows = ", ".join(repr(row[:20]) for row in unknown[:5])
        warnings = (*warnings, f"the model cited {len(unknown)} rows that the context does not have: {rows}")
    return Draft(text=reply.answer, status=reply.status, claims=tuple(claims), warnings=tuple(warnings))


def _unread(context: Context, readings: Sequence[Reading]) -> list[str]:
    if context.images and not readings:
        return [f"{len(context.images)} images bear on the question, but no vision model is configured to read them"]
    labels = {image.element: image.label or image.element for image in context.images}
    return [
        f"the image of {labels[reading.element]} could not be read: {reading.reason}"
        for reading in readings
        if isinstance(reading, UnreadImage)
    ]
