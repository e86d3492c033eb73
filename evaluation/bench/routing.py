"""`bench routing`: the calls that `extract.route_below` saves, and what they would have found.

No model is asked. Its replies are the gold names of a chunk, of which a share is lost or ends a word too late.
"""

import argparse
import asyncio
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluation.bench.common import add_out, print_page, write_figures
from evaluation.gold.files import separate_errors
from evaluation.gold.graphs import GoldGraph, read_graph_gold
from evaluation.gold.text_papers import text_paper
from evaluation.graph.scoring import SCHEMES, EntityMatches, score_entities
from evaluation.rendering import table
from evaluation.score import Score
from ingest.chunking import chunk_paper
from ingest.extraction import LocalExtractor, ModelExtractor, ResolvingExtractor, TypeSystem, combine
from ingest.extraction.cooccurrence import link_isolated_entities
from ingest.extraction.mentions import FoldedText
from ingest.extraction.recognized import texts_to_recognize, uncertain_chunks
from ner.examples import Example
from ner.loading import papers_recognizer
from ner.recognizer import Recognizer
from paperscope_core.errors import InputError
from paperscope_core.models import FakeModel
from paperscope_core.settings import ChunkingSettings
from paperscope_core.types import Chunk, Extraction, ModelRequest, Paper

__all__ = ["DESCRIPTION", "HELP", "Document", "Routed", "add_options", "choose", "documents", "measure", "run"]

