"""The graph suite: entities, relations and acronyms against gold, and graphs of real papers by themselves."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.gold.files import file_hash, separate_errors
from evaluation.gold.graphs import GoldAcronyms, GoldExpansion, GoldGraph, GraphGold, read_graph_gold
from evaluation.gold.text_papers import text_paper
from evaluation.graph.quality import name_keys, score_floats, score_graph, score_grounding, score_library
from evaluation.graph.scoring import EntityMatches, score_entities, score_relations, score_results
from evaluation.libraries import BuiltLibrary, Libraries
from evaluation.metrics.sets import set_overlap
from evaluation.score import Miss, Score, Tally
from evaluation.suite import Loaded, Request, SuiteItem, select_items
from graph_store import Store
from ingest import chunk_paper, extractor_for
from paperscope_core.codec import to_json
from paperscope_core.errors import GoldFileError, PaperFileError, SettingsError
from paperscope_core.models import build_models
from paperscope_core.protocols import EntityExtractor
from paperscope_core.settings import ExtractSettings, Settings
from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.words import entity_key
from paperscope_core.types import IndexedPaper, content_hash

__all__ = ["AcronymItem", "DocumentItem", "ExpansionItem", "GraphSuite", "LibraryItem", "PaperItem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AcronymItem:
    """The forms of one sentence, each once."""

    gold: GoldAcronyms

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold."""
        return content_hash(to_json(self.gold).encode())

    def score(self) -> Score:
        """acronyms.short and acronyms.long: the gold's forms compared with those of the definitions found.

        The gold also marks short forms that their sentence doesn't define, which we don't extract;
        acronyms.short.defined is the recall on sentences with a marked long form.
        """
        found = list(find_definitions(self.gold.text))
        gold = {"short": set(map(entity_key, self.gold.shorts)), "long": set(map(entity_key, self.gold.longs))}
        ours = {
            "short": {entity_key(definition.short) for definition in found},
            "long": {entity_key(definition.long) for definition in found},
        }
        tallies: dict[str, Tally] = {}
        misses = []
        for kind, forms in gold.items():
            tallies |= {f"acronyms.{kind}.{name}": tally for name, tally in set_overlap(forms, ours[kind]).items()}
            if kind == "long" or gold["long"]:
                misses += [
                    _miss(f"acronyms.{kind}.recall", self.gold.text, gold=form) for form in sorted(forms - ours[kind])
                ]
            misses += [
                _miss(f"acronyms.{kind}.precision", self.gold.text, got=form) for form in sorted(ours[kind] - forms)
            ]
        if gold["long"]:
            tallies["acronyms.short.defined"] = Tally(
                right=len(gold["short"] & ours["short"]), total=len(gold["short"])
            )
        return Score(tallies=tallies, misses=tuple(misses))


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpansionItem:
    """The meaning of one short form."""

    gold: GoldExpansion

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold."""
        return content_hash(to_json(self.gold).encode())

    def score(self) -> Score:
        """expansions.defined: whether we find a definition of the short form in the sentence; expansions.right: of
        those, the expansions that equal the gold's (see `name_keys`)."""
        keys = name_keys(self.gold.short)
        longs = [found.long for found in find_definitions(self.gold.text) if name_keys(found.short) & keys]
        tallies = {"expansions.defined": Tally(right=bool(longs), total=1)}
        misses = []
        if longs:
            right = any(name_keys(long) & name_keys(self.gold.long) for long in longs)
            tallies["expansions.right"] = Tally(right=right, total=1)
            if not right:
                got = " | ".join(longs)
                misses.append(Miss(metric="expansions.right", what=self.gold.short, gold=self.gold.long, got=got))
        return Score(tallies=tallies, misses=tuple(misses))


