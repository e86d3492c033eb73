"""The log of changes: which papers came and went, revision by revision."""

from sqlalchemy import Connection, func, select

from graph_store.schema import changes
from graph_store.values import Change, Mark

__all__ = ["read_changes", "read_mark", "read_revision"]


def read_revision(connection: Connection) -> int:
    """The newest revision; 0 for an empty library."""
    return int(connection.execute(select(func.max(changes.c.revision))).scalar() or 0)


def read_changes(connection: Connection, revision: int) -> list[Change]:
    """The changes after a revision, oldest first."""
    rows = connection.execute(select(changes).where(changes.c.revision > revision).order_by(changes.c.revision))
    return [
        Change(mark=Mark(revision=row.revision, token=row.token), paper=row.paper, action=row.action) for row in rows
    ]


def read_mark(connection: Connection, revision: int) -> Mark | None:
    """The mark of a revision; None if this history has no such revision."""
    if revision == 0:
        return Mark()
    token = connection.execute(select(changes.c.token).where(changes.c.revision == revision)).scalar()
    return None if token is None else Mark(revision=revision, token=token)
