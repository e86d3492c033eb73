"""`QueryEngine`: takes a question and returns a verified answer."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from paperscope_core.errors import InputError, UnknownPaperError
from paperscope_core.models.tokens import count_tokens
from paperscope_core.protocols import Corpus, Embedder, GraphIndex, LanguageModel, Reranker, VisionModel
from paperscope_core.types import Answer, AnswerEvent, Context, Filters, Turn, Usage
from query.answering.images import ImageReader
from query.answering.model import ModelAnswerer, Written
from query.evidence import Draft, exhibits_of
from query.progress import FinalText, Stages, events_of
from query.question.scope import narrowed
from query.question.understanding import Understanding, Understood
from query.retrieval.retriever import Retrieval, RetrievalOptions, Retriever
from query.verification import Cited, Verified, verify

__all__ = ["QueryEngine", "TextAnswerer"]


_NO_FILTERS = Filters()
_LONGEST_QUESTION = 4000
# Of a confidence: the last digits of a vector depend on what it was embedded together with.
_DIGITS = 4
_NOTHING_FOUND = "The library holds nothing on this question."
_NO_MODEL = "no language model was used: the answer was drawn from the papers' own words and numbers"


class TextAnswerer(Protocol):
    """Answers from a context without a language model, as `query.embedded.EmbeddedAnswerer` does."""

    async def answer(self, question: str, context: Context, *, named: tuple[str, ...]) -> Draft:
        """A draft; `named` are the ids of the elements that the question names."""
        ...


class QueryEngine:
    """Answers questions over a library.

    Without `answer_model`, `text_answerer` answers (default: `EmbeddedAnswerer`), and a warning says so. Without
    `vision_model` images stay unread. `count` tells how many tokens a text is.
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
        text_answerer: TextAnswerer | None = None,
        options: RetrievalOptions | None = None,
        count: Callable[[str], int] = count_tokens,
        decompose: bool = False,
    ) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._model = answer_model
        self._vision = vision_model
        self._text_answerer = text_answerer
        self._embedded = text_answerer is None
        self._understanding = Understanding(corpus, answer_model, decompose=decompose)
        self._retriever = Retriever(corpus, index, embedder, reranker=reranker, options=options, count=count)

    async def retrieve(self, question: str, *, papers: Sequence[str] = (), filters: Filters = _NO_FILTERS) -> Retrieval:
        """The context that an answer would rest on, from what `filters` allow, `papers` (ids) besides those they name.

        Raises InputError, UnknownPaperError and ModelError.
        """
        return await self._retriever.retrieve(_checked(question), filters=self._restricted(filters, papers))

    async def ask(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
        on_stage: Callable[[str], None] | None = None,
    ) -> Answer:
        """Answer from what `filters` allow and `papers` (ids; both empty: from all); `on_stage` hears the name of each
        stage as it begins. A follow-up of `history`, oldest turn first, is understood by it.

        Raises InputError for a question that is empty or too long, UnknownPaperError, and ModelError when the
        language model or the embedder fails.
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
        """Answer as `ask` does, and raise what it raises; tell each stage as it begins and the final text as it is
        written, the answer last."""

        async def answering(on_stage: Callable[[str], None], text: FinalText) -> Answer:
            restricted = self._restricted(filters, papers)
            answer = await self._answer(question, restricted, history, on_stage=on_stage, text=text)
            text.end(answer.text)
            return answer

        return events_of(answering)

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
        question = _checked(question)
        asked = await self._understood(question, filters, history, stages)
        with stages.run("retrieving"):
            retrieval = await self._retriever.retrieve_parts(asked.parts, filters=asked.filters)
        written = await self._write(asked.question, retrieval, asked.filters, stages, text)
        with stages.run("verifying"):
            verified = self._verify(asked.question, written.draft, retrieval.context)
        draft = written.draft
        return Answer(
            question=question,
            status=draft.status,
            text=draft.text,
            claims=draft.claims,
            context=retrieval.context,
            readings=written.readings,
            exhibits=exhibits_of(self._corpus, draft.claims, written.readings),
            initial=written.initial,
            merged=written.merged,
            model=self._model.name if self._model and retrieval.context.sources else "",
            usage=asked.usage + written.usage,
            seconds=stages.seconds,
            stages=stages.times,
            checks=verified.checks,
            warnings=(*retrieval.notes, *draft.warnings, *verified.warnings),
            confidence=None if draft.confidence is None else round(draft.confidence, _DIGITS),
            asked_as=asked.question if asked.question != question else "",
        )

    async def _understood(self, question: str, filters: Filters, history: Sequence[Turn], stages: Stages) -> Understood:
        if not self._understanding.needed(question, history):
            return Understood(question=question, parts=(question,), filters=filters)
        with stages.run("understanding"):
            return await self._understanding.read(question, filters=filters, history=history)

    async def _write(
        self, question: str, retrieval: Retrieval, filters: Filters, stages: Stages, text: FinalText | None
    ) -> Written:
        context = retrieval.context
        if not context.sources:
            return _unmodelled(Draft(text=_NOTHING_FOUND, status="unanswerable"))
        if self._model is not None:
            reader = ImageReader(self._corpus, self._vision) if self._vision else None
            answerer = ModelAnswerer(self._corpus, self._model, reader=reader)
            return await answerer.answer(question, context, stages=stages, text=text)
        with stages.run("answering"):
            draft = await self._answerer(filters).answer(question, context, named=retrieval.named)
        warnings = draft.warnings if _NO_MODEL in draft.warnings else (_NO_MODEL, *draft.warnings)
        return _unmodelled(replace(draft, warnings=warnings))

    def _answerer(self, filters: Filters = _NO_FILTERS) -> TextAnswerer:
        from query.extractive import EmbeddedAnswerer

        corpus = narrowed(self._corpus, filters)
        if self._embedded and corpus is not self._corpus:
            return EmbeddedAnswerer(corpus, self._embedder)
        if self._text_answerer is None:
            # Kept for the next question: it remembers how telling the papers' words are.
            self._text_answerer = EmbeddedAnswerer(self._corpus, self._embedder)
        return self._text_answerer

    def _verify(self, question: str, draft: Draft, context: Context) -> Verified:
        if draft.status == "unanswerable":
            return Verified(checks=(), warnings=())
        ids = {evidence.element for claim in draft.claims for evidence in claim.evidence}
        cited = Cited(
            elements={element: self._corpus.element(element) for element in ids},
            around=[source.content for source in context.sources],
        )
        return verify(question=question, text=draft.text, claims=draft.claims, cited=cited)

    def _restricted(self, filters: Filters, papers: Sequence[str]) -> Filters:
        """The filters with these papers, too. Raises UnknownPaperError."""
        for paper in (*filters.papers, *papers):
            try:
                self._corpus.paper(paper)
            except KeyError as error:
                raise UnknownPaperError(
                    f"no paper {paper!r} in the library; list the papers to see their ids"
                ) from error
        return replace(filters, papers=(*filters.papers, *papers))


def _checked(question: str) -> str:
    question = question.strip()
    if not question:
        raise InputError(f"the question {question!r} is empty; ask something")
    if len(question) > _LONGEST_QUESTION:
        raise InputError(
            f"the question that starts {question[:60]!r} has {len(question)} characters; "
            f"the most that can be asked at once is {_LONGEST_QUESTION}"
        )
    return question


def _unmodelled(draft: Draft) -> Written:
    """What was written without a model costs nothing and has no stages of its own."""
    return Written(draft=draft, initial=draft.text, merged="", readings=(), usage=Usage())
