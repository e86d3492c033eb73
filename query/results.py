"""Results: the values of tables whose headers name a method, a dataset and a metric, and the leaderboards of a library.

What the headers name is told by the types of the graph's entities, and results join across papers by these entities.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from paperscope_core.cancellation import check_cancelled
from paperscope_core.errors import UnknownPaperError
from paperscope_core.protocols import Corpus
from paperscope_core.text.escaping import spreadsheet_csv
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import Entity, Evidence, Paper, Table
from query.extractive.table_index import IndexedCell, index_table
from query.extractive.wording import strip_citations, strip_remark
from query.number_grid import PrintedValue, printed_values, sound_tables
from query.question.paper_names import citation_names

__all__ = ["Leaderboard", "Result", "leaderboards", "results_csv"]

Direction = Literal["higher", "lower", ""]
"""Which values of a metric are the best ones; "" if that is not known."""

_TYPES = ("dataset", "metric", "task")
_MOST_SHOWN = 500
_BETWEEN_WORDS = re.compile(r"[^\w.+-]+|\.(?!\w)")
_UNIT = re.compile(r"\(\s*([^\W\d_]{1,5}(?:/[^\W\d_]{1,5})?|%)\s*\)\s*$")
# What says which values of a column are the best ones.
_ARROWS = "\u2191\u2193 "
# The least number of methods of which a bold value is the best.
_LEAST_COMPARED = 3


# The dataset and metric of values that compare methods, and their column or row.
_Line = tuple[str, str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A value that a paper reports.

    Attributes:
        method: The method, as the library names it; `method_id`, `dataset_id` and `metric_id` are the ids of entities.
        task: The task that the caption or a header names, else "".
        setting: The other headers of the value, such as "dev", and the title of its section; else "".
        value: The printed number without its sign of percent, such as "92.11".
        unit: "%" or the unit in its header, else "".
        spread: What is printed behind the value, such as "±0.3", else "".
        better: Which values are the best ones, by an arrow in a header, or else by the table's bold values.
        evidence: The cell.
        reasons: Why headers and caption are taken for these entities: "dataset OntoNotes5.0: header 'English OntoNotes
            5.0'".
        apart: What in it ("method", "dataset", "metric") is kept apart from the entity of this name in other papers.
        year: The paper's year, None if it is not known.
    """

    method: str
    method_id: str
    dataset: str
    dataset_id: str
    metric: str
    metric_id: str
    task: str
    setting: str
    value: Decimal
    unit: str
    spread: str
    better: Direction
    evidence: Evidence
    reasons: tuple[str, ...]
    apart: tuple[str, ...] = ()
    year: int | None = None


class _ShownEntities:
    """The entities of the graph that a table's headers and caption name."""

    def __init__(self, table: Table, entities: Iterable[Entity]) -> None:
        self._of = {entity_key(name): entity for entity in entities for name in (entity.name, *entity.aliases)}
        caption = f" {entity_key(_BETWEEN_WORDS.sub(' ', table.caption))} "
        named: dict[str, dict[str, Entity]] = defaultdict(dict)
        for key, entity in self._of.items():
            if f" {key} " in caption:
                named[entity.type][entity.id] = entity
        self._in_caption = named

    def of(self, header: str) -> Entity | None:
        """Return the entity that a header names, without its citation, arrow and remark."""
        name = _plain(header)
        names = (header, name, strip_remark(name))
        return next((self._of[key] for name in names if (key := entity_key(name)) in self._of), None)

    def in_caption(self, kind: str) -> Entity | None:
        """Return the entity of a type that the caption names, if it is one."""
        found = self._in_caption.get(kind, {})
        return next(iter(found.values())) if len(found) == 1 else None


