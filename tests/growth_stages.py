"""Each stage that reads a paper, a question or a reply, with the inputs that its growth is measured on."""

import asyncio
import io
import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError
from rich.console import Console

from graph_store import NativeGraphIndex, Store
from ingest.captioning import ImageCaptioner
from ingest.chunking import chunk_paper
from ingest.export import export_files
from ingest.export.drawing import Mark, draw_marks
from ingest.extraction import extractor_for
from ingest.pdf import PdfParser
from ingest.readers.markup import markup_parsers
from ingest.readers.mineru import MinerUParser
from paperscope_core.errors import PaperscopeError
from paperscope_core.models.fakes import FakeEmbedder, FakeModel
from paperscope_core.models.reply_reading import outermost_object, partial_text, read_reply, readable_text
from paperscope_core.models.structured import strict_schema
from paperscope_core.settings import load_settings
from paperscope_core.text.escaping import html, markdown_text, spreadsheet_csv, terminal_text
from paperscope_core.text.latex import latex_text
from paperscope_core.types import (
    Answer,
    AskRequest,
    Box,
    Check,
    Claim,
    Context,
    ContextEntity,
    ContextSource,
    Evidence,
    Exhibit,
    Figure,
    Finding,
    ImageFinding,
    IndexedPaper,
    Paper,
    PaperFile,
    PaperImages,
    ParsedPaper,
    Place,
    RetrievalRequest,
    Shortfall,
    Turn,
    content_hash,
)
from query import Cited, Progress, QueryEngine, render_context, verify
from query.retrieval.retriever import Retriever
from query.verification import check_links
from service.batch import BatchRow, Gold
from service.batch.question_files import parse_questions
from service.batch.report import render_report
from service.batch.rows import render_csv
from service.batch.summary import summarize
from service.cli.terminal import answer_view, paper_view
from service.http.chat_protocol import ChatBody
from service.http.parameters import QuestionBody
from service.http.problems import ProblemError
from tests.context_parsing import parse_context
from tests.growth_inputs import DOCX, MARKUP, MINERU, PDFS, QUESTION_FILES, TEXTS, Make

__all__ = ["STAGES", "Stage"]

Work = Callable[[], object]
_QUESTION = "What is the highest F1 of BERT in Figure 1?"
_PLACE = Place(paper="aaaa", page=1, box=Box(1, 2, 3, 4))


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A stage: `inputs` makes inputs of a size by name, and `prepare` returns the work to be timed on one.

    Its sizes are `share` of those of other stages.
    """

    prepare: Callable[[Any], Work]
    inputs: Mapping[str, Callable[[int], Any]]
    share: float = 1.0


def _refused(work: Work) -> Work:
    """The work; an error of ours ends it."""

    def run() -> None:
        with suppress(PaperscopeError, ValidationError):
            work()

    return run


def _waiting(work: Callable[[], Coroutine[Any, Any, object]]) -> Work:
    return _refused(lambda: asyncio.run(work()))


# ---- readers


def _parse(parser: Any, data: bytes, *, name: str) -> Paper | None:
    """The paper, None if the file is refused."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        with suppress(PaperscopeError):
            paper: Paper = parser.parse(PaperFile(file if name != _MINERU else file.parent)).paper
            return paper
    return None


_MINERU = "a_content_list.json"


def _reads(parser: Any, name: str) -> Callable[[bytes], Work]:
    return lambda data: partial(_parse, parser, data, name=name)


@cache
def _paper(text: str) -> Paper:
    """A paper with this text, without the control characters for which a reader refuses it."""
    text = "".join(letter for letter in text if letter >= " " or letter == "\n")
    paper = _parse(markup_parsers()["markdown"], f"Title\n\n{text}".encode(), name="a.md")
    assert paper is not None
    return paper


# ---- from a paper to the library


def _chunk(text: str) -> Work:
    return partial(chunk_paper, _paper(text))


def _extract(text: str) -> Work:
    paper = _paper(text)
    chunks = chunk_paper(paper)
    return _waiting(lambda: extractor_for(None).extract(paper, chunks))


