"""Meanings of short forms, in a paper and in the library, which determine the ids under which entities are merged."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, case, delete, func, literal, select
from sqlalchemy.sql.selectable import FromClause

from graph_store.functions import position_in
from graph_store.schema import entities, given, meanings, short_forms
from paperscope_core.text.acronyms import is_spelt, short_form
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import STANDS_FOR, Entity, Extraction

__all__ = [
    "ShortForm",
    "agreed_entity",
    "insert_short_forms",
    "join_meanings",
    "least_papers",
    "library_ids",
    "paper_ids",
    "read_homes",
    "refresh_meanings",
    "short_forms_of",
    "shorts_of",
]

_ARTICLES = frozenset({"a", "an", "the"})
# Papers misspell and clip long forms ("convolution neural network", "maximum spaning tree", "out of vocab"), so words
# with the same beginning, or nearly the same letters, are treated as equal. "Recurrent" and "recursive" are not.
_COMMON_PREFIX_LENGTH = 6
_MIN_PREFIX_LENGTH = 4
_MIN_SIMILARITY = 0.85

_AMBIGUOUS = ""
# The key of a short form is a single word, and hardly longer than the short form.
_MAX_ID_LENGTH = 20


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ShortForm:
    """A short form in the paper's spelling, and the entity that it means there.

    `sense` is the long form in the paper's definition, in the singular and without articles; "" if the paper only uses
    it.
    """

    entity: str
    short: str
    sense: str = ""


def short_forms_of(extraction: Extraction) -> list[ShortForm]:
    """Return the short forms of a paper, sorted.

    A paper defines a short form if it shares an entity with a long form whose initials spell it, or is related to
    several such long forms; it then means the entity with the long form's key. A paper uses a short form if it is an
    entity's name.
    """
    names = {entity.id: entity.name for entity in extraction.entities}
    found = {form for entity in extraction.entities for form in _own(entity)}
    for relation in extraction.relations:
        if relation.kind == STANDS_FOR:
            short, long = short_form(names[relation.source]), names[relation.target]
            if short and is_spelt(short, long.split()):
                found.add(ShortForm(entity=relation.target, short=short, sense=_sense(long)))
    return sorted(found)


def _own(entity: Entity) -> Iterator[ShortForm]:
    names = (entity.name, *entity.aliases)
    for short in {short_form(name) for name in names} - {""}:
        spelt = [name for name in names if is_spelt(short, name.split())]
        if spelt:
            long = min(spelt, key=lambda name: (len(name), name))
            home = singular_key(long) if short_form(entity.name) else entity.id
            yield ShortForm(entity=home, short=short, sense=_sense(long))
    # The ids of floats and works are not derived from their names.
    if (used := short_form(entity.name)) and entity.id == singular_key(entity.name):
        yield ShortForm(entity=entity.id, short=used)


def least_papers(short: str) -> int:
    """Return the minimum number of papers that must define a short form before it has a meaning in other papers. Short
    forms of two letters coincide by chance."""
    return 1 if len(short) > 2 else 2


def agreed_entity(definitions: Mapping[tuple[str, str], int]) -> str | None:
    """Return the entity that most papers define a short form with; None if the papers disagree.

    `definitions` counts the papers by sense and entity and is not empty. Papers agree if each sense matches the most
    frequent one word by word, except for misspellings, up to the end of the shorter one.
    """
    senses, entities = Counter[str](), Counter[str]()
    for (sense, entity), papers in definitions.items():
        senses[sense] += papers
        entities[entity] += papers
    commonest = min(senses, key=lambda sense: (-senses[sense], sense)).split()
    if not all(_similar(one, other) for sense in senses for one, other in zip(sense.split(), commonest, strict=False)):
        return None
    return min(entities, key=lambda entity: (-entities[entity], entity))


def _similar(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=lambda word: (len(word), word))
    same = short[:_COMMON_PREFIX_LENGTH] == long[:_COMMON_PREFIX_LENGTH] or (
        len(short) >= _MIN_PREFIX_LENGTH and long.startswith(short)
    )
    return same or SequenceMatcher(None, short, long, autojunk=False).ratio() >= _MIN_SIMILARITY


def _sense(long: str) -> str:
    return " ".join(singular_key(word) for word in entity_key(long).split() if word not in _ARTICLES)


def insert_short_forms(connection: Connection, paper: str, found: Sequence[ShortForm]) -> None:
    """Write a paper's short forms; call `refresh_meanings` afterwards."""
    if found:
        rows = [{"paper": paper, "entity": one.entity, "short": one.short, "sense": one.sense} for one in found]
        connection.execute(short_forms.insert(), rows)


def shorts_of(connection: Connection, paper: str) -> list[str]:
    """Return the short forms that a paper defines."""
    query = select(short_forms.c.short).distinct().where(short_forms.c.paper == paper, short_forms.c.sense != "")
    return sorted(connection.execute(query).scalars())


