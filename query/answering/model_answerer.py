"""`ModelAnswerer`: an initial answer from the context, merged with what images show and what is looked up."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from typing import Literal

from pydantic import BaseModel, Field, field_validator

import prompts
from paperscope_core.cancellation import check_cancelled, run_in_thread
from paperscope_core.errors import ContextTooLongError, QuestionBudgetError
from paperscope_core.models.structured import ask_json
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.protocols import Corpus, LanguageModel
from paperscope_core.types import (
    Claim,
    Context,
    ContextImage,
    ContextSource,
    Finding,
    ImageFinding,
    LookUp,
    ModelRequest,
    Reading,
    ToolCall,
    UnreadImage,
    Usage,
)
from prompts import as_data
from query.answering.image_reader import ImageReader
from query.answering.look_ups import (
    MOST_LOOK_UPS,
    LookedUp,
    LookUpReply,
    RunTool,
    add_to_context,
    look_up,
    only_calls,
)
from query.context import render_for_model
from query.evidence import Draft, EvidenceFinder, parse_row
from query.outline import is_outline
from query.progress import Progress
from query.retrieval.context_builder import fitting_sources

__all__ = ["LookingUp", "ModelAnswerer", "Search", "WrittenAnswer"]

Search = Callable[[str], Awaitable[Context]]
# Sources that a merge gets because they are found for the question with the findings: a finding may name what the
# question describes by its colour or place, and only then can the table or passage about it be found.
_FOUND = 4


class _ClaimReply(BaseModel):
    """One claim and the ids of the context rows that support it."""

    text: str
    evidence: list[str] = []


class _AnswerReply(BaseModel):
    """The reply of the language model when nothing more can be looked up."""

    status: Literal["answered", "unanswerable"] = "answered"
    answer: str
    claims: list[_ClaimReply] = []

    @field_validator("answer")
    @classmethod
    def _says_something(cls, answer: str) -> str:
        if not answer.strip():
            raise ValueError("must not be empty")
        return answer.strip()

    @property
    def calls(self) -> list[ToolCall]:
        """What the model wants to look up."""
        return []


class _OpenReply(_AnswerReply):
    """The reply of the language model while it may look something up."""

    look_up: list[LookUpReply] = []

    @field_validator("look_up", mode="before")
    @classmethod
    def _only_calls(cls, look_up: object) -> object:
        return only_calls(look_up)

    @property
    def calls(self) -> list[ToolCall]:
        """What the model wants to look up, each once."""
        return list(dict.fromkeys(one.call for one in self.look_up))[:MOST_LOOK_UPS]


@dataclass(frozen=True, kw_only=True, slots=True)
class LookingUp:
    """How a model may look up what its context lacks.

    Attributes:
        run: Runs a call of a reading tool.
        rounds: How often it is asked again with what it looked up.
        images: The most pictures that are read for the look-ups of a reply.
        tokens: The most tokens of the sources of a further request.
        count: Returns the number of tokens of a text.
    """

    run: RunTool
    rounds: int = 1
    images: int = 2
    tokens: int = 12_000
    count: Callable[[str], int] = count_tokens


class _PlainAnswer(_AnswerReply):
    """The text of a reply that is not the object that was asked for; `problem` says what it is."""

    problem: str = Field(exclude=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenAnswer:
    """A draft to verify, and the intermediate results that `Answer` reports.

    `context` ends with the sources that were found with what the images show, or looked up.
    """

    draft: Draft
    context: Context
    initial: str
    merged: str = ""
    readings: tuple[Reading, ...] = ()
    look_ups: tuple[LookUp, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Writing:
    """An answer while it is written: the last reply, and what it could be based on."""

    question: str
    context: Context
    reply: _AnswerReply
    rounds: int
    readings: list[Reading] = field(default_factory=list)
    findings: dict[int, ImageFinding] = field(default_factory=dict)
    look_ups: list[LookUp] = field(default_factory=list)

    def read(self, images: Sequence[ContextImage], readings: Sequence[Reading]) -> dict[int, ImageFinding]:
        """Add the readings of images; return those that are relevant, by the image's number."""
        self.readings += readings
        found = {
            image.id: finding
            for image, finding in zip(images, readings, strict=False)
            if isinstance(finding, ImageFinding) and finding.relevant
        }
        self.findings |= found
        return found


