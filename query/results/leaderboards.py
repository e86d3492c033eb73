"""Leaderboards: the results of all papers by dataset and metric, the best first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from paperscope_core.cancellation import check_cancelled
from paperscope_core.errors import UnknownPaperError
from paperscope_core.protocols import Corpus
from paperscope_core.text.escaping import spreadsheet_csv
from paperscope_core.text.words import entity_key
from query.question.paper_names import citation_names
from query.results.result_cells import Direction, Result, paper_results

__all__ = ["Leaderboard", "leaderboards", "results_csv"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaderboard:
    """The results of a dataset and metric.

    Attributes:
        better: Which values are the best ones, by most of the tables; "" if none tells, and the highest values come
            first.
        results: The results, the best first.
        disagreements: Results of one method in one setting whose values differ. Which one is right, and whether the
            papers measured the same, is for the reader to say.
    """

    dataset: str
    metric: str
    better: Direction
    results: tuple[Result, ...]
    disagreements: tuple[tuple[Result, ...], ...]


def leaderboards(corpus: Corpus, *, dataset: str = "", metric: str = "", task: str = "") -> list[Leaderboard]:
    """Return the leaderboards of a library, those with the most results first.

    Args:
        corpus: The library.
        dataset: Only datasets with these words in their names, as their papers spell them; "" for all.
        metric: Only such metrics.
        task: Only such tasks.
    """
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for paper, name in citation_names(corpus.entries()).items():
        check_cancelled()
        # A paper may be removed in the meantime.
        with suppress(UnknownPaperError):
            for one in paper_results(corpus, corpus.paper(paper), name=name):
                groups[one.dataset_id, one.metric_id].append(one)
    names = corpus.entities(list({name for key in groups for name in key}))
    spelled = {key: (entity.name, *entity.aliases) for key, entity in names.items()}
    wanted = [
        key
        for key in groups
        if spelled.keys() >= {*key} and _has_words(spelled[key[0]], dataset) and _has_words(spelled[key[1]], metric)
    ]
    boards = [_leaderboard(groups[key], [spelled[one][0] for one in key]) for key in wanted]
    kept = [board for board in boards if any(_has_words((one.task,), task) for one in board.results)]
    return sorted(kept, key=lambda board: -len(board.results))


def _has_words(names: Sequence[str], text: str) -> bool:
    return not text or any(f" {entity_key(text)} " in f" {entity_key(name)} " for name in names)


def _leaderboard(results: Sequence[Result], names: Sequence[str]) -> Leaderboard:
    votes = Counter(one.better for one in results if one.better)
    better: Direction = votes.most_common(1)[0][0] if votes else ""
    ordered = sorted(results, key=lambda one: one.value, reverse=better != "lower")
    return Leaderboard(
        dataset=names[0],
        metric=names[1],
        better=better,
        results=tuple(ordered),
        disagreements=tuple(_disagreements(results)),
    )


def _disagreements(results: Sequence[Result]) -> Iterable[tuple[Result, ...]]:
    """Yield the results of one method and setting in several tables, if their values differ by more than rounding."""
    same: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for one in results:
        same[one.method_id, entity_key(one.setting), one.unit].append(one)
    for found in same.values():
        by_table: Mapping[str, Result] = {one.evidence.element: one for one in reversed(found)}
        # As many decimals as all of them have.
        decimals = min(max(0, -int(one.value.as_tuple().exponent)) for one in found)
        if len(by_table) == len(found) > 1 and len({round(one.value, decimals) for one in found}) > 1:
            yield tuple(found)


def results_csv(boards: Iterable[Leaderboard]) -> str:
    """Return the results as CSV (RFC 4180), a row each with its place."""
    head = "task dataset metric setting method value unit spread paper element page x0 y0 x1 y1".split()
    rows = [
        (*(one.task, one.dataset, one.metric, one.setting, one.method, one.value, one.unit, one.spread), *_where(one))
        for board in boards
        for one in board.results
    ]
    return spreadsheet_csv([head, *rows])


def _where(result: Result) -> tuple[object, ...]:
    place = result.evidence.place
    return (place.paper, result.evidence.element, place.page, *place.box)