def _extract_by_model(text: str) -> Work:
    """A model that names each part of the text."""
    paper = _paper("We use BERT.")
    chunks = chunk_paper(paper)
    parts = [text[at : at + 20] for at in range(0, len(text), 20)]
    entity = {"chunk": "P1", "type": "method", "description": "a"}
    relation = {"chunk": "P1", "target": "BERT", "kind": "uses", "evidence": "We use BERT."}
    reply = json.dumps(
        {
            "entities": [entity | {"mention": part} for part in parts],
            "relations": [relation | {"source": part} for part in parts],
        }
    )
    return _waiting(lambda: extractor_for(FakeModel(lambda _: reply)).extract(paper, chunks))


def _caption(text: str) -> Work:
    """A vision model that sees each part of the text."""
    picture = _picture()
    crop = content_hash(picture)
    place = Place(paper="aaaa", page=1, box=Box(10, 10, 300, 300))
    figure = Figure(id="aaaa/figure-1", place=place, order=1, label="Figure 1", caption=text, text=text, crop=crop)
    paper = replace(_paper("We use BERT."), elements=(figure,))
    parts = [text[at : at + 20] for at in range(0, len(text), 20)]
    entities = [{"name": part, "type": "method", "description": part} for part in parts]
    points = [{"series": part, "x": part, "y": part, "estimated": True} for part in parts]
    reply = json.dumps(
        {"kind": "plot", "description": f"A plot of {text}", "visible_text": parts, "entities": entities}
        | {"data_points": points, "latex": text}
    )
    model = FakeModel(lambda _: reply)
    return _waiting(
        lambda: ImageCaptioner(model).describe(paper, {crop: picture}, before=PaperImages(), on_read=lambda *_: None)
    )


@cache
def _picture() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((300, 300), 90).save(out, format="PNG")
    return out.getvalue()


def _indexed(text: str) -> IndexedPaper:
    paper = _paper(text)
    chunks = tuple(chunk_paper(paper))
    extraction = asyncio.run(extractor_for(None).extract(paper, chunks))
    vectors = np.eye(8, dtype=np.float32)[np.arange(len(chunks)) % 8]
    return IndexedPaper(paper=paper, chunks=chunks, extraction=extraction, vectors=vectors)


def _store(text: str) -> Work:
    """Adds a paper, indexes and removes it."""
    indexed = _indexed(text)

    def work() -> None:
        with TemporaryDirectory() as folder:
            store = Store.open(Path(folder))
            index = NativeGraphIndex.open(store, embedder="fake-8")
            store.add(indexed, crops={}, source="a.md", embedder="fake-8")
            index.catch_up()
            store.remove(indexed.paper.id)
            index.catch_up()
            index.close()
            store.close()

    return _refused(work)


class _Library:
    """A library of one paper, kept on disk until it is collected."""

    def __init__(self, indexed: IndexedPaper) -> None:
        self._folder = TemporaryDirectory()
        self.store = Store.open(Path(self._folder.name))
        self.store.add(indexed, crops={}, source="a.md", embedder="fake-8")
        self.index = NativeGraphIndex.open(self.store, embedder="fake-8")
        self.index.catch_up()
        self.embedder = FakeEmbedder(dimension=8)

    def __del__(self) -> None:
        self.index.close()
        self.store.close()
        self._folder.cleanup()

    def engine(self, model: FakeModel | None = None) -> QueryEngine:
        return QueryEngine(self.store, self.index, self.embedder, model)


def _index(text: str) -> Work:
    """Words, vectors and the graph."""
    library = _Library(_indexed(text))
    vector = np.eye(8, dtype=np.float32)[0]
    request = RetrievalRequest(text=f"{_QUESTION} {text[:300]}", vector=vector, limit=30)
    return lambda: library.index.retrieve(request)


def _retrieve(text: str) -> Work:
    """Fusion and the context."""
    library = _Library(_indexed(text))
    return _waiting(lambda: library.engine().retrieve(AskRequest(question=f"{_QUESTION} {text[:300]}")))


def _answer(text: str) -> Work:
    """The extractive answerer and the verifier."""
    library = _Library(_indexed(text))
    return _waiting(lambda: library.engine().ask(AskRequest(question=_QUESTION)))


@cache
def _small_library() -> _Library:
    return _Library(
        _indexed("# 1 Results\n\nBERT has an F1 of 90.1, as Figure 1 shows.\n\n|Model|F1|\n|-|-|\n|BERT|90.1|\n")
    )