def refresh_meanings(connection: Connection, shorts: Iterable[str]) -> None:
    """Update the meanings of these short forms in the library."""
    for short in shorts:
        connection.execute(delete(meanings).where(meanings.c.short == short))
        home = _home(connection, short)
        if home is not None:
            connection.execute(meanings.insert().values(short=short, home=home))


def _home(connection: Connection, short: str) -> str | None:
    """Return the entity that a short form means; `_AMBIGUOUS` if papers disagree, None if too few define it."""
    defined = (short_forms.c.short == short, short_forms.c.sense != "")
    papers = connection.execute(select(func.count(short_forms.c.paper.distinct())).where(*defined)).scalar_one()
    if papers < least_papers(short):
        return None
    what = (short_forms.c.sense, short_forms.c.entity)
    rows = connection.execute(select(*what, func.count().label("papers")).where(*defined).group_by(*what))
    return agreed_entity({(row.sense, row.entity): row.papers for row in rows}) or _AMBIGUOUS


def join_meanings(table: Table, *ends: ColumnElement[str]) -> tuple[FromClause, Sequence[ColumnElement[str]]]:
    """Join `table` so that each of `ends`, columns of a paper's entity ids, is mapped to the id in the library; return
    the join and the mapped columns."""
    found: FromClause = table
    nodes: list[ColumnElement[str]] = []
    for end in ends:
        used, home = short_forms.alias(), meanings.alias()
        # Ids that are too long for a short form, or contain spaces, are not looked up (NULL).
        short = case((and_(func.length(end) <= _MAX_ID_LENGTH, position_in(end, " ") == 0), end))
        found = found.outerjoin(used, and_(used.c.paper == table.c.paper, used.c.entity == short, used.c.sense == ""))
        found = found.outerjoin(home, home.c.short == used.c.short)
        apart = table.c.paper + literal("/") + end
        nodes.append(case((home.c.home == _AMBIGUOUS, apart), (home.c.home.is_not(None), home.c.home), else_=end))
    return found, nodes


def read_homes(connection: Connection, papers: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    """By paper, the ids of entities that have another id in the library, and that id; see `join_meanings`.

    Only of these papers, if any are given.
    """
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in connection.execute(_homes_query(within=bool(papers)), {"papers": list(papers)} if papers else {}):
        found[row.paper][row.entity] = row.home if row.home != _AMBIGUOUS else f"{row.paper}/{row.entity}"
    return dict(found)


def library_ids(
    connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = ()
) -> Mapping[str, Sequence[str]]:
    """For each id that papers use for an entity, the ids of its meanings in the library, according to these papers (if
    none are given, all). A short form that papers define differently has several."""
    used = _used(connection, ids)
    found: dict[str, list[str]] = defaultdict(list)
    if used:
        given = {"ids": sorted(used), "papers": list(papers)}
        for row in connection.execute(_nodes_query(within=bool(papers)), given):
            found[row.id].append(row.node)
    return {key: found[key] if key in used else (key,) for key in ids}


def paper_ids(connection: Connection, nodes: Iterable[str]) -> set[str]:
    """Return all ids that papers may use for these ids of the library. Some papers may use them for other entities."""
    known = set(nodes)
    # Where papers disagree, an id of the library is the paper and its id.
    apart = {tail for _, separator, tail in (node.partition("/") for node in known) if separator}
    return known | apart | {row.entity for row in connection.execute(_own_query(), {"nodes": sorted(known)})}


def _used(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Return the ids that a paper uses for a short form which only other papers define."""
    short = [key for key in ids if len(key) <= _MAX_ID_LENGTH and " " not in key]
    return {row.entity for row in connection.execute(_used_query(), {"ids": short})} if short else set()


@cache
def _homes_query(*, within: bool) -> Select[*tuple[str, ...]]:
    entity = short_forms.c.entity
    query = select(short_forms.c.paper, entity, meanings.c.home).join_from(
        short_forms, meanings, meanings.c.short == short_forms.c.short
    )
    query = query.where(short_forms.c.sense == "", func.length(entity) <= _MAX_ID_LENGTH, position_in(entity, " ") == 0)
    return query.where(short_forms.c.paper.in_(given("papers"))) if within else query


@cache
def _nodes_query(*, within: bool) -> Select[*tuple[str, ...]]:
    table, (node,) = join_meanings(entities, entities.c.id)
    query = select(entities.c.id, node.label("node")).select_from(table).where(entities.c.id.in_(given("ids")))
    if within:
        query = query.where(entities.c.paper.in_(given("papers")))
    return query.distinct().order_by(entities.c.id, "node")


@cache
def _own_query() -> Select[tuple[str]]:
    return (
        select(short_forms.c.entity)
        .distinct()
        .join_from(meanings, short_forms, short_forms.c.short == meanings.c.short)
        .where(meanings.c.home.in_(given("nodes")), short_forms.c.sense == "")
    )


@cache
def _used_query() -> Select[tuple[str]]:
    query = select(short_forms.c.entity).distinct()
    query = query.where(short_forms.c.entity.in_(given("ids")), short_forms.c.sense == "")
    return query.where(short_forms.c.short.in_(select(meanings.c.short)))
