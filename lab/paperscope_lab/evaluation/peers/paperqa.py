"""PaperQA's retrieval with our embedder, without a language model."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from paperscope_lab.evaluation.peers.protocol import Found, Index, PeerCorpus, PeerDocument, System, describe_error

__all__ = ["pages_of", "paperqa_system"]


def paperqa_system(weights: Path) -> System:
    """Return PaperQA with its default settings."""
    paperqa: Any = import_module("paperqa")
    embedder = import_module("lmi").SentenceTransformerEmbeddingModel(name=str(weights))
    settings = paperqa.Settings()
    settings.parsing.use_doc_details = False
    settings.parsing.multimodal = False
    settings.parsing.parse_pdf = import_module("paperqa_pymupdf").parse_pdf_to_pages

    @contextmanager
    def index(corpus: PeerCorpus) -> Iterator[Index]:
        docs = paperqa.Docs()
        with asyncio.Runner() as runner:
            problems = tuple(runner.run(_add_all(docs, corpus, settings, embedder)))
            units = {unit.id: unit.pages for document in corpus.documents for unit in document.units}

            def search(question: str, limit: int) -> list[Found]:
                texts = runner.run(docs.retrieve_texts(question, limit, settings=settings, embedding_model=embedder))
                return [_found(text, units) for text in texts]

            yield Index(search=search, units=len(docs.texts), problems=problems)

    return index


async def _add_all(docs: Any, corpus: PeerCorpus, settings: Any, embedder: Any) -> list[str]:  # noqa: ANN401
    """Add the documents one by one; returns those that could not be added, and why."""
    problems = []
    for document in corpus.documents:
        try:
            await (_add_file if document.file else _add_units)(docs, document, settings, embedder)
        except Exception as error:  # noqa: BLE001 # any error of another library
            problems.append(f"{document.id}: {describe_error(error)}")
    return problems


async def _add_file(docs: Any, document: PeerDocument, settings: Any, embedder: Any) -> None:  # noqa: ANN401
    await docs.aadd(
        document.file,
        citation=document.title or document.id,
        docname=document.id,
        dockey=document.id,
        title=document.title or document.id,
        settings=settings,
        embedding_model=embedder,
    )


async def _add_units(docs: Any, document: PeerDocument, settings: Any, embedder: Any) -> None:  # noqa: ANN401
    types: Any = import_module("paperqa.types")
    citation = document.title or document.id
    doc = types.Doc(docname=document.id, citation=citation, dockey=document.id, content_hash=None)
    texts = [types.Text(text=unit.text, name=unit.id, doc=doc) for unit in document.units if unit.text.strip()]
    await docs.aadd_texts(texts, doc, settings=settings, embedding_model=embedder)


def _found(text: Any, units: Mapping[str, Sequence[int]]) -> Found:  # noqa: ANN401
    unit = text.name if text.name in units else ""
    pages = units[unit] if unit else pages_of(text.name)
    return Found(unit=unit, document=str(text.doc.dockey), pages=tuple(pages), text=text.text)


def pages_of(name: str) -> tuple[int, ...]:
    """Return the pages in a chunk's name: (3, 4) for "Doc2020 pages 3-4"."""
    found = re.search(r" pages (\d+)-(\d+)$", name)
    return tuple(range(int(found[1]), int(found[2]) + 1)) if found else ()