def _ask(text: str) -> Work:
    return _waiting(lambda: _small_library().engine().ask(AskRequest(question=f"What is {text}"[:4000])))


def _follow_up(text: str) -> Work:
    request = AskRequest(question="And of it?", history=(Turn(question=text[:4000], answer=text),) * 3)
    return _waiting(lambda: _small_library().engine().ask(request))


def _reply(text: str) -> Work:
    """An answer of a model, streamed and checked."""
    claims = [{"text": part, "evidence": ["S0", "R1", "E0", "S99"]} for part in text.split("\n")[:150]]
    reply = json.dumps({"status": "answered", "answer": text, "claims": claims})
    library = _small_library()
    request = AskRequest(question="What is the F1 of BERT?")
    return _waiting(
        lambda: library.engine(FakeModel(lambda _: reply)).ask(request, Progress(on_text=lambda _text: None))
    )


def _look_further(text: str) -> Work:
    """A search for what a vision model has read, which no limit of questions cuts."""
    library = _small_library()
    retriever = Retriever(library.store, library.index, library.embedder)
    return _waiting(lambda: retriever.retrieve(f"{_QUESTION}\n{text}"))


class _Reply(BaseModel):
    answer: str
    claims: list[str] = []


_REPLY = TypeAdapter(_Reply)


def _objects(text: str) -> Work:
    def work() -> None:
        with suppress(ValueError):
            outermost_object(text)
        with suppress(ValueError):
            outermost_object("```json\n{" * 3 + text)
        for begun in (text, "{" + text, '{"answer": "' + text):
            with suppress(ValueError):
                read_reply(begun, _REPLY, strict_schema(_REPLY))
            readable_text(begun, strict_schema(_REPLY))
            partial_text(begun, "answer")

    return work


def _verify(text: str) -> Work:
    elements = {element.id: element for element in _paper(text).elements[:50]}
    claims = [
        Claim(text=text, evidence=(Evidence(element=element.id, place=element.place, quote=text),))
        for element in list(elements.values())[:2]
    ]
    cited = Cited(elements=elements, around=[text])
    return partial(verify, question="What is the highest?", text=text, claims=claims, cited=cited)


def _links(text: str) -> Work:
    return partial(check_links, [(text, None), (f"https://{text}", None)], [text, f"http://{text}"])


# ---- what is shown


def _export(text: str) -> Work:
    parsed = ParsedPaper(paper=_paper(text), crops={})
    return partial(export_files, parsed)


def _row(text: str) -> BatchRow:
    """A row with this text wherever a paper, a model or a person writes one."""
    answer = Answer(
        question=text,
        status="answered",
        text=text,
        initial=text,
        merged=text,
        model="model",
        claims=(Claim(text=text, evidence=(Evidence(element="aaaa/table-1", place=_PLACE, quote=text),)),),
        checks=(Check(number="1", finding="computed", formula=text),),
        context=Context(
            sources=(ContextSource(id=0, content=text, element="aaaa/table-1", place=_PLACE),),
            entities=(ContextEntity(id=0, entity=text, type=text, description=text, rank=1, places=()),),
        ),
        exhibits=(Exhibit(element="aaaa/table-1", kind="table", place=_PLACE, label=text),),
        readings=(ImageFinding(element="aaaa/table-1", place=_PLACE, crop="", text=text, relevant=True),),
        findings=(Finding(kind="note", message=text),),
    )
    return BatchRow(index=0, question=text, status="answered", answer=answer, gold=Gold(answer=text))


def _report(text: str) -> Work:
    row = _row(text)

    def work() -> None:
        render_report([row], summarize([row], questions=1, seconds=1))
        render_csv([row])
        row.to_json()

    return work


def _context(text: str) -> Work:
    answer = _row(text).answer
    assert answer is not None
    rendered = render_context(answer.context)
    return lambda: (render_context(answer.context), parse_context(rendered))


def _page(text: str) -> Work:
    answer = _row(text).answer
    paper = _paper(text)
    assert answer is not None
    return lambda: (answer._repr_html_(), paper._repr_html_(), repr(answer))


