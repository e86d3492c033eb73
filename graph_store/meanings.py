"""What a short form means in the library, and so under which id entities of several papers meet.

A paper's own entity ids stay as they are. A short form that a paper uses without defining it is, to a reader of the
library, the entity that it means in all papers that define it; where they don't agree, each paper's is an entity of its
own, `PAPER/ID`. This follows from the papers that are there, and not from their order: `meanings` holds it for each
short form that is defined, and is brought up to date with each paper in the same transaction.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, case, delete, func, inspect, literal, select
from sqlalchemy.sql.selectable import FromClause

from graph_store.schema import entities, given, meanings, short_forms
from graph_store.short_forms import ShortForm, agreed_entity, least_papers

__all__ = ["has_meanings", "insert_short_forms", "joined", "nodes_of", "own_ids", "refresh_meanings", "shorts_of"]

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


def joined(table: Table, *ends: ColumnElement[str], meant: bool) -> tuple[FromClause, Sequence[ColumnElement[str]]]:
    """`table` with what it takes to tell, for each of `ends` (a column of its own entity ids), the id in the library,
    and these ids. `meant`: whether the library `has_meanings`."""
    if not meant:
        return table, ends
    found: FromClause = table
    nodes: list[ColumnElement[str]] = []
    for end in ends:
        used, home = short_forms.alias(), meanings.alias()
        # Of most ids their own words tell that they are no short form's: nothing is looked up for these (NULL).
        short = case((and_(func.length(end) <= _LONGEST, func.instr(end, " ") == 0), end))
        found = found.outerjoin(used, and_(used.c.paper == table.c.paper, used.c.entity == short, used.c.sense == ""))
        found = found.outerjoin(home, home.c.short == used.c.short)
        apart = table.c.paper + literal("/") + end
        nodes.append(case((home.c.home == _APART, apart), (home.c.home.is_not(None), home.c.home), else_=end))
    return found, nodes


def nodes_of(connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Sequence[str]]:
    """For each id the ids in the library of what these papers (none given: all) call so; itself where it is one.

    Several are those of a short form that the papers don't agree about.
    """
    used = _used(connection, ids)
    found: dict[str, list[str]] = defaultdict(list)
    if used:
        given = {"ids": sorted(used), "papers": list(papers)}
        for row in connection.execute(_nodes_query(within=bool(papers)), given):
            found[row.id].append(row.node)
    return {key: found[key] if key in used else (key,) for key in ids}


def own_ids(connection: Connection, nodes: Iterable[str]) -> set[str]:
    """All ids that papers may have for these ids of the library; some papers may have them for others."""
    known = set(nodes)
    apart = {tail for head, mark, tail in (node.partition("/") for node in known) if mark}
    if not has_meanings(connection):
        return known | apart
    return known | apart | {row.entity for row in connection.execute(_own_query(), {"nodes": sorted(known)})}


def has_meanings(connection: Connection) -> bool:
    """Whether the library is new enough; an older one that may only be read is not brought up to date."""
    if not connection.info.get(_KNOWN):
        connection.info[_KNOWN] = inspect(connection).has_table(meanings.name)
    return bool(connection.info[_KNOWN])


def _used(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Those of the ids that some paper has for a short form that it does not define, and others do."""
    short = [key for key in ids if len(key) <= _LONGEST and " " not in key]
    if not short or not has_meanings(connection):
        return set()
    return {row.entity for row in connection.execute(_used_query(), {"ids": short})}


@cache
def _nodes_query(*, within: bool) -> Select[*tuple[str, ...]]:
    table, (node,) = joined(entities, entities.c.id, meant=True)
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
