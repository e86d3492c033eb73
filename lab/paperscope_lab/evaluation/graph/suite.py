"""The graph suite: entities, relations and acronyms against gold, and graphs of real papers by themselves."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from graph_store import Store
from ingest.chunking import chunk_paper
from ingest.extraction import extractor_for
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.models import build_models
from paperscope_core.protocols import EntityExtractor
from paperscope_core.settings import ExtractSettings, Settings
from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.words import entity_key
from paperscope_core.types import IndexedPaper
from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.gold.graphs import GoldAcronyms, GoldExpansion, GoldGraph, GraphGold, read_graph_gold
from paperscope_lab.evaluation.gold.text_papers import text_paper
from paperscope_lab.evaluation.graph.quality import name_keys, score_floats, score_graph, score_grounding, score_library
from paperscope_lab.evaluation.graph.scoring import EntityMatches, score_entities, score_relations
from paperscope_lab.evaluation.libraries import BuiltLibrary, Libraries
from paperscope_lab.evaluation.metrics.sets import set_overlap
from paperscope_lab.evaluation.score import Miss, Score, Tally, score_checks
from paperscope_lab.evaluation.suite import Item, Loaded, Request, Suite

__all__ = ["SUITE", "open_extractor", "score_acronyms", "score_document", "score_expansion"]


def score_acronyms(gold: GoldAcronyms) -> Score:
    """acronyms.short and acronyms.long: the distinct forms of a sentence compared with those of the definitions found.

    The gold also marks short forms that their sentence doesn't define, which we don't extract; acronyms.short.defined
    is the recall on sentences with a marked long form.
    """
    found = list(find_definitions(gold.text))
    tallies: dict[str, Tally] = {}
    misses = []
    for kind, marked, ours in (
        ("short", set(map(entity_key, gold.shorts)), {entity_key(definition.short) for definition in found}),
        ("long", set(map(entity_key, gold.longs)), {entity_key(definition.long) for definition in found}),
    ):
        metric = f"acronyms.{kind}"
        tallies |= {f"{metric}.{name}": tally for name, tally in set_overlap(marked, ours).items()}
        if gold.longs:
            misses += [Miss(metric=f"{metric}.recall", what=gold.text, gold=form) for form in sorted(marked - ours)]
        misses += [
            Miss(metric=f"{metric}.precision", what=gold.text, gold="", got=form) for form in sorted(ours - marked)
        ]
    if gold.longs:
        tallies["acronyms.short.defined"] = tallies["acronyms.short.recall"]
    return Score(tallies=tallies, misses=tuple(misses))


def score_expansion(gold: GoldExpansion) -> Score:
    """expansions.defined: whether we find a definition of the short form in the sentence; expansions.right: of those,
    the expansions that equal the gold's (see `name_keys`)."""
    keys = name_keys(gold.short)
    longs = [found.long for found in find_definitions(gold.text) if name_keys(found.short) & keys]
    score = Score(tallies={"expansions.defined": Tally(right=bool(longs), total=1)})
    if not longs:
        return score
    right = {"expansions.right": any(name_keys(long) & name_keys(gold.long) for long in longs)}
    return score + score_checks(right, what=gold.short, gold=gold.long, got=" | ".join(longs))


def score_document(gold: GoldGraph, extractor: EntityExtractor) -> Score:
    """Let the extractor read a gold document like a paper. Raises ModelError if a model fails."""
    started = time.perf_counter()
    paper = text_paper(gold.name, title="", sections=gold.sections, with_headings=True)
    extraction = asyncio.run(extractor.extract(paper, chunk_paper(paper)))
    seconds = Score(tallies={"seconds.extraction": Tally(right=time.perf_counter() - started, total=1)})
    matches = EntityMatches(gold=gold, extraction=extraction)
    score = score_entities(matches)
    if gold.relations is not None:
        score += score_relations(matches, gold.relations)
    return score + seconds


def _score_paper(file: Path, libraries: Libraries) -> Score:
    """Add a paper to its own library. Raises PaperFileError if it can't be added, and ModelError."""
    built = libraries.of_files([file])
    if built.problems:
        raise PaperFileError("; ".join(built.problems.values()))
    [indexed] = _indexed(libraries, built)
    return score_graph(indexed) + score_floats(indexed) + score_grounding(indexed.paper, indexed.extraction)


def _score_library(files: Sequence[Path], libraries: Libraries) -> Score:
    """Add all papers to one library. Those that can't be added are omitted; their own items report why.

    Raises ModelError.
    """
    built = libraries.of_files(files)
    papers = _indexed(libraries, built)
    store = libraries.store(built)
    papers_of = Counter(node for indexed in papers for node in _nodes(store, indexed))
    return score_library(store.entities(sorted(papers_of)), papers_of, papers)


def _indexed(libraries: Libraries, built: BuiltLibrary) -> list[IndexedPaper]:
    store = libraries.store(built)
    return [store.indexed(paper) for paper in dict.fromkeys(built.ids.values())]


def _nodes(store: Store, indexed: IndexedPaper) -> set[str]:
    """Return the ids in the library of a paper's entities."""
    own = [entity.id for entity in indexed.extraction.entities]
    return {node for nodes in store.library_ids(own, papers=[indexed.paper.id]).values() for node in nodes}


def open_extractor(request: Request, stack: ExitStack) -> tuple[Settings, EntityExtractor]:
    """Return the settings and the extractor of a mode: the local one alone, or it and the configured model.

    Replies of the model are cached below `work`, so that a rerun doesn't pay twice. Raises SettingsError if mode
    "model" has no model.
    """
    if request.mode == "local":
        extract = ExtractSettings(recognizer=request.settings.extract.recognizer)
        return request.settings.model_copy(update={"extract": extract}), extractor_for(None, extract)
    settings = request.settings
    if not settings.extract.configured:
        raise SettingsError(
            "mode 'model' needs a model that extracts: set PAPERSCOPE_EXTRACT__MODEL, or take --mode local"
        )
    store = stack.enter_context(closing(Store.open(request.work / "calls")))
    return settings, extractor_for(build_models(settings, cache=store).extract, settings.extract)


def _load(request: Request, stack: ExitStack) -> Loaded:
    settings, extractor = open_extractor(request, stack)

    def score(entry: GraphGold) -> Score:
        match entry:
            case GoldGraph():
                return score_document(entry, extractor)
            case GoldAcronyms():
                return score_acronyms(entry)
            case GoldExpansion():
                return score_expansion(entry)

    gold: list[GraphGold]
    gold, bad = separate_errors(read_graph_gold(request.data))
    items = [Item(name=entry.name, score=partial(score, entry), gold=entry) for entry in gold]
    libraries = stack.enter_context(Libraries(request.work / "libraries", settings))
    return Loaded(items=[*items, *_papers(request.data / "papers", libraries)], bad=bad)


def _papers(folder: Path, libraries: Libraries) -> Iterator[Item]:
    """Yield one item per PDF, and one for the library of all of them if there are several."""
    files = sorted(folder.rglob("*.pdf"))
    for file in files:
        name = f"papers/{file.relative_to(folder).with_suffix('')}"
        yield Item(name=name, score=partial(_score_paper, file, libraries), files=(file,))
    if len(files) > 1:
        yield Item(name="library/all", score=partial(_score_library, files, libraries), files=files)


SUITE = Suite(
    name="graph",
    modes=("local", "model"),
    headline=(
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
    ),
    load=_load,
    missing="nothing to score here; name a folder with eval/kg_scierc.jsonl or papers/*.pdf",
)