def _terminal(text: str) -> Work:
    answer, paper = _row(text).answer, _paper(text)
    assert answer is not None

    def work() -> None:
        console = Console(file=io.StringIO(), width=100)
        console.print(answer_view(answer))
        console.print(paper_view(paper, {}, images=PaperImages(), shortfall=Shortfall()))
        terminal_text(text)

    return work


def _escape(text: str) -> Work:
    return lambda: (html("{}", text), markdown_text(text), spreadsheet_csv([[text, text]]))


def _draw(count: int) -> Work:
    marks = [
        Mark(box=Box(at % 300, at % 290, at % 300 + 9, at % 290 + 9), color=(1, 2, 3), label=str(at))
        for at in range(count // 40)
    ]
    return partial(draw_marks, _picture(), marks, width=300, legend={"a": (1, 2, 3)})


# ---- what callers send


def _questions(given: tuple[str, bytes]) -> Work:
    name, data = given
    return _refused(partial(parse_questions, data, name=name))


def _settings(text: str) -> Work:
    def work() -> None:
        for environ in ({"PAPERSCOPE_MODEL": text}, {f"PAPERSCOPE_{text[:2000].upper()}": "1"}):
            with suppress(PaperscopeError, ValueError):
                load_settings(environ=environ)
        with TemporaryDirectory() as folder, suppress(PaperscopeError):
            file = Path(folder) / "paperscope.toml"
            file.write_text(text)
            load_settings(environ={}, file=file)

    return work


def _body(text: str) -> Work:
    parts = [{"type": "text", "text": part} for part in text.split("\n")]
    bodies = (
        json.dumps({"question": text[:4000], "papers": parts, text: 1}),
        json.dumps({"question": text, "papers": text.split("\n")}),
        text,
        "[" * len(text),
    )
    chat = json.dumps({"model": "paperscope", "messages": [{"role": "user", "content": parts}] * 2})

    def work() -> None:
        for body in bodies:
            with suppress(ValidationError):
                QuestionBody.model_validate_json(body)
        with suppress(ValidationError, ProblemError):
            _ = ChatBody.model_validate_json(chat).asked

    return work


_TEXT_READERS = {
    f"read {name}": Stage(prepare=_reads(parser, f"a.{name}"), inputs=MARKUP[name])
    for name, parser in markup_parsers().items()
    if name in MARKUP
}


def _on_texts(prepare: Callable[[str], Work], *, share: float = 1.0, inputs: Mapping[str, Make] = TEXTS) -> Stage:
    return Stage(prepare=prepare, inputs=inputs, share=share)


STAGES: Mapping[str, Stage] = {
    **_TEXT_READERS,
    "read docx": Stage(prepare=_reads(markup_parsers()["docx"], "a.docx"), inputs=DOCX),
    "read pdf": Stage(prepare=_reads(PdfParser(), "a.pdf"), inputs=PDFS),
    "read mineru": Stage(prepare=_reads(MinerUParser(), _MINERU), inputs=MINERU, share=4),
    "read formulas": _on_texts(lambda text: partial(latex_text, text)),
    "chunk": _on_texts(_chunk),
    "extract": _on_texts(_extract),
    "extract, model": _on_texts(_extract_by_model),
    "caption": _on_texts(_caption),
    "store, index": _on_texts(_store),
    "search": _on_texts(_index),
    "retrieve": _on_texts(_retrieve),
    "answer": _on_texts(_answer),
    "question": _on_texts(_ask, share=0.124),
    "follow-up": _on_texts(_follow_up, share=0.124),
    "reply": _on_texts(_reply, share=0.5),
    "look further": _on_texts(_look_further),
    "JSON in a reply": _on_texts(_objects),
    "verify": _on_texts(_verify),
    "links": _on_texts(_links),
    "export": _on_texts(_export),
    "context": _on_texts(_context),
    "report, CSV": _on_texts(_report),
    "HTML": _on_texts(_page),
    "terminal": _on_texts(_terminal),
    "escape": _on_texts(_escape),
    "PNG": Stage(prepare=_draw, inputs={"marks": lambda size: size}),
    "question file": Stage(prepare=_questions, inputs=QUESTION_FILES),
    "settings": _on_texts(_settings),
    "HTTP body": _on_texts(_body),
}
