"""`ModelAnswerer`: an initial answer from the context, merged with what its images show."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import Literal

from pydantic import BaseModel, Field, field_validator

import prompts
from paperscope_core.cancellation import check_cancelled, run_in_thread
from paperscope_core.errors import ContextTooLongError
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import Corpus, LanguageModel
from paperscope_core.types import Claim, Context, Finding, ImageFinding, ModelRequest, Reading, UnreadImage, Usage
from prompts import as_data
from query.answering.image_reader import ImageReader
from query.context import render_for_model
from query.evidence import Draft, EvidenceFinder, paper_names, parse_row
from query.outline import is_outline
from query.progress import Progress

__all__ = ["ModelAnswerer", "Search", "WrittenAnswer"]

Search = Callable[[str], Awaitable[Context]]
# Sources that a merge gets because they are found for the question with the findings: a finding may name what the
# question describes by its colour or place, and only then can the table or passage about it be found.
_FOUND = 4


class _ClaimReply(BaseModel):
    """One claim and the ids of the context rows that support it."""

    text: str
    evidence: list[str] = []


class _AnswerReply(BaseModel):
    """The reply of the language model, both to the initial and to the merge request."""

    status: Literal["answered", "unanswerable"] = "answered"
    answer: str
    claims: list[_ClaimReply] = []

    @field_validator("answer")
    @classmethod
    def _says_something(cls, answer: str) -> str:
        if not answer.strip():
            raise ValueError("must not be empty")
        return answer.strip()


class _PlainAnswer(_AnswerReply):
    """The text of a reply that is not the object that was asked for; `problem` says what it is."""

    problem: str = Field(exclude=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenAnswer:
    """A draft to verify, and the intermediate results that `Answer` reports.

    `context` ends with the sources that were found with what the images show.
    """

    draft: Draft
    context: Context
    initial: str
    merged: str = ""
    readings: tuple[Reading, ...] = ()
    usage: Usage = Usage()


class ModelAnswerer:
    """Writes answers with a language model.

    Without a `reader`, images of the context are not read, and a finding says so. `search` retrieves the context of a
    text.
    """

    def __init__(
        self, corpus: Corpus, model: LanguageModel, *, search: Search, reader: ImageReader | None = None
    ) -> None:
        self._corpus = corpus
        self._model = model
        self._search = search
        self._reader = reader
        self._initial = prompts.load("initial_answer", placeholders=frozenset({"question", "context"}))
        self._merge = prompts.load(
            "merge_answer", placeholders=frozenset({"question", "context", "initial", "findings"})
        )

    async def answer(self, question: str, context: Context, progress: Progress) -> WrittenAnswer:
        """Ask for an initial answer, reads the images, and merges if an image adds something to the answer.

        Args:
            question: The question.
            context: The context.
            progress: Is told of the stages, and of the final text while it is written: the initial answer once no merge
                can follow, else the merged one.

        Raises:
            ModelError: The language model or the search failed. An image that fails becomes an `UnreadImage` and a
                finding.
        """
        names = await run_in_thread(partial(paper_names, self._corpus, context))
        if self._reader is not None and context.images:
            progress.hold()
        with progress.stage("answering"):
            whole = context

            def asked(part: Context) -> tuple[str, str]:
                return self._initial.fill(question=question, context=as_data(render_for_model(part, papers=names)))

            initial, usage, context = await self._ask(asked, context, "answer", progress)
        readings, spent = await self._read(question, context, initial, progress)
        usage += spent
        findings = {
            image.id: finding
            for image, finding in zip(context.images, readings, strict=False)
            if isinstance(finding, ImageFinding) and finding.relevant
        }
        final = initial
        merges = any(not finding.agrees or initial.status == "unanswerable" for finding in findings.values())
        if merges:
            with progress.stage("merging"):
                context, found = await self._extended(context, question, findings.values())
                needed = _needed(context, initial, found, {finding.element for finding in findings.values()})
                listed = as_data(_listed(findings, context))

                def asked_again(part: Context) -> tuple[str, str]:
                    return self._merge.fill(
                        question=question,
                        context=as_data(render_for_model(part, papers=names)),
                        initial=as_data(initial.model_dump_json()),
                        findings=listed,
                    )

                progress.restart()
                final, spent, _ = await self._ask(asked_again, needed, "merged_answer", progress)
            usage += spent
        finder = EvidenceFinder(corpus=self._corpus, context=context, question=question, findings=findings)
        return WrittenAnswer(
            draft=await run_in_thread(
                partial(_draft, final, finder, unread=[*_left_out(whole, context), *_unread(context, readings)])
            ),
            context=context,
            initial=initial.answer,
            merged=final.answer if merges else "",
            readings=readings,
            usage=usage,
        )

    async def _extended(
        self, context: Context, question: str, findings: Iterable[ImageFinding]
    ) -> tuple[Context, frozenset[int]]:
        """Return the context with the sources that are found for the question with the findings, and the ids of
        these."""
        retrieved = await self._search("\n".join((question, *(finding.text for finding in findings))))
        rows = {source.content: source for source in context.sources}
        following = count(max((source.id for source in context.sources), default=-1) + 1)
        found = [source for source in retrieved.sources if not is_outline(source)][:_FOUND]
        for source in found:
            if source.content not in rows:
                rows[source.content] = replace(source, id=next(following))
        return replace(context, sources=tuple(rows.values())), frozenset(rows[source.content].id for source in found)

    async def _read(
        self, question: str, context: Context, initial: _AnswerReply, progress: Progress
    ) -> tuple[tuple[Reading, ...], Usage]:
        if self._reader is None or not context.images:
            return (), Usage()
        with progress.stage("reading images"):
            return await self._reader.read(question, context.images, answer=f"({initial.status}) {initial.answer}")

    async def _ask(
        self, fill: Callable[[Context], tuple[str, str]], context: Context, schema_name: str, progress: Progress
    ) -> tuple[_AnswerReply, Usage, Context]:
        """Ask for an answer from a context, or from half of it as often as the model's window is too short.

        Returns:
            The reply, the usage, and the context that was sent.
        """
        on_text = progress.grow if progress.streams else None
        while True:
            request = ModelRequest.of(fill(context), schema_name)
            try:
                reply, usage = await ask_json(self._model, request, _AnswerReply, on_text=on_text, otherwise=_plain)
            except ContextTooLongError:
                if len(context.sources) < 2:
                    raise
                context = _halved(context)
            else:
                return reply, usage, context


def _halved(context: Context) -> Context:
    """Return the context with the better half of each kind of rows."""
    return replace(
        context,
        entities=context.entities[: len(context.entities) // 2],
        relations=context.relations[: len(context.relations) // 2],
        sources=context.sources[: len(context.sources) // 2],
    )


def _left_out(whole: Context, sent: Context) -> list[Finding]:
    missing = len(whole.sources) - len(sent.sources)
    if missing <= 0:
        return []
    message = (
        f"the model's window is too short for the context: the last {missing} of {len(whole.sources)} sources were "
        "left out; lower retrieval.tokens, or use a longer window"
    )
    return [Finding(kind="reply", message=message)]


def _plain(text: str, problem: str) -> _AnswerReply:
    return _PlainAnswer(answer=text, problem=problem)


def _listed(findings: Mapping[int, ImageFinding], context: Context) -> str:
    labels = {image.id: image.label for image in context.images}
    return "\n".join(f"I{number} ({labels[number]}): {finding.text}" for number, finding in findings.items())


def _needed(context: Context, initial: _AnswerReply, found: Set[int], read: Set[str]) -> Context:
    """Return the part of a context that a merge needs: the rows that the initial answer cites, the sources with the ids
    `found`, and those of the elements that were `read`; all sources if there is no initial answer."""
    cited = {row for claim in initial.claims for row in map(parse_row, claim.evidence)}
    return Context(
        entities=tuple(row for row in context.entities if ("E", row.id) in cited),
        relations=tuple(row for row in context.relations if ("R", row.id) in cited),
        sources=tuple(
            source
            for source in context.sources
            if initial.status == "unanswerable"
            or ("S", source.id) in cited
            or source.id in found
            or source.element in read
        ),
    )


def _draft(reply: _AnswerReply, finder: EvidenceFinder, *, unread: Sequence[Finding]) -> Draft:
    """Resolve the cited rows; rows that the context does not have are dropped and reported in a finding."""
    unknown: list[str] = []
    claims = []
    findings = list(unread)
    for claim in reply.claims:
        check_cancelled()
        found = {row: finder.find(row, claim=claim.text) for row in dict.fromkeys(claim.evidence)}
        claims.append(Claim(text=claim.text, evidence=tuple(dict.fromkeys(chain.from_iterable(found.values())))))
        unknown += [row for row, evidence in found.items() if not evidence]
    if isinstance(reply, _PlainAnswer):
        message = f"the model's reply {reply.problem}: its text is shown, without claims that can be checked"
        findings.append(Finding(kind="reply", message=message))
    if unknown:
        rows = ", ".join(repr(row[:20]) for row in unknown[:5])
        message = f"the model cited {len(unknown)} rows that the context does not have: {rows}"
        findings.append(Finding(kind="citation", subject=unknown[0], message=message))
    return Draft(text=reply.answer, status=reply.status, claims=tuple(claims), findings=tuple(findings))


def _unread(context: Context, readings: Sequence[Reading]) -> list[Finding]:
    if context.images and not readings:
        message = f"{len(context.images)} images bear on the question, but no vision model is configured to read them"
        return [Finding(kind="vision", message=message)]
    labels = {image.element: image.label or image.element for image in context.images}
    return [
        Finding(
            kind="image",
            subject=reading.element,
            place=reading.place,
            message=f"the image of {labels[reading.element]} could not be read: {reading.reason}",
        )
        for reading in readings
        if isinstance(reading, UnreadImage)
    ]