def paper_results(corpus: Corpus, paper: Paper, *, name: str) -> Iterator[Result]:
    """Yield the results in the tables of a paper, in reading order.

    A value without a dataset, metric or method is none, and nothing is taken from a grid that may be wrong.

    Args:
        corpus: The library.
        paper: The paper.
        name: What the evidence calls the paper.
    """
    tables = sound_tables(paper)
    limit = _MOST_SHOWN * max(1, len(tables))
    shown: dict[str, list[str]] = defaultdict(list)
    for relation in corpus.relations_of([table.id for table in tables], papers=(paper.id,), limit=limit):
        if relation.kind == "shows":
            shown[relation.source].append(relation.target)
    entities = corpus.entities(list({one for ids in shown.values() for one in ids}), papers=(paper.id,))
    for table in tables:
        own = [entities[one] for one in shown[table.id] if one in entities]
        if {"dataset", "metric"} <= {entity.type for entity in own}:
            yield from _table_results(_ShownEntities(table, own), table, paper_name=name)


def _table_results(shown: _ShownEntities, table: Table, *, paper_name: str) -> list[Result]:
    cells = [one for one in index_table(table).cells if any(character.isdigit() for character in one.text)]
    by_row = _names_methods(shown, [one.row for one in cells])
    by_column = not by_row and _names_methods(shown, [one.column for one in cells])
    found = [result for one in cells if by_row or by_column for result in _result(shown, table, one, by_row=by_row)]
    directions = _directions(found)
    label = table.label or "table"
    return [
        replace(
            one,
            better=one.better or directions[line],
            evidence=replace(one.evidence, name=f"{paper_name}, {label}, {one.evidence.place.where}"),
        )
        for one, _, line in found
    ]


def _names_methods(shown: _ShownEntities, headers: Sequence[Sequence[str]]) -> bool:
    """Return whether most names on a side of the table are of methods; names that are not typed count for neither."""
    names = {texts[-1] for texts in headers if texts}
    types = Counter(entity.type for name in names if (entity := shown.of(name)) is not None)
    return types["method"] * 2 > types.total()


def _result(
    shown: _ShownEntities, table: Table, one: IndexedCell, *, by_row: bool
) -> Iterator[tuple[Result, PrintedValue, _Line]]:
    evidence = Evidence(element=table.id, place=one.cell.place, quote=one.cell.text)
    values = printed_values(one.cell.text, evidence, bold=one.cell.bold)
    sides = (one.row, (*one.section, *one.column)) if by_row else (one.column, (*one.section, *one.row))
    texts, reasons = _by_type(shown, sides[1])
    methods = [text for text in sides[0] if (entity := shown.of(text)) is None or entity.type not in _TYPES]
    if not values or not methods or not {"dataset", "metric"} <= texts.keys() or not any(map(str.isalpha, methods[0])):
        return
    name = _plain(methods[0])
    method = shown.of(name)
    # "RoBERTa (one-shot)" is a RoBERTa in a setting.
    remark = name.removeprefix(strip_remark(name)).strip(" ()") if method and entity_key(name) != method.id else ""
    used = {text for text, _ in texts.values()}
    others = [*filter(None, [remark]), *(_plain(text) for text in (*methods[1:], *sides[1]) if text not in used)]
    arrows = {arrow for text in sides[1] for arrow in text if arrow in _ARROWS.strip()}
    units = [match[1] for text in sides[1] if (match := _UNIT.search(text.rstrip(_ARROWS)))]
    dataset, metric = (texts[kind][1] for kind in ("dataset", "metric"))
    yield (
        Result(
            method=method.name if method else name,
            method_id=method.id if method else entity_key(name),
            dataset=dataset.name,
            dataset_id=dataset.id,
            metric=metric.name,
            metric_id=metric.id,
            task=texts["task"][1].name if "task" in texts else "",
            setting=", ".join(dict.fromkeys(others)),
            value=values[0].value,
            unit="%" if values[0].text.endswith("%") else next(iter(units), ""),
            spread=one.cell.annotation or (one.note.text if one.note else ""),
            better="higher" if arrows == {"\u2191"} else "lower" if arrows == {"\u2193"} else "",
            evidence=evidence,
            reasons=(*reasons, *(_header_reasons(method, methods[0], kind="method") if method else ())),
        ),
        values[0],
        (dataset.id, metric.id, one.cell.column if by_row else one.cell.row),
    )