def _miss(metric: str, text: str, *, gold: str = "", got: str = "") -> Miss:
    return Miss(metric=metric, what=text, gold=gold, got=got)


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentItem:
    """A gold document that the extractor reads like a paper."""

    gold: GoldGraph
    extractor: EntityExtractor
    max_words: int

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold."""
        return content_hash(to_json(self.gold).encode())

    def score(self) -> Score:
        """Raises ModelError if a model fails."""
        started = time.perf_counter()
        paper = text_paper(self.gold.name, title="", sections=self.gold.sections, with_headings=True)
        chunks = chunk_paper(paper, max_words=self.max_words)
        extraction = asyncio.run(self.extractor.extract(paper, chunks))
        seconds = Score(tallies={"seconds.extraction": Tally(right=time.perf_counter() - started, total=1)})
        matches = EntityMatches(gold=self.gold, extraction=extraction)
        score = score_entities(matches)
        if self.gold.relations is not None:
            score += score_relations(matches, self.gold.relations)
        if self.gold.results is not None:
            score += score_results(matches, self.gold.results)
        return score + seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperItem:
    """A real paper in its own library."""

    name: str
    file: Path
    libraries: Libraries

    @property
    def fingerprint(self) -> str:
        """A hash of the file."""
        return file_hash(self.file)

    def score(self) -> Score:
        """Raises PaperFileError if the paper can't be added, and ModelError."""
        built = self.libraries.of_files([self.file])
        if built.problems:
            raise PaperFileError("; ".join(built.problems.values()))
        [indexed] = _indexed(self.libraries, built)
        return score_graph(indexed) + score_floats(indexed) + score_grounding(indexed.paper, indexed.extraction)


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryItem:
    """One library of all the papers. Those that can't be added are omitted; their own items report why."""

    files: Sequence[Path]
    libraries: Libraries
    name: str = "library/all"

    @property
    def fingerprint(self) -> str:
        """A hash of the files."""
        return " ".join(map(file_hash, self.files))

    def score(self) -> Score:
        """Raises ModelError."""
        built = self.libraries.of_files(self.files)
        papers = _indexed(self.libraries, built)
        store = self.libraries.store(built)
        papers_of = Counter(node for indexed in papers for node in _nodes(store, indexed))
        merged = store.entities(sorted(papers_of))
        return score_library(merged, papers_of, papers)


def _indexed(libraries: Libraries, built: BuiltLibrary) -> list[IndexedPaper]:
    store = libraries.store(built)
    return [store.indexed(paper) for paper in dict.fromkeys(built.ids.values())]


def _nodes(store: Store, indexed: IndexedPaper) -> set[str]:
    """The ids in the library of a paper's entities."""
    own = [entity.id for entity in indexed.extraction.entities]
    return {node for nodes in store.nodes_of(own, papers=[indexed.paper.id]).values() for node in nodes}


class GraphSuite:
    """Implements `Suite`; its modes are the extractors: rules alone, or rules and the configured model."""

    name = "graph"
    modes: tuple[str, ...] = ("local", "model")
    headline = (
        "entities.f1",
        "entities.partial.f1",
        "relations.recall",
        "salient.recall",
        "acronyms.long.f1",
        "expansions.right",
        "graph.duplicates",
        "library.duplicates",
        "grounded.entities",
        "grounded.relations",
        "floats.linked",
    )

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError if mode "model" has no configured model."""
        settings = _settings(request)
        gold: list[GraphGold]
        gold, bad = separate_errors(read_graph_gold(request.data))
        with ExitStack() as stack:
            extractor = _extractor(settings, request.work, stack)
            items: list[SuiteItem] = [_item(entry, extractor, settings) for entry in gold]
            items += _papers(request.data, stack.enter_context(Libraries(request.work / "libraries", settings)))
            if not items and not bad:
                raise GoldFileError(
                    f"{request.data}: nothing to score here; name a folder with eval/kg_scierc.jsonl or papers/*.pdf"
                )
            yield Loaded(items=select_items(items, request), bad=bad)


def _settings(request: Request) -> Settings:
    if request.mode == "local":
        return request.settings.model_copy(update={"extract": ExtractSettings()})
    if not request.settings.extract.configured:
        raise SettingsError(
            "mode 'model' needs a model that extracts: set PAPERSCOPE_EXTRACT__MODEL, or take --mode local"
        )
    return request.settings


def _extractor(settings: Settings, work: Path, stack: ExitStack) -> EntityExtractor:
    """The extractor of a mode. Replies of a model are cached below `work`, so that a rerun doesn't pay twice."""
    if not settings.extract.configured:
        return extractor_for(None)
    store = stack.enter_context(closing(Store.open(work / "calls")))
    return extractor_for(build_models(settings, cache=store).extract, settings.extract)


def _item(entry: GraphGold, extractor: EntityExtractor, settings: Settings) -> SuiteItem:
    match entry:
        case GoldGraph():
            return DocumentItem(gold=entry, extractor=extractor, max_words=settings.chunking.max_words)
        case GoldAcronyms():
            return AcronymItem(gold=entry)
        case GoldExpansion():
            return ExpansionItem(gold=entry)


def _papers(data: Path, libraries: Libraries) -> list[SuiteItem]:
    """One item per PDF, and one for the library of all of them if there are several."""
    folder = data / "papers"
    files = sorted(folder.rglob("*.pdf"))
    items: list[SuiteItem] = [
        PaperItem(name=f"papers/{file.relative_to(folder).with_suffix('')}", file=file, libraries=libraries)
        for file in files
    ]
    return [*items, LibraryItem(files=files, libraries=libraries)] if len(files) > 1 else items
