"""`QueryEngine`: takes a question and returns a verified answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from paperscope_core.cancellation import run_in_thread
from paperscope_core.models.budget import question_budget
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.protocols import Corpus, Embedder, GraphIndex, LanguageModel, PageImages, Reranker
from paperscope_core.settings import AnswerSettings, RetrievalSettings
from paperscope_core.types import Answer, AskRequest, Context, Filters, Finding, ImageFinding, marked_words, paper_words
from query.answering.image_reader import ImageReader
from query.answering.model_answerer import LookingUp, ModelAnswerer, WrittenAnswer
from query.element_views import element_text
from query.evidence import Draft, EvidenceNamer, exhibits_of
from query.extractive import ExtractiveAnswerer, show_each_paper
from query.progress import Progress
from query.question.scope import restrict
from query.question.understanding import Understanding, Understood
from query.reading_tools import PART_TOKENS, ReadingTools
from query.retrieval.retriever import Retrieval, Retriever
from query.verification import Cited, Verified, check_links, verify

__all__ = ["QueryEngine"]

# Digits of a confidence. Further digits of a vector depend on the batch it was embedded in.
_CONFIDENCE_DIGITS = 4
_NOTHING_FOUND = "The library contains nothing about this question."
_NO_MODEL = Finding(
    kind="model", message="no language model was used: the answer was drawn from the papers' own words and numbers"
)


class QueryEngine:
    """Answer questions over a library.

    Args:
        answer_model: Writes the answers. Without it, the extractive answerer does, and a finding says so.
        vision_model: Reads images. Without it, images are not read.
        count: Returns the number of tokens of a text.
        answering: Whether the model splits questions that have several parts, what it reads and may look up, and what a
            question may cost.
        page_image: Renders the pages that are read as images.
        sentence_embedder: Embeds the sentences that may be quoted without a model; `embedder` by default.
    """

    def __init__(
        self,
        corpus: Corpus,
        index: GraphIndex,
        embedder: Embedder,
        answer_model: LanguageModel | None = None,
        vision_model: LanguageModel | None = None,
        *,
        reranker: Reranker | None = None,
        settings: RetrievalSettings = RetrievalSettings(),
        answering: AnswerSettings = AnswerSettings(),
        count: Callable[[str], int] = count_tokens,
        page_image: PageImages | None = None,
        sentence_embedder: Embedder | None = None,
    ) -> None:
        self._corpus = corpus
        self._sentence_embedder = sentence_embedder or embedder
        self._model = answer_model
        self._vision = vision_model
        self._answering = answering
        self._settings = settings
        self._count = count
        self._page_image = page_image
        self._understanding = Understanding(corpus, answer_model)
        self._retriever = Retriever(
            corpus,
            index,
            embedder,
            reranker=reranker,
            settings=settings,
            count=count,
            whole_papers=answering.context == "paper",
        )

    async def retrieve(self, request: AskRequest) -> Context:
        """Retrieve the context that an answer would use.

        Raises:
            NotFoundError: A paper is not in the library.
            ModelError: The embedder or the reranker failed.
        """
        asked = Understood(question=request.question, filters=request.filters)
        found = (
            self.spread(asked)
            if request.each_paper
            else self._retriever.retrieve(asked.question, filters=asked.filters)
        )
        return (await found).context

    async def ask(self, request: AskRequest, progress: Progress | None = None) -> Answer:
        """Answer a question.

        Args:
            progress: Is told of the stages and of the text.

        Raises:
            NotFoundError: A paper is not in the library.
            ModelError: The language model or the embedder failed.
        """
        progress = progress or Progress()
        progress.begin()
        with question_budget(self._answering.max_cost):
            return await self._ask(request, progress)

    async def _ask(self, request: AskRequest, progress: Progress) -> Answer:
        asked = await self.understand(request, progress)
        with progress.stage("retrieving"):
            retrieval = await self._retriever.retrieve(asked.question, filters=asked.filters)
        written = await self._write(asked.question, retrieval, asked.filters, progress)
        written = replace(
            written, draft=replace(written.draft, findings=(*retrieval.context.findings, *written.draft.findings))
        )
        return await self._verified(request, asked.question, written, progress)

    @property
    def has_model(self) -> bool:
        """Whether a language model writes the answers."""
        return self._model is not None

    async def understand(self, request: AskRequest, progress: Progress) -> Understood:
        """Complete a follow-up question. Raises ModelError."""
        return await self._understanding.read(request, progress)

    async def spread(self, asked: Understood) -> Retrieval:
        """Retrieve the best sources of each paper. Raises what `retrieve` does."""
        return await self._retriever.retrieve(asked.question, filters=asked.filters, spread=True)

    async def conclude(
        self, asked: Understood, request: AskRequest, context: Context, progress: Progress, *, searched: int
    ) -> Answer:
        """Answer from what many papers say: with the model from these sources, without it by the best place of each.

        Args:
            asked: The question as it was understood.
            searched: How many papers were searched.

        Raises:
            ModelError: The language model or the embedder failed.
        """
        draft = Draft(text=_NOTHING_FOUND, status="unanswerable")
        if context.sources and self._model is not None:
            answerer = ModelAnswerer(
                self._corpus, self._model, search=partial(self._search, asked.filters), prompt="conclude_papers"
            )
            with question_budget(self._answering.max_cost):
                written = await answerer.answer(asked.question, context, progress)
            draft = written.draft
        elif context.sources:
            with progress.stage("answering"):
                draft = await show_each_paper(
                    asked.question, context, self._corpus, self._sentence_embedder, searched=searched
                )
        draft = replace(draft, findings=(*context.findings, *draft.findings))
        written = WrittenAnswer(draft=draft, context=context, initial=draft.text)
        return await self._verified(request, asked.question, written, progress)

    async def _verified(self, request: AskRequest, question: str, written: WrittenAnswer, progress: Progress) -> Answer:
        with progress.stage("verifying"):
            verified = await run_in_thread(partial(self._verify, request, question, written))
        draft = written.draft
        namer = await run_in_thread(lambda: EvidenceNamer(self._corpus))
        progress.end(draft.text)
        return Answer(
            question=request.question,
            status=draft.status,
            text=draft.text,
            claims=namer.claims(draft.claims),
            context=replace(written.context, findings=()),
            readings=written.readings,
            exhibits=exhibits_of(self._corpus, draft.claims, written.readings),
            initial=written.initial,
            look_ups=written.look_ups,
            merged=written.merged,
            model=self._model.name if self._model and (written.context.sources or written.context.images) else "",
            usage=progress.usage,
            seconds=progress.seconds,
            stages=progress.times,
            checks=namer.checks(verified.checks),
            findings=(*draft.findings, *verified.findings),
            confidence=None if draft.confidence is None else round(draft.confidence, _CONFIDENCE_DIGITS),
            asked_as=question if question != request.question else "",
        )

    def reading_tools(
        self, filters: Filters = Filters(), papers: Sequence[str] = (), *, tokens: int = PART_TOKENS
    ) -> ReadingTools:
        """Return the reading tools for what the filters allow, which read `papers` if a call names none, with results
        of `tokens`."""

        async def search(text: str, within: tuple[str, ...]) -> Context:
            return await self._search(replace(filters, papers=within or filters.papers), text)

        return ReadingTools(self._corpus, search, filters=filters, papers=papers, tokens=tokens, count=self._count)

    async def _write(self, question: str, retrieval: Retrieval, filters: Filters, progress: Progress) -> WrittenAnswer:
        context = retrieval.context
        sees_pages = bool(context.images and self._model and self._vision)
        if not context.sources and not sees_pages:
            draft = Draft(text=_NOTHING_FOUND, status="unanswerable")
            return WrittenAnswer(draft=draft, context=context, initial=draft.text)
        if self._model is not None:
            reader = ImageReader(self._corpus, self._vision, page_image=self._page_image) if self._vision else None
            # What was read in images may name other papers, which are cited there, not asked about.
            places = (*(source.place for source in context.sources), *(image.place for image in context.images))
            papers = tuple(dict.fromkeys(place.paper for place in places))
            search = partial(self._search, replace(filters, papers=papers))
            looking_up = self._looking_up(filters, papers)
            answerer = ModelAnswerer(self._corpus, self._model, search=search, reader=reader, looking_up=looking_up)
            return await answerer.answer(question, context, progress)
        extractive = ExtractiveAnswerer(corpus=restrict(self._corpus, filters), embedder=self._sentence_embedder)
        with progress.stage("answering"):
            draft = await extractive.answer(
                question, context, named=retrieval.named, asked=retrieval.asked, summary=retrieval.summary
            )
        # The text itself says so if it only shows places.
        findings = draft.findings if draft.status == "evidence" else (_NO_MODEL, *draft.findings)
        return WrittenAnswer(draft=replace(draft, findings=findings), context=context, initial=draft.text)

    def _looking_up(self, filters: Filters, papers: Sequence[str]) -> LookingUp:
        """Return how the model may look something up: in these papers, unless it names another."""
        tokens = self._settings.tokens
        tools = self.reading_tools(filters, papers, tokens=min(PART_TOKENS, tokens // 2))
        return LookingUp(
            run=tools.run,
            rounds=self._answering.rounds,
            images=self._settings.images,
            tokens=tokens,
            count=self._count,
        )

    async def _search(self, filters: Filters, text: str) -> Context:
        return (await self._retriever.retrieve(text, filters=filters)).context

    def _verify(self, request: AskRequest, question: str, written: WrittenAnswer) -> Verified:
        """Check a draft: whatever its status, the links of all texts of a model that a reader sees; if it is an answer,
        its statements.

        Args:
            question: The question as it was understood.
        """
        draft, sources = written.draft, written.context.sources
        ids = {evidence.element for claim in draft.claims for evidence in claim.evidence if evidence.element}
        around = [source.content for source in sources]
        papers = frozenset(source.paper for source in sources)
        cited = Cited.of(self._corpus, ids, readings=_readings(written), around=around, papers=papers)
        links = self._check_links(request, question, written, cited) if self._model else []
        if draft.status != "answered" or draft.certain:
            return Verified(findings=tuple(links))
        verified = verify(question=question, text=draft.text, claims=draft.claims, cited=cited)
        return replace(verified, findings=(*links, *verified.findings))

    def _check_links(
        self, request: AskRequest, question: str, written: WrittenAnswer, cited: Cited
    ) -> Sequence[Finding]:
        draft = written.draft
        texts = [
            (text, None) for text in (question, draft.text, written.initial, *(claim.text for claim in draft.claims))
        ]
        readings = [(one.text, one.place) for one in written.readings if isinstance(one, ImageFinding)]
        asked = (request.question, *(turn.question for turn in request.history))
        # What a model read when a paper was added is no source.
        sources = (paper_words(source.content) for source in written.context.sources)
        elements = map(element_text, cited.elements.values())
        return check_links([*texts, *readings], [*asked, *sources, *elements])


def _readings(written: WrittenAnswer) -> dict[str, list[str]]:
    """Return what was read in images, for the question and when their papers were added, by element."""
    found: dict[str, list[str]] = {}
    for reading in written.readings:
        if isinstance(reading, ImageFinding):
            found.setdefault(reading.element, []).append(reading.text)
    for source in written.context.sources:
        found.setdefault(source.element, []).extend(marked_words(source.content))
    return found