def _by_type(shown: _ShownEntities, headers: Sequence[str]) -> tuple[Mapping[str, tuple[str, Entity]], tuple[str, ...]]:
    """Return the header of each type, innermost first, with its entity, else that of the caption; and the reasons."""
    found: dict[str, tuple[str, Entity]] = {}
    reasons: list[str] = []
    for text in reversed(headers):
        entity = shown.of(text)
        if entity is not None and entity.type in _TYPES and entity.type not in found:
            found[entity.type] = (text, entity)
            reasons += _header_reasons(entity, text)
    for kind in _TYPES:
        if kind not in found and (entity := shown.in_caption(kind)) is not None:
            found[kind] = ("", entity)
            reasons.append(f"{kind} {entity.name}: the caption names it")
    return found, tuple(reasons)


def _header_reasons(entity: Entity, header: str, *, kind: str = "") -> Iterator[str]:
    yield f"{kind or entity.type} {entity.name}: header {header!r}"
    name = strip_remark(_plain(header))
    if entity_key(entity.name) not in (entity_key(name), entity_key(_plain(header))):
        yield f"{name!r} is another name of {entity.name} in this paper"


def _plain(header: str) -> str:
    return strip_citations(header).strip(_ARROWS)


def _directions(found: Sequence[tuple[Result, PrintedValue, _Line]]) -> Mapping[_Line, Direction]:
    """Return which values of each line are in bold: the highest or the lowest one."""
    lines: dict[_Line, list[PrintedValue]] = defaultdict(list)
    for _, value, line in found:
        lines[line].append(value)
    directions: dict[_Line, Direction] = {}
    for line, values in lines.items():
        bold = {value.value for value in values if value.bold}
        ends = (min(value.value for value in values), max(value.value for value in values))
        marked = [end in bold for end in ends] if len(values) >= _LEAST_COMPARED else []
        directions[line] = "lower" if marked == [True, False] else "higher" if marked == [False, True] else ""
    return directions


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


def leaderboards(
    corpus: Corpus,
    *,
    dataset: str = "",
    metric: str = "",
    task: str = "",
    separations: Collection[tuple[str, str]] = (),
) -> list[Leaderboard]:
    """Return the leaderboards of a library, those with the most results first.

    Args:
        corpus: The library.
        dataset: Only datasets with these words in their names, as their papers spell them; "" for all.
        metric: Only such metrics.
        task: Only such tasks.
        separations: Papers and entities (ids) that are kept apart from those of other papers.
    """
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    entries = corpus.entries()
    years = {entry.id: entry.year for entry in entries}
    for paper, name in citation_names(entries).items():
        check_cancelled()
        # A paper may be removed in the meantime.
        with suppress(UnknownPaperError):
            for one in paper_results(corpus, corpus.paper(paper), name=name):
                own = _kept_apart(one, separations, paper_name=name)
                groups[own.dataset_id, own.metric_id].append(replace(own, year=years[paper]))
    names = corpus.entities(list({name for key in groups for name in key}))
    first = [found[0] for found in groups.values()]
    spelled: dict[str, tuple[str, ...]] = {one.dataset_id: (one.dataset,) for one in first}
    spelled |= {one.metric_id: (one.metric,) for one in first}
    spelled |= {key: (entity.name, *entity.aliases) for key, entity in names.items()}
    wanted = [key for key in groups if _has_words(spelled[key[0]], dataset) and _has_words(spelled[key[1]], metric)]
    boards = [_leaderboard(groups[key], [spelled[one][0] for one in key]) for key in wanted]
    kept = [board for board in boards if any(_has_words((one.task,), task) for one in board.results)]
    return sorted(kept, key=lambda board: -len(board.results))


def _kept_apart(one: Result, separations: Collection[tuple[str, str]], *, paper_name: str) -> Result:
    """Return a result whose entities have ids and names of their own where they are kept apart."""
    paper = one.evidence.place.paper
    own: dict[str, Any] = {}
    for kind in ("method", "dataset", "metric"):
        name, key = getattr(one, kind), getattr(one, f"{kind}_id")
        if (paper, key) in separations or (paper, singular_key(name)) in separations:
            own |= {kind: f"{name} in {paper_name}", f"{kind}_id": f"{key} ({paper})"}
    return replace(one, **own, apart=tuple(kind for kind in own if not kind.endswith("_id")))


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
