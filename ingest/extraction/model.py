"""The extractor that asks a language model, several chunks a call, and believes only what it can check."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

import prompts
from ingest.element_text import element_text, table_outline
from ingest.extraction.folded import FoldedText
from ingest.extraction.grounding import FoundGraph, Grounding, graph_adapter
from ingest.extraction.kinds import ModelRelationKind
from ingest.extraction.merge import combine
from ingest.extraction.packing import pack
from ingest.extraction.type_system import TypeSystem
from paperscope.errors import ModelError, ModelReplyError
from paperscope.models.structured import ask_json
from paperscope.protocols import LanguageModel
from paperscope.types import Chunk, Extraction, Message, ModelRequest, Paper, Reference, Shortfall, Table, UnreadChunk

__all__ = ["ModelExtractor"]

_PLACEHOLDERS = frozenset({"types", "kinds", "mark", "passages"})
_MORE = (
    "Some may have been missed. List the entities and relations that these passages also state, by the same rules, "
    "without those above; leave the lists empty where there are none."
)


class ModelExtractor:
    """Asks `model` for the entities and relations of chunks, those of near sections packed up to `max_tokens` a call.

    `gleanings` is how often it is asked whether something was missed. All calls are made at once; limits are a
    wrapper's business. A call that fails leaves its chunks unread, which the extraction's shortfall names, as it
    counts what does not stand in its chunk.
    """

    def __init__(
        self, model: LanguageModel, *, types: TypeSystem | None = None, max_tokens: int = 2500, gleanings: int = 0
    ) -> None:
        self._model = model
        self._types = types or TypeSystem()
        self._adapter = graph_adapter(self._types)
        self._max_tokens = max_tokens
        self._gleanings = gleanings

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """The paper's entities and relations as far as the model finds them; the bibliography is not shown to it.

        Raises the `ModelError` of an endpoint that gave no reply at all. Whatever is raised, the calls under way have
        ended before, so that a cache keeps what was paid.
        """
        elements = {element.id: FoldedText.of(element_text(element)) for element in paper.elements}
        cited = {element.id for element in paper.elements if isinstance(element, Reference)}
        tables = {element.id: element for element in paper.elements if isinstance(element, Table)}
        shown = [_shown(chunk, tables) for chunk in chunks if cited.isdisjoint(chunk.elements)]
        packs = list(pack(shown, max_tokens=self._max_tokens))
        found = await asyncio.gather(*(self._read(one, elements) for one in packs), return_exceptions=True)
        return combine(*_outcomes(packs, found), types=self._types)

    async def _read(self, chunks: Sequence[Chunk], elements: Mapping[str, FoldedText]) -> Extraction:
        named = {f"C{number}": chunk for number, chunk in enumerate(chunks, start=1)}
        grounding = Grounding(chunks=named, elements=elements, types=self._types)
        request = _request(named, self._types)
        graph = await self._ask(request)
        parts = [grounding.check(graph)]
        for _ in range(self._gleanings):
            said = Message(role="assistant", text=graph.model_dump_json())
            request = replace(request, messages=(*request.messages, said, Message(role="user", text=_MORE)))
            try:
                graph = await self._ask(request)
            except ModelError as error:
                parts.append(_unread(chunks, error))
                break
            parts.append(grounding.check(graph))
        return combine(*parts, types=self._types)

    async def _ask(self, request: ModelRequest) -> FoundGraph:
        graph, _ = await ask_json(self._model, request, self._adapter)
        return graph


def _shown(chunk: Chunk, tables: Mapping[str, Table]) -> Chunk:
    """The chunk without the numbers of its tables, which become relations without a model's help."""
    text = chunk.text
    for table in (tables[element] for element in chunk.elements if element in tables):
        text = text.replace(element_text(table).strip(), table_outline(table).strip())
    return replace(chunk, text=text)


def _outcomes(packs: Sequence[Sequence[Chunk]], found: Sequence[Extraction | BaseException]) -> Iterator[Extraction]:
    errors = [outcome for outcome in found if isinstance(outcome, BaseException)]
    stopped = [error for error in errors if not isinstance(error, ModelError)]
    silent = [error for error in errors if not isinstance(error, ModelReplyError)]
    if stopped or (errors and len(silent) == len(packs)):
        raise (stopped or silent)[0]
    for chunks, outcome in zip(packs, found, strict=True):
        if isinstance(outcome, ModelError):
            yield _unread(chunks, outcome)
        elif isinstance(outcome, Extraction):
            yield outcome


def _unread(chunks: Sequence[Chunk], error: ModelError) -> Extraction:
    unread = tuple(UnreadChunk(chunk=chunk.id, reason=error.public) for chunk in chunks)
    return Extraction(entities=(), relations=(), shortfall=Shortfall(unread=unread))


def _request(chunks: Mapping[str, Chunk], types: TypeSystem) -> ModelRequest:
    """The prompt, with each chunk between lines that its own text can't hold: they carry a hash of all texts."""
    mark = hashlib.sha256("\0".join(chunk.text for chunk in chunks.values()).encode()).hexdigest()[:16]
    system, user = prompts.load("extract_entities", placeholders=_PLACEHOLDERS).fill(
        types="\n".join(f"  - {name}: {meaning}" for name, meaning in types.meanings.items()),
        kinds=", ".join(get_args(ModelRelationKind)),
        mark=mark,
        passages="\n\n".join(_passage(name, chunk, mark) for name, chunk in chunks.items()),
    )
    return ModelRequest(
        messages=(Message(role="system", text=system), Message(role="user", text=user)), schema_name="entities"
    )


def _passage(name: str, chunk: Chunk, mark: str) -> str:
    section = f"[section: {chunk.section}]\n" if chunk.section else ""
    return f"<<<{name} {mark}\n{section}{chunk.text}\n{name} {mark}>>>"
