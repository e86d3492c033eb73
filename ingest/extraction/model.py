"""The extractor that asks a language model, several chunks a call, and believes only what it can check."""

import asyncio
import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

import prompts
from ingest.element_text import element_text
from ingest.extraction.grounding import FoundGraph, ground
from ingest.extraction.kinds import ModelRelationKind, TermType
from ingest.extraction.merge import combine
from paperscope.errors import ModelReplyError
from paperscope.models.structured import ask_json
from paperscope.protocols import LanguageModel
from paperscope.types import Chunk, Extraction, Message, ModelRequest, Paper, Reference, entity_key

__all__ = ["ModelExtractor"]

_log = logging.getLogger(__name__)
_PLACEHOLDERS = frozenset({"types", "kinds", "mark", "passages"})


class ModelExtractor:
    """Asks `model` for the entities and relations of chunks, packed up to `max_words` a call.

    All calls are made at once; limits are a wrapper's business. What does not stand in its chunk is dropped and
    counted in the log. A batch whose reply stays broken is left out with a warning; an endpoint that fails raises,
    after the calls under way have ended, so that a cache keeps what was paid.
    """

    def __init__(self, model: LanguageModel, *, max_words: int = 1500) -> None:
        self._model = model
        self._max_words = max_words

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """The paper's entities and relations as far as the model finds them; the bibliography is not shown to it."""
        folded = {element.id: entity_key(element_text(element)) for element in paper.elements}
        references = {element.id for element in paper.elements if isinstance(element, Reference)}
        shown = [chunk for chunk in chunks if not references.issuperset(chunk.elements)]
        batches = list(_batches(shown, max_words=self._max_words))
        found = await asyncio.gather(*(self._read(batch, folded) for batch in batches), return_exceptions=True)
        extractions = []
        for outcome in found:
            if isinstance(outcome, BaseException):
                raise outcome
            extractions.append(outcome)
        return combine(*extractions)

    async def _read(self, batch: Sequence[Chunk], folded: Mapping[str, str]) -> Extraction:
        chunks = {f"C{number}": chunk for number, chunk in enumerate(batch, start=1)}
        try:
            graph, _ = await ask_json(self._model, _request(chunks), FoundGraph)
        except ModelReplyError as error:
            _log.warning("left out %d chunks (%s to %s): %s", len(batch), batch[0].id, batch[-1].id, error)
            return Extraction(entities=(), relations=())
        grounded = ground(graph, chunks=chunks, folded=folded)
        if grounded.dropped:
            _log.info("dropped %d statements about %s that do not stand there", grounded.dropped, batch[0].id)
        return grounded.extraction


def _batches(chunks: Sequence[Chunk], *, max_words: int) -> Iterator[list[Chunk]]:
    batch: list[Chunk] = []
    words = 0
    for chunk in chunks:
        length = len(chunk.text.split())
        if batch and words + length > max_words:
            yield batch
            batch, words = [], 0
        batch.append(chunk)
        words += length
    if batch:
        yield batch


def _request(chunks: Mapping[str, Chunk]) -> ModelRequest:
    """The prompt, with each chunk between lines that its own text can't hold: they carry a hash of all texts."""
    mark = hashlib.sha256("\0".join(chunk.text for chunk in chunks.values()).encode()).hexdigest()[:16]
    passages = "\n\n".join(_passage(name, chunk, mark) for name, chunk in chunks.items())
    system, user = prompts.load("extract_entities", placeholders=_PLACEHOLDERS).fill(
        types=", ".join(get_args(TermType)),
        kinds=", ".join(get_args(ModelRelationKind)),
        mark=mark,
        passages=passages,
    )
    return ModelRequest(
        messages=(Message(role="system", text=system), Message(role="user", text=user)), schema_name="entities"
    )


def _passage(name: str, chunk: Chunk, mark: str) -> str:
    section = f"[section: {chunk.section}]\n" if chunk.section else ""
    return f"<<<{name} {mark}\n{section}{chunk.text}\n{name} {mark}>>>"
