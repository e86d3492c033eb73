"""`ModelAnswerer`: an initial answer from the context, merged with what its images show."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from query.context import render_context
from query.evidence import Draft, EvidenceFinder
from query.progress import FinalText, Stages

__all__ = ["ModelAnswerer", "WrittenAnswer"]


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
        """Asks for an initial answer and reads the images concurrently, then merges if an image is relevant.

        Args:
            text: Receives the final text while it is written: the initial answer once no merge can follow, else the
                merged one.

        Raises:
            ModelError: The language model failed. An image that fails becomes an `UnreadImage` and a warning.
        """
        # The vision model reads the images, and no reader needs more than one place of a source.
        sources = tuple(replace(source, more_places=()) for source in context.sources)
        rows = as_data(render_context(replace(context, sources=sources, images=())))
        reading = asyncio.create_task(self._read(question, context, stages))
        if text is not None and self._reader is not None and context.images:
            text.hold()
            reading.add_done_callback(lambda done: text.release() if _is_final(done) else None)
        try:
            with stages.run("answering"):
                parts = self._initial.fill(question=question, context=rows)
                initial, usage = await self._ask(parts, "answer", text)
            readings, spent = await reading
        finally:
            reading.cancel()
        usage += spent
        findings = {
            image.id: finding
            for image, finding in zip(context.images, readings, strict=False)
            if isinstance(finding, ImageFinding) and finding.relevant
        }
        final = initial
        if findings:
            labels = {image.id: image.label for image in context.images}
            read = "\n".join(f"I{number} ({labels[number]}): {finding.text}" for number, finding in findings.items())
            given = {"initial": as_data(initial.model_dump_json()), "findings": as_data(read)}
            with stages.run("merging"):
                if text is not None:
                    text.restart()
                parts = self._merge.fill(question=question, context=rows, **given)
                final, spent = await self._ask(parts, "merged_answer", text)
            usage += spent
        finder = EvidenceFinder(corpus=self._corpus, context=context, question=question, findings=findings)
        return WrittenAnswer(
            draft=await run_in_thread(partial(_draft, final, finder, warnings=_unread(context, readings))),
            initial=initial.answer,
            merged=final.answer if findings else "",
            readings=readings,
            usage=usage,
        )

    async def _read(self, question: str, context: Context, stages: Stages) -> tuple[tuple[Reading, ...], Usage]:
        if self._reader is None or not context.images:
            return (), Usage()
        with stages.run("reading images"):
            return await self._reader.read(question, context)

    async def _ask(
        self, parts: tuple[str, str], schema_name: str, text: FinalText | None
    ) -> tuple[_AnswerReply, Usage]:
        on_text = text.grow if text is not None else None
        return await ask_json(self._model, ModelRequest.of(parts, schema_name), _AnswerReply, on_text=on_text)


def _is_final(reading: "asyncio.Task[tuple[tuple[Reading, ...], Usage]]") -> bool:
    """Whether no image reading can change the initial answer."""
    if reading.cancelled() or reading.exception() is not None:
        return False
    return not any(isinstance(one, ImageFinding) and one.relevant for one in reading.result()[0])


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
