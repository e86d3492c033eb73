"""`QueryEngine`: takes a question and returns a verified answer."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial

from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import InputError, UnknownPaperError
from paperscope_core.models.tokens import count_tokens
from paperscope_core.protocols import Corpus, Embedder, GraphIndex, LanguageModel, Reranker, VisionModel
from paperscope_core.text.escaping import is_encodable
from paperscope_core.types import Answer, AnswerEvent, Context, Filters, Finding, ImageFinding, Turn, marked_words
from query.answering.images import ImageReader
from query.answering.model import ModelAnswerer, WrittenAnswer
from query.evidence import Draft, EvidenceNamer, exhibits_of
from query.extractive import ExtractiveAnswerer
from query.progress import FinalText, Stages, answer_events
from query.question.scope import restrict
from query.question.understanding import Understanding
from query.retrieval.retriever import Retrieval, RetrievalOptions, Retriever
from query.verification import Cited, Verified, verify

__all__ = ["QueryEngine"]

_NO_FILTERS = Filters()
_MAX_QUESTION_CHARACTERS = 4000
# Digits of a confidence. Further digits of a vector depend on the batch it was embedded in.
_CONFIDENCE_DIGITS = 4
_NOTHING_FOUND = "The library contains nothing about this question."
_NO_MODEL = Finding(
    kind="model", message="no language model was used: the answer was drawn from the papers' own words and numbers"
)


class QueryEngine:
    """Answers questions over a library.

    Args:
        answer_model: Writes the answers. Without it, the extractive answerer does, and a finding says so.
        vision_model: Reads images. Without it, images are not read.
        count: Returns the number of tokens of a text.
        decompose: Lets the model split questions that have several parts.
    """

    def __init__(
        self,
        corpus: Corpus,
        index: GraphIndex,
        embedder: Embedder,
        answer_model: LanguageModel | None = None,
        vision_model: VisionModel | None = None,
        *,
        reranker: Reranker | None = None,
        options: RetrievalOptions | None = None,
        count: Callable[[str], int] = count_tokens,
        decompose: bool = False,
    ) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._model = answer_model
        self._vision = vision_model
        self._understanding = Understanding(corpus, answer_model, decompose=decompose)
        self._retriever = Retriever(corpus, index, embedder, reranker=reranker, options=options, count=count)

    async def retrieve(self, question: str, *, papers: Sequence[str] = (), filters: Filters = _NO_FILTERS) -> Retrieval:
        """Retrieves the context that an answer would use.

        Args:
            papers: Ids of papers to search, in addition to those of `filters`; all papers if both are empty.

        Raises:
            InputError: The question is empty, too long, or not in UTF-8.
            UnknownPaperError: A paper is not in the library.
            ModelError: The embedder or the reranker failed.
        """
        return await self._retriever.retrieve(_valid_question(question), filters=self._restricted(filters, papers))

    async def ask(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
        on_stage: Callable[[str], None] | None = None,
    ) -> Answer:
        """Answers a question.

        Args:
            papers: Ids of papers to search, in addition to those of `filters`; all papers if both are empty.
            history: Earlier turns, oldest first, from which the model completes a follow-up question.
            on_stage: Called with the name of each stage when it begins.

        Raises:
            InputError: The question is empty, too long, or not in UTF-8.
            UnknownPaperError: A paper is not in the library.
            ModelError: The language model or the embedder failed.
        """
        filters = self._restricted(filters, papers)
        return await self._answer(question, filters, history, on_stage=on_stage, text=None)

    def stream(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answers as `ask` does and yields events: each stage when it begins, the final text while it is written, and
        the answer last. Raises what `ask` raises."""

        async def answering(on_stage: Callable[[str], None], text: FinalText) -> Answer:
            restricted = self._restricted(filters, papers)
            answer = await self._answer(question, restricted, history, on_stage=on_stage, text=text)
            text.end(answer.text)
            return answer

        return answer_events(answering)

    async def _answer(
        self,
        question: str,
        filters: Filters,
        history: Sequence[Turn],
        *,
        on_stage: Callable[[str], None] | None,
        text: FinalText | None,
    ) -> Answer:
        stages = Stages(on_stage)
        question = _valid_question(question)
        asked = await self._understanding.read(question, filters=filters, history=history, stages=stages)
        with stages.run("retrieving"):
            retrieval = await self._retriever.retrieve_parts(asked.parts, filters=asked.filters)
        written = await self._write(asked.question, retrieval, asked.filters, stages, text)
        with stages.run("verifying"):
            verified = await run_in_thread(partial(self._verify, asked.question, written))
        draft = written.draft
        namer = await run_in_thread(lambda: EvidenceNamer(self._corpus))
        return Answer(
            question=question,
            status=draft.status,
            text=draft.text,
            claims=namer.claims(draft.claims),
            context=replace(written.context, findings=()),
            readings=written.readings,
            exhibits=exhibits_of(self._corpus, draft.claims, written.readings),
            initial=written.initial,
            merged=written.merged,
            model=self._model.name if self._model and written.context.sources else "",
            usage=asked.usage + written.usage,
            seconds=stages.seconds,
            stages=stages.times,
            checks=namer.checks(verified.checks),
            findings=(*retrieval.context.findings, *draft.findings, *verified.findings),
            confidence=None if draft.confidence is None else round(draft.confidence, _CONFIDENCE_DIGITS),
            asked_as=asked.question if asked.question != question else "",
        )

    async def _write(
        self, question: str, retrieval: Retrieval, filters: Filters, stages: Stages, text: FinalText | None
    ) -> WrittenAnswer:
        context = retrieval.context
        if not context.sources:
            draft = Draft(text=_NOTHING_FOUND, status="unanswerable")
            return WrittenAnswer(draft=draft, context=context, initial=draft.text)
        if self._model is not None:
            reader = ImageReader(self._corpus, self._vision) if self._vision else None
            # What was read in images may name other papers, which are cited there, not asked about.
            papers = tuple(dict.fromkeys(source.place.paper for source in context.sources))
            search = partial(self._search, replace(filters, papers=papers))
            answerer = ModelAnswerer(self._corpus, self._model, search=search, reader=reader)
            return await answerer.answer(question, context, stages=stages, text=text)
        extractive = ExtractiveAnswerer(corpus=restrict(self._corpus, filters), embedder=self._embedder)
        with stages.run("answering"):
            draft = await extractive.answer(question, context, named=retrieval.named, asked=retrieval.asked)
        # The text itself says so if it only shows places.
        findings = draft.findings if draft.status == "evidence" else (_NO_MODEL, *draft.findings)
        return WrittenAnswer(draft=replace(draft, findings=findings), context=context, initial=draft.text)

    async def _search(self, filters: Filters, text: str) -> Context:
        return (await self._retriever.retrieve(text, filters=filters)).context

    def _verify(self, question: str, written: WrittenAnswer) -> Verified:
        draft, sources = written.draft, written.context.sources
        if draft.status != "answered" or draft.certain:
            return Verified()
        ids = {evidence.element for claim in draft.claims for evidence in claim.evidence}
        cited = Cited(
            elements={element: self._corpus.element(element) for element in ids},
            readings=_readings(written),
            around=[source.content for source in sources],
        )
        return verify(question=question, text=draft.text, claims=draft.claims, cited=cited)

    def _restricted(self, filters: Filters, papers: Sequence[str]) -> Filters:
        """Adds papers to the filters. Raises UnknownPaperError."""
        for paper in (*filters.papers, *papers):
            try:
                self._corpus.paper(paper)
            except KeyError as error:
                raise UnknownPaperError(
                    f"no paper {paper!r} in the library; list the papers to see their ids"
                ) from error
        return replace(filters, papers=(*filters.papers, *papers))


def _readings(written: WrittenAnswer) -> dict[str, list[str]]:
    """What was read in images, for the question and when their papers were added, by element."""
    found: dict[str, list[str]] = {}
    for reading in written.readings:
        if isinstance(reading, ImageFinding):
            found.setdefault(reading.element, []).append(reading.text)
    for source in written.context.sources:
        found.setdefault(source.element, []).extend(marked_words(source.content))
    return found


def _valid_question(question: str) -> str:
    question = question.strip()
    if not question:
        raise InputError(f"the question {question!r} is empty; ask something")
    if len(question) > _MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"the question that starts {question[:60]!r} has {len(question)} characters; "
            f"the maximum is {_MAX_QUESTION_CHARACTERS}"
        )
    if not is_encodable(question):
        raise InputError(f"the question {question!r} is not in UTF-8; write it in a terminal that uses UTF-8")
    return question
