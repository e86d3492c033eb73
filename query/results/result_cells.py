"""The results in a table: values whose headers name a method, a dataset and a metric, by the types of the graph."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from paperscope_core.protocols import Corpus
from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Evidence, Paper, Table
from query.extractive.table_index import IndexedCell, index_table
from query.extractive.wording import strip_citations, strip_remark
from query.papercheck.number_grid import PrintedValue, printed_values, sound_tables

__all__ = ["Direction", "Result", "paper_results"]

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
            reasons=reasons,
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
            reasons.append(f"{entity.type} {entity.name}: header {text!r}")
    for kind in _TYPES:
        if kind not in found and (entity := shown.in_caption(kind)) is not None:
            found[kind] = ("", entity)
            reasons.append(f"{kind} {entity.name}: the caption names it")
    return found, tuple(reasons)


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
