"""What a short form means in the library, and so under which id entities of several papers meet.

A paper's own entity ids stay as they are. A short form that a paper uses without defining it is, to a reader of the
library, the entity that it means in all papers that define it; where they don't agree, each paper's is an entity of its
own, `PAPER/ID`. This follows from the papers that are there, and not from their order: `meanings` holds it for each
short form that is defined, and is brought up to date with each paper in the same transaction.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, case, delete, func, inspect, literal, select
from sqlalchemy.sql.selectable import FromClause

from graph_store.schema import entities, meanings, short_forms
from graph_store.short_forms import ShortForm, agreed_entity, least_papers

__all__ = [
    "are_own",
    "has_meanings",
    "insert_short_forms",
    "joined",
    "nodes_of",
    "own_ids",
    "refresh_meanings",
    "shorts_of",
]

_APART = ""
# The key of a short form is one word, and hardly longer than itself.
_LONGEST = 20
_KNOWN = "paperscope_meanings"


def insert_short_forms(connection: Connection, paper: str, found: Sequence[ShortForm]) -> None:
    """Write a paper's short forms; `refresh_meanings` follows."""
    if found:
        rows = [{"paper": paper, "entity": one.entity, "short": one.short, "sense": one.sense} for one in found]
        connection.execute(short_forms.insert(), rows)


def shorts_of(connection: Connection, paper: str) -> list[str]:
    """The short forms that a paper defines."""
    query = select(short_forms.c.short).distinct().where(short_forms.c.paper == paper, short_forms.c.sense != "")
    return sorted(connection.execute(query).scalars())


def refresh_meanings(connection: Connection, shorts: Iterable[str]) -> None:
    """Work out anew what these short forms mean."""
    for short in shorts:
        connection.execute(delete(meanings).where(meanings.c.short == short))
        home = _home(connection, short)
        if home is not None:
            connection.execute(meanings.insert().values(short=short, home=home))


def _home(connection: Connection, short: str) -> str | None:
    """The entity that a short form means, `_APART` where papers differ, None where too few of them define it."""
    defined = (short_forms.c.short == short, short_forms.c.sense != "")
    papers = connection.execute(select(func.count(short_forms.c.paper.distinct())).where(*defined)).scalar_one()
    if papers < least_papers(short):
        return None
    what = (short_forms.c.sense, short_forms.c.entity)
    rows = connection.execute(select(*what, func.count().label("papers")).where(*defined).group_by(*what))
    return agreed_entity({(row.sense, row.entity): row.papers for row in rows}) or _APART


def joined(connection: Connection, table: Table, *ends: Column[str]) -> tuple[FromClause, Sequence[ColumnElement[str]]]:
    """`table` with what it takes to tell, for each of `ends` (a column of its own entity ids), the id in the library,
    and these ids."""
    return _joined(table, *ends) if has_meanings(connection) else (table, ends)


# Made once: to put such a statement together takes longer than to run it.
@cache
def _joined(table: Table, *ends: Column[str]) -> tuple[FromClause, Sequence[ColumnElement[str]]]:
    found: FromClause = table
    nodes: list[ColumnElement[str]] = []
    for end in ends:
        used, meant = short_forms.alias(), meanings.alias()
        # Of most ids their own words tell that they are no short form's: nothing is looked up for these (NULL).
        short = case((and_(func.length(end) <= _LONGEST, func.instr(end, " ") == 0), end))
        found = found.outerjoin(used, and_(used.c.paper == table.c.paper, used.c.entity == short, used.c.sense == ""))
        found = found.outerjoin(meant, meant.c.short == used.c.short)
        apart = table.c.paper + literal("/") + end
        nodes.append(case((meant.c.home == _APART, apart), (meant.c.home.is_not(None), meant.c.home), else_=end))
    return found, tuple(nodes)


def nodes_of(connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Sequence[str]]:
    """For each id the ids in the library of what these papers (none given: all) call so; itself where it is one.

    Several are those of a short form that the papers don't agree about.
    """
    found = _nodes_of_used(connection, used, papers) if (used := _used(connection, ids)) else {}
    return {key: found.get(key, ()) if key in used else (key,) for key in ids}


def _nodes_of_used(connection: Connection, ids: Set[str], papers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    table, (node,) = joined(connection, entities, entities.c.id)
    query = select(entities.c.id, node.label("node")).select_from(table).where(entities.c.id.in_(ids)).distinct()
    if papers:
        query = query.where(entities.c.paper.in_(papers))
    found: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(query.order_by(entities.c.id, "node")):
        found[row.id].append(row.node)
    return found


def are_own(connection: Connection, ids: Set[str], nodes: Set[str]) -> bool:
    """Whether `own_ids` of `nodes` are no other ids, and stand for nothing else in any paper."""
    return ids == nodes and not _used(connection, ids)


def own_ids(connection: Connection, nodes: Iterable[str]) -> set[str]:
    """All ids that papers may have for these ids of the library; some papers may have them for others."""
    known = set(nodes)
    apart = {tail for head, mark, tail in (node.partition("/") for node in known) if mark}
    if not has_meanings(connection):
        return known | apart
    query = (
        select(short_forms.c.entity)
        .distinct()
        .join_from(meanings, short_forms, short_forms.c.short == meanings.c.short)
        .where(meanings.c.home.in_(known), short_forms.c.sense == "")
    )
    return known | apart | set(connection.execute(query).scalars())


def _used(connection: Connection, ids: Iterable[str]) -> set[str]:
    """Those of the ids that some paper has for a short form that it does not define, and others do."""
    short = [key for key in ids if len(key) <= _LONGEST and " " not in key]
    if not short or not has_meanings(connection):
        return set()
    query = select(short_forms.c.entity).distinct().where(short_forms.c.entity.in_(short), short_forms.c.sense == "")
    return set(connection.execute(query.where(short_forms.c.short.in_(select(meanings.c.short)))).scalars())


def has_meanings(connection: Connection) -> bool:
    """Whether the library is new enough; an older one that may only be read is not brought up to date."""
    if not connection.info.get(_KNOWN):
        connection.info[_KNOWN] = inspect(connection).has_table(meanings.name)
    return bool(connection.info[_KNOWN])
