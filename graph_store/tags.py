"""The tags of a library's papers: a reading list, a project or a topic is the papers with its tag."""

import re
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import delete, insert, select

from graph_store.database import Database
from graph_store.opening import lacking
from graph_store.schema import papers, tags
from paperscope_core.errors import InputError

__all__ = ["Tags", "checked_tag"]

# As Obsidian takes them, so that notes can be exported: no white space, and a letter among the characters.
_TAG = re.compile(r"(?=.*[^\W\d_])[\w/-]{1,60}")


class Tags:
    """Tags in the store; safe for several threads and processes. Changes are durable when a method returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of the papers with each tag, in the order of addition; tags in alphabetical order."""
        query = select(tags.c.name, tags.c.paper).join(papers, papers.c.id == tags.c.paper).order_by(papers.c.revision)
        with self._database.read() as connection:
            rows = [] if lacking(connection, tags) else connection.execute(query).all()
        found: dict[str, tuple[str, ...]] = {}
        for name, paper in rows:
            found[name] = (*found.get(name, ()), paper)
        return dict(sorted(found.items(), key=lambda one: one[0].casefold()))

    def change(self, asked: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Give papers (ids) tags, and take tags from them. A tag that exists in another case is that tag.

        Raises:
            InputError: A tag is not of letters, digits, "-", "_" and "/".
        """
        given, taken = [checked_tag(name) for name in add], [checked_tag(name) for name in remove]
        with self._database.write("notes") as connection:
            known = {name.casefold(): name for name in connection.execute(select(tags.c.name).distinct()).scalars()}
            for paper in dict.fromkeys(asked):
                for name in (*given, *taken):
                    row = {"name": known.setdefault(name.casefold(), name), "paper": paper}
                    connection.execute(delete(tags).where(*(tags.c[key] == value for key, value in row.items())))
                    if name in given:
                        connection.execute(insert(tags), row)


def checked_tag(name: str) -> str:
    """Return a tag without the `#` before it, its words joined by hyphens. Raises InputError."""
    tag = "-".join(name.strip().removeprefix("#").split())
    if not _TAG.fullmatch(tag):
        raise InputError(f"{name[:80]!r} is no tag: take up to 60 letters, digits, '-', '_' and '/', one a letter")
    return tag