class ModelAnswerer:
    """Writes answers with a language model.

    Args:
        search: Retrieves the context of a text.
        reader: Reads images; without it, they are not read, and a finding says so.
        looking_up: How the model may look something up; None if it may not.
        prompt: What asks for the initial answer.
    """

    def __init__(
        self,
        corpus: Corpus,
        model: LanguageModel,
        *,
        search: Search,
        reader: ImageReader | None = None,
        looking_up: LookingUp | None = None,
        prompt: str = "initial_answer",
    ) -> None:
        self._corpus = corpus
        self._model = model
        self._search = search
        self._reader = reader
        self._looking_up = looking_up
        self._initial = prompts.load(prompt, placeholders=frozenset({"question", "context"}))
        self._merge = prompts.load(
            "merge_answer", placeholders=frozenset({"question", "context", "initial", "findings"})
        )
        self._look_up = prompts.load("look_up", placeholders=frozenset({"results"}))

    async def answer(self, question: str, context: Context, progress: Progress) -> WrittenAnswer:
        """Ask for an initial answer, which then is merged with what images show and what the model looks up.

        The images of the context are read once there is an initial answer. What it asks for is looked up before, so
        that one request merges both. A question whose answer no image changes and that looks nothing up takes no
        further request.

        Args:
            progress: Is told of the stages, and of the text of each reply while it is written.

        Raises:
            ModelError: The language model or the search failed. An image that fails becomes an `UnreadImage` and a
                finding, and a look-up that fails a message to the model.
        """
        rounds = self._looking_up.rounds if self._looking_up else 0
        with progress.stage("answering") as stage:

            def asked(part: Context) -> tuple[str, str]:
                return self._initial.fill(question=question, context=_rendered(part))

            whole = context
            reply, stage.usage, context = await self._ask(asked, context, "answer", rounds, progress)
        writing = _Writing(question=question, context=context, reply=reply, rounds=rounds)
        findings = _left_out(whole, context)
        try:
            images = context.images
            while await self._continue(writing, images, progress):
                images = ()
        except QuestionBudgetError as error:
            findings.append(
                Finding(
                    kind="note",
                    message=f"the answer may lack what further calls would show; raise answer.max_cost: {error}",
                )
            )
        context, final = writing.context, writing.reply
        finder = EvidenceFinder(corpus=self._corpus, context=context, question=question, findings=writing.findings)
        findings += _unread(context, writing.readings)
        return WrittenAnswer(
            draft=await run_in_thread(partial(_draft, final, finder, more=findings)),
            context=context,
            initial=reply.answer,
            merged="" if final is reply else final.answer,
            readings=tuple(writing.readings),
            look_ups=tuple(writing.look_ups),
        )

    async def _continue(self, writing: _Writing, images: Sequence[ContextImage], progress: Progress) -> bool:
        """Look up what the last reply asks for, read the images, and ask again with what came; return False if there is
        nothing to ask again for."""
        looked_up = await self._looked_up(writing, progress)
        found = await self._read(writing, (*images, *looked_up.images), progress)
        adds = (not one.agrees or writing.reply.status == "unanswerable" for one in found.values())
        if not looked_up.look_ups and not any(adds):
            return False
        with progress.stage("merging") as stage:
            needed = await self._needed(writing, looked_up, found)
            labels = {image.id: image.label for image in writing.context.images}
            listed = "\n".join(f"I{key} ({labels[key]}): {one.text}" for key, one in writing.findings.items())
            before = writing.reply.model_dump_json(include={"status", "answer", "claims"})

            def asked_again(part: Context) -> tuple[str, str]:
                system, user = self._merge.fill(
                    question=writing.question,
                    context=_rendered(part),
                    initial=as_data(before),
                    findings=as_data(listed or "(no picture was read)"),
                )
                told = looked_up.told({source.id for source in part.sources})
                return system, f"{user}\n\n{self._look_up.fill(results=as_data(told))[1]}" if told else user

            progress.restart()
            reply = await self._ask(asked_again, needed, "merged_answer", writing.rounds, progress)
            writing.reply, stage.usage, _ = reply
        return bool(writing.reply.calls)

    async def _looked_up(self, writing: _Writing, progress: Progress) -> LookedUp:
        calls = writing.reply.calls
        if self._looking_up is None or not calls:
            return LookedUp(context=writing.context)
        writing.rounds -= 1
        with progress.stage("looking up"):
            results = await look_up(self._looking_up.run, calls)
            images = self._looking_up.images if self._reader else 0
            looked_up = await add_to_context(self._corpus, writing.context, results, most_images=images)
        writing.context = looked_up.context
        writing.look_ups += looked_up.look_ups
        return looked_up

    async def _read(
        self, writing: _Writing, images: Sequence[ContextImage], progress: Progress
    ) -> dict[int, ImageFinding]:
        if self._reader is None or not images:
            return {}
        said = f"({writing.reply.status}) {writing.reply.answer}"
        with progress.stage("reading images") as stage:
            readings, stage.usage = await self._reader.read(writing.question, images, answer=said)
        return writing.read(images, readings)

    async def _needed(self, writing: _Writing, looked_up: LookedUp, found: Mapping[int, ImageFinding]) -> Context:
        """Return the part of the context that a merge needs: what was looked up, the rows that the last reply cites,
        the sources of the elements that were read, and what is found with them; if the reply is no answer and nothing
        was looked up or cited, all sources that fit."""
        related: Set[int] = frozenset()
        if found:
            writing.context, related = await self._extended(writing.context, writing.question, found.values())
        context = writing.context
        cited = {row for claim in writing.reply.claims for row in map(parse_row, claim.evidence)}
        read = {finding.element for finding in writing.findings.values()}
        all_of_it = writing.reply.status == "unanswerable" and not (looked_up.rows and cited)
        ranks: tuple[Callable[[ContextSource], bool], ...] = (
            lambda source: source.id in looked_up.rows,
            lambda source: ("S", source.id) in cited,
            lambda source: source.element in read,
            lambda source: source.id in related,
            lambda _: all_of_it,
        )
        chosen = {source.id: source for rank in ranks for source in context.sources if rank(source)}
        sources = tuple(chosen.values())
        if self._looking_up is not None:
            sources = fitting_sources(sources, tokens=self._looking_up.tokens, count=self._looking_up.count)
        return Context(
            entities=tuple(row for row in context.entities if ("E", row.id) in cited),
            relations=tuple(row for row in context.relations if ("R", row.id) in cited),
            sources=sources,
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

    async def _ask(
        self,
        fill: Callable[[Context], tuple[str, str]],
        context: Context,
        schema_name: str,
        rounds: int,
        progress: Progress,
    ) -> tuple[_AnswerReply, Usage, Context]:
        """Ask for an answer from a context, or from half of it as often as the model's window is too short; if there
        are `rounds` left, the model may look something up.

        Returns:
            The reply, the usage, and the context that was sent.
        """
        validator = _OpenReply if rounds else _AnswerReply
        on_text = progress.grow if progress.streams else None
        while True:
            system, user = fill(context)
            if rounds:
                system = f"{system}\n\n{self._look_up.system}"
            request = ModelRequest.of((system, user), schema_name)
            try:
                reply, usage = await ask_json(self._model, request, validator, on_text=on_text, otherwise=_plain)
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


def _rendered(context: Context) -> str:
    """Return the text of a context with its notes, as data."""
    ordered = replace(context, sources=tuple(sorted(context.sources, key=lambda source: source.id)))
    notes = [f"Note: {finding.message}\n" for finding in context.findings if finding.kind == "note"]
    return as_data(render_for_model(ordered) + "".join(notes))


def _draft(reply: _AnswerReply, finder: EvidenceFinder, *, more: Sequence[Finding]) -> Draft:
    """Resolve the cited rows; rows that the context does not have are dropped and reported in a finding."""
    unknown: list[str] = []
    claims = []
    findings = list(more)
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
