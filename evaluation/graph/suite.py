"""The graph suite: entities, relations and acronyms against gold, and the graphs of real papers by themselves."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from pathlib import Path

from evaluation.choosing import chosen
from evaluation.gold.acronyms import GoldAcronyms, GoldExpansion, gold_acronyms, gold_expansions
from evaluation.gold.graphs import GoldGraph
from evaluation.gold.scier import scier_graphs
from evaluation.gold.scierc import scierc_graphs
from evaluation.gold.scirex import scirex_graphs
from evaluation.graph.acronyms import AcronymItem, ExpansionItem
from evaluation.graph.items import DocumentItem, LibraryItem, PaperItem
from evaluation.libraries import Libraries
from evaluation.suite import Loaded, Request, SuiteItem
from graph_store import Store
from ingest import extractor_for
from paperscope_core.errors import GoldFileError, SettingsError
from paperscope_core.models import build_models
from paperscope_core.protocols import EntityExtractor
from paperscope_core.settings import ExtractSettings, Settings

__all__ = ["GraphSuite"]


class GraphSuite:
    """Obeys `Suite`; its modes are the extractors: rules alone, or rules and the model that is set."""

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
        """See `Suite.open`. Raises SettingsError in mode "model" where no model is set."""
        settings = _settings(request)
        gold = list(
            chain(
                scierc_graphs(request.data),
                scier_graphs(request.data),
                scirex_graphs(request.data),
                gold_acronyms(request.data),
                gold_expansions(request.data),
            )
        )
        bad = [entry for entry in gold if isinstance(entry, GoldFileError)]
        with ExitStack() as stack:
            extractor = _extractor(settings, request.work, stack)
            items: list[SuiteItem] = [
                _item(entry, extractor, settings) for entry in gold if not isinstance(entry, GoldFileError)
            ]
            items += _papers(request.data, stack.enter_context(Libraries(request.work / "libraries", settings)))
            if not items and not bad:
                raise GoldFileError(
                    f"{request.data}: nothing to score here; name a folder with eval/kg_scierc.jsonl or papers/*.pdf"
                )
            yield Loaded(items=chosen(items, request), bad=bad)


def _settings(request: Request) -> Settings:
    if request.mode == "local":
        return request.settings.model_copy(update={"extract": ExtractSettings()})
    if not request.settings.extract.configured:
        raise SettingsError(
            "mode 'model' needs a model that extracts: set PAPERSCOPE_EXTRACT__MODEL, or take --mode local"
        )
    return request.settings


def _extractor(settings: Settings, work: Path, stack: ExitStack) -> EntityExtractor:
    """Replies of a model are kept below `work`: run again, nothing is paid twice."""
    if not settings.extract.configured:
        return extractor_for(None)
    store = stack.enter_context(closing(Store.open(work / "calls")))
    return extractor_for(build_models(settings, cache=store).extract, settings.extract)


def _item(entry: GoldGraph | GoldAcronyms | GoldExpansion, extractor: EntityExtractor, settings: Settings) -> SuiteItem:
    match entry:
        case GoldGraph():
            return DocumentItem(gold=entry, extractor=extractor, max_words=settings.chunking.max_words)
        case GoldAcronyms():
            return AcronymItem(gold=entry)
        case GoldExpansion():
            return ExpansionItem(gold=entry)


def _papers(data: Path, libraries: Libraries) -> list[SuiteItem]:
    """An item a PDF, and one for the library of them all, where there are several."""
    folder = data / "papers"
    files = sorted(folder.rglob("*.pdf"))
    items: list[SuiteItem] = [
        PaperItem(name=f"papers/{file.relative_to(folder).with_suffix('')}", file=file, libraries=libraries)
        for file in files
    ]
    return [*items, LibraryItem(files=files, libraries=libraries)] if len(files) > 1 else items
