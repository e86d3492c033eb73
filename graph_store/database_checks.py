"""Checks what the database of a library holds. Nothing is changed."""

from collections.abc import Iterator

from sqlalchemy import Connection, func, select, text

from graph_store import schema

__all__ = ["count_chunks", "find_damage"]

_MOST_LINES = 20
_MOST_PAPERS = 5


def find_damage(connection: Connection) -> list[str]:
    """Return what is wrong with the database's rows, apart from values that can't be decoded; empty if nothing is."""
    found = list(_sqlite_damage(connection)) if connection.dialect.name == "sqlite" else []
    elements, chunks, members, vectors = schema.elements, schema.chunks, schema.chunk_elements, schema.vectors
    relations, entities = schema.relations, schema.entities
    ends = {
        f"relations have a {end.name} that is no entity of their paper": select(relations.c.paper, func.count()).where(
            ~select(entities.c.id).where(entities.c.id == end, entities.c.paper == relations.c.paper).exists()
        )
        for end in (relations.c.source, relations.c.target)
    }
    counts = {
        "chunks have no vector": select(chunks.c.paper, func.count()).where(
            ~select(vectors.c.chunk).where(vectors.c.chunk == chunks.c.number).exists()
        ),
        "elements of chunks are missing": select(chunks.c.paper, func.count())
        .join(members, members.c.chunk == chunks.c.number)
        .where(~select(elements.c.id).where(elements.c.id == members.c.element).exists()),
        **ends,
    }
    for what, query in counts.items():
        if rows := connection.execute(query.group_by(query.selected_columns[0])).all():
            concerned = sorted(row[0] for row in rows)
            named = ", ".join(concerned[:_MOST_PAPERS]) + (", ..." if len(concerned) > _MOST_PAPERS else "")
            found.append(f"{sum(row[1] for row in rows)} {what} (paper {named})")
    return found


def _sqlite_damage(connection: Connection) -> Iterator[str]:
    for line in connection.execute(text(f"PRAGMA integrity_check({_MOST_LINES})")).scalars():
        if line != "ok":
            yield f"SQLite's integrity check: {line}"
    broken = connection.execute(text("PRAGMA foreign_key_check")).all()
    tables = sorted({row[0] for row in broken})
    if broken:
        yield f"{len(broken)} rows name others that are missing (in {', '.join(tables)})"


def count_chunks(connection: Connection) -> int:
    """Return the number of chunks of all papers."""
    return int(connection.execute(select(func.count()).select_from(schema.chunks)).scalar_one())