HELP = "the calls that extract.route_below saves at equal F1"
DESCRIPTION = (
    "Extracts from gold papers by the local extractor and a model that reads all chunks, or only those below a "
    "confidence of the recognizer. The model replies with the gold, of which --wrong is lost or ends a word too late; "
    "no model is asked. The limit is chosen on every second paper, and scored on the others."
)
_LIMITS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7)
# How much F1 may fall to count as equal: about half of the difference that the installed recognizer made.
_EQUAL = 0.005
_PASSAGE = re.compile(r"<<<(C\d+) \w+\n(?:\[section: [^\n]*\]\n)?(.*?)\n\1 \w+>>>", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A gold paper: its chunks, what the local extractor finds, and the chunks below each limit."""

    gold: GoldGraph
    paper: Paper
    chunks: tuple[Chunk, ...]
    local: Extraction
    below: Mapping[float, Sequence[Chunk]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Routed:
    """What papers cost and gain with a limit (1: all chunks; 0: none).

    Attributes:
        limit: The limit.
        f1: F1 of entities.
        chunks: The share of chunks that the model reads.
        calls: The number of calls.
    """

    limit: float
    f1: float
    chunks: float
    calls: int


def add_options(routing: argparse.ArgumentParser) -> None:
    """Adds the options of `routing`."""
    routing.add_argument("--data", type=Path, required=True, metavar="DIR", help="a folder with eval/kg_scier.jsonl")
    routing.add_argument("--set", default="scier", choices=sorted(SCHEMES), help="the gold papers (default: scier)")
    routing.add_argument(
        "--wrong", type=float, nargs="+", default=[0.0, 0.3, 0.5], metavar="SHARE", help="shares of wrong names"
    )
    add_out(routing)


def run(options: argparse.Namespace) -> int:
    """Returns 0. Raises InputError if there are no papers, and ModelError."""
    papers = list(documents(options.data, options.set, papers_recognizer()))
    if not papers:
        raise InputError(f"no papers of {options.set!r} in {options.data}; name a folder with eval/ in it")
    figures: dict[str, list[Routed]] = {}
    rows = []
    for wrong in options.wrong:
        limit = choose(papers[::2], wrong=wrong)
        others = papers[1::2] or papers
        none, everything, routed = found = [measure(others, one, wrong=wrong) for one in (0.0, 1.0, limit)]
        drawn = measure(others, limit, wrong=wrong, by_chance=True)
        figures[f"{wrong:g}"] = [*found, drawn]
        rows.append(
            [
                f"{wrong:.0%}",
                f"{none.f1:.3f}",
                f"{everything.f1:.3f}",
                f"{limit:g}",
                f"{routed.f1:.3f}",
                f"{drawn.f1:.3f}",
                f"{routed.chunks:.0%}",
                f"{routed.calls} of {everything.calls}",
            ]
        )
    headers = ["wrong names", "F1 without", "F1 everywhere", "limit", "F1 routed", "by chance", "chunks read", "calls"]
    print_page([f"{len(papers)} papers of {options.set}", "", *table(headers, rows, texts=0)])
    write_figures(options.out, {"set": options.set, "wrong": figures})
    return 0


def documents(
    data: Path, name: str, recognizer: Recognizer, *, max_words: int = ChunkingSettings().max_words
) -> Iterator[Document]:
    """Yields the gold papers of a set, as the product's extractor reads them."""
    gold, _ = separate_errors(read_graph_gold(data))
    for one in gold:
        if isinstance(one, GoldGraph) and one.scheme == name:
            yield asyncio.run(_read(one, recognizer, max_words))


async def _read(gold: GoldGraph, recognizer: Recognizer, max_words: int) -> Document:
    paper = text_paper(gold.name, title="", sections=gold.sections, with_headings=True)
    chunks = chunk_paper(paper, max_words=max_words)
    found = await recognizer.recognize(texts_to_recognize(paper))
    remembering = _Remembering(recognizer)
    return Document(
        gold=gold,
        paper=paper,
        chunks=chunks,
        local=await LocalExtractor().extract(paper, chunks, found),
        below={limit: await uncertain_chunks(chunks, remembering, below=limit) for limit in _LIMITS},
    )


class _Remembering:
    """Recognizes the same texts once."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.name = recognizer.name
        self._recognizer = recognizer
        self._found: dict[tuple[Example, ...], list[Example]] = {}

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        key = tuple(examples)
        if key not in self._found:
            self._found[key] = await self._recognizer.recognize(examples)
        return self._found[key]


def choose(papers: Sequence[Document], *, wrong: float) -> float:
    """The lowest limit with the F1 of asking everywhere, or 1: ask everywhere."""
    goal = measure(papers, 1.0, wrong=wrong).f1 - _EQUAL
    return next((limit for limit in _LIMITS if measure(papers, limit, wrong=wrong).f1 >= goal), 1.0)


def measure(papers: Sequence[Document], limit: float, *, wrong: float, by_chance: bool = False) -> Routed:
    """Extract with a model that reads the chunks below a limit (1: all; 0: none).

    Args:
        papers: The papers.
        limit: One of the limits that the papers were read with, 0 or 1.
        wrong: The share of the model's names that are wrong.
        by_chance: Whether as many chunks are drawn by chance in place of these.
    """
    read = [{0.0: (), 1.0: paper.chunks}.get(limit, paper.below.get(limit, ())) for paper in papers]
    if by_chance:
        read = [sorted(paper.chunks, key=_order)[: len(chunks)] for paper, chunks in zip(papers, read, strict=True)]
    f1, calls = _f1_and_calls(papers, read, wrong)
    share = sum(map(len, read)) / sum(len(paper.chunks) for paper in papers)
    return Routed(limit=limit, f1=f1, chunks=share, calls=calls)


def _order(chunk: Chunk) -> float:
    return _chance(chunk.id)


def _chance(*key: str) -> float:
    """A number in [0, 1) that is the same for the same key."""
    return int.from_bytes(hashlib.sha256("\0".join(key).encode()).digest()[:8]) / 2**64


def _f1_and_calls(papers: Sequence[Document], read: Sequence[Sequence[Chunk]], wrong: float) -> tuple[float, int]:
    score, calls = Score(), 0
    for paper, chunks in zip(papers, read, strict=True):
        model = FakeModel(partial(_reply, paper=paper, wrong=wrong))
        score += _score(paper, asyncio.run(ModelExtractor(model).extract(paper.paper, chunks)))
        calls += len(model.requests)
    precision, recall = (score.tallies[f"entities.{name}"] for name in ("precision", "recall"))
    p, r = (one.right / max(one.total, 1) for one in (precision, recall))
    return 2 * p * r / max(p + r, 1e-9), calls


def _score(paper: Document, of_model: Extraction) -> Score:
    async def both(_paper: Paper, _chunks: Sequence[Chunk]) -> Extraction:
        types = TypeSystem()
        return link_isolated_entities(paper.paper, combine(paper.local, of_model, types=types), types=types)

    extraction = asyncio.run(ResolvingExtractor(both, None).extract(paper.paper, paper.chunks))
    return score_entities(EntityMatches(gold=paper.gold, extraction=extraction))


def _reply(request: ModelRequest, *, paper: Document, wrong: float) -> str:
    entities = [
        {"chunk": name, "mention": mention, "type": "method", "description": "It is named."}
        for name, text in _PASSAGE.findall(request.messages[-1].text)
        for mention in _mentions(paper.gold, text, wrong)
    ]
    return json.dumps({"entities": entities, "relations": []})


def _mentions(gold: GoldGraph, text: str, wrong: float) -> Iterator[str]:
    folded = FoldedText.of(text)
    for form in (form for entity in gold.entities if not entity.generic for form in entity.forms):
        place, chance = folded.find(form), _chance(text, form)
        if place is None or chance < wrong / 2:
            continue
        late = re.compile(r"\w+").search(text, place[1]) if chance < wrong else None
        yield text[place[0] : late.end() if late else place[1]]
