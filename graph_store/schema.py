"""The tables of a library. Every column type exists in both SQLite and PostgreSQL; values are JSON text.

A paper's rows reference its row in `papers`, so that deleting that row deletes the whole paper.
"""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    bindparam,
    select,
)
from sqlalchemy import Text as AnyText

from graph_store.functions import json_items

__all__ = [
    "ADDED",
    "SCHEMA_VERSION",
    "additions",
    "bylines",
    "calls",
    "changes",
    "chunk_elements",
    "chunks",
    "conversations",
    "elements",
    "embeddings",
    "entities",
    "given",
    "images",
    "jobs",
    "library",
    "literature_cells",
    "literature_tables",
    "meanings",
    "metadata",
    "notes",
    "other_files",
    "paper_crops",
    "papers",
    "publications",
    "relations",
    "separations",
    "short_forms",
    "shortfalls",
    "tags",
    "turns",
    "vectors",
    "verdicts",
]

SCHEMA_VERSION = 1
"""The version of the tables; `graph_store.opening` says how a library states it."""

metadata = MetaData()

# Text is compared by code points, as SQLite does, so that ties are broken alike by both engines.
Text = AnyText().with_variant(AnyText(collation="C"), "postgresql")


def given(name: str) -> Select[tuple[str]]:
    """Return a list parameter of a query, for `column.in_`.

    The list is bound as one JSON value, so that the statement does not depend on its length and is built once.
    """
    return select(json_items(bindparam(name, type_=JSON)).table_valued("value").c.value)


def _paper() -> Column[str]:
    return Column("paper", Text, ForeignKey("papers.id", ondelete="CASCADE"), primary_key=True)


def _position() -> Column[int]:
    return Column("position", Integer, primary_key=True, autoincrement=False)


library = Table("library", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

changes = Table(
    "changes",
    metadata,
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("paper", Text, nullable=False),
    Column("action", Text, nullable=False),
    # Random, to distinguish this history from that of a restored backup with the same revision.
    Column("token", Text, nullable=False),
)

papers = Table(
    "papers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("revision", Integer, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("source", Text, nullable=False, index=True),
    Column("sha256", Text, nullable=False, index=True),
    Column("embedder", Text, nullable=False),
    Column("value", Text, nullable=False),
)

# Authors and year, by which questions name papers. They are stored separately, so that no paper is decoded for them.
bylines = Table(
    "bylines",
    metadata,
    _paper(),
    # One per line.
    Column("authors", Text, nullable=False),
    Column("year", Integer),
)

publications = Table(
    "publications",
    metadata,
    _paper(),
    Column("venue", Text, nullable=False),
    Column("doi", Text, nullable=False),
    Column("arxiv", Text, nullable=False),
)

# When papers were added, in seconds since the epoch.
additions = Table("additions", metadata, _paper(), Column("time", Float, nullable=False))

# Where the other files of papers come from, so that they are found when they are added again.
other_files = Table(
    "other_files",
    metadata,
    _paper(),
    Column("sha256", Text, primary_key=True, index=True),
    Column("source", Text, nullable=False, index=True),
)

elements = Table(
    "elements",
    metadata,
    _paper(),
    _position(),
    Column("id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("value", Text, nullable=False),
)

images = Table(
    "images",
    metadata,
    _paper(),
    # Identifies the model and the prompt. If either changes, the images are read again.
    Column("reader", Text, nullable=False),
    Column("value", Text, nullable=False),
)

paper_crops = Table("paper_crops", metadata, _paper(), Column("crop", Text, primary_key=True))

chunks = Table(
    "chunks",
    metadata,
    # Identifies the chunk in the vector index; never reused.
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("paper", Text, ForeignKey("papers.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("value", Text, nullable=False),
    sqlite_autoincrement=True,
)

vectors = Table(
    "vectors",
    metadata,
    Column("chunk", Integer, ForeignKey("chunks.number", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("vector", LargeBinary, nullable=False),
)

chunk_elements = Table(
    "chunk_elements",
    metadata,
    Column("chunk", Integer, ForeignKey("chunks.number", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("element", Text, primary_key=True, index=True),
)

entities = Table(
    "entities",
    metadata,
    _paper(),
    _position(),
    Column("id", Text, nullable=False),
    Column("value", Text, nullable=False),
    Index("entities_by_id", "id", "paper"),
)

relations = Table(
    "relations",
    metadata,
    _paper(),
    _position(),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("weight", Float, nullable=False),
    Column("value", Text, nullable=False),
    Index("relations_by_source", "source", "target", "kind", "weight", "paper"),
    Index("relations_by_target", "target", "source", "kind", "weight", "paper"),
    Index("relations_by_paper", "paper", "source", "target", "kind", "weight"),
)

short_forms = Table(
    "short_forms",
    metadata,
    _paper(),
    Column("entity", Text, primary_key=True),
    Column("short", Text, primary_key=True),
    # The long form in the paper's definition; "" if the paper only uses it.
    Column("sense", Text, primary_key=True),
    Index("short_forms_by_short", "short", "sense", "entity", "paper"),
    Index("short_forms_by_entity", "entity", "sense", "paper", "short"),
)

# Derived from the short forms of all papers; see `graph_store.short_forms`.
meanings = Table(
    "meanings",
    metadata,
    Column("short", Text, primary_key=True),
    Column("home", Text, nullable=False, index=True),
)

shortfalls = Table("shortfalls", metadata, _paper(), Column("value", Text, nullable=False))

# A model's verdicts on whether names of the paper mean the same.
verdicts = Table("verdicts", metadata, _paper(), _position(), Column("value", Text, nullable=False))

calls = Table(
    "calls",
    metadata,
    Column("key", Text, primary_key=True),
    Column("model", Text, nullable=False),
    Column("value", Text, nullable=False),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("embedder", Text, primary_key=True),
    Column("sha256", Text, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    # The order of arrival.
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False, index=True),
    Column("request", Text, nullable=False),
    Column("stage", Text, nullable=False, default=""),
    Column("done", Integer, nullable=False, default=0),
    Column("total", Integer, nullable=False, default=0),
    Column("error", Text, nullable=False, default=""),
    Column("result", Text, nullable=False, default=""),
    Column("attempts", Integer, nullable=False, default=0),
    Column("cancelling", Boolean, nullable=False, default=False),
    # The worker that leases the job, and when the lease expires (seconds since the epoch).
    Column("owner", Text, nullable=False, default=""),
    # The service whose workers alone may take it while it waits; the lease is then that of the reservation.
    Column("reserved", Text, nullable=False, default=""),
    Column("lease_end", Float, nullable=False, default=0.0),
    Column("created", Float, nullable=False),
    Column("started", Float),
    Column("finished", Float),
    sqlite_autoincrement=True,
)

conversations = Table(
    "conversations",
    metadata,
    # The order of creation.
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    # Seconds since the epoch.
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False, index=True),
    sqlite_autoincrement=True,
)

# Answers. They name papers that may have been removed since, so they don't reference their rows.
turns = Table(
    "turns",
    metadata,
    Column("conversation", Text, ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
    _position(),
    Column("value", Text, nullable=False),
)

literature_tables = Table(
    "literature_tables",
    metadata,
    Column("id", Text, primary_key=True),
    # Columns, papers and excluded rows.
    Column("value", Text, nullable=False),
    # Seconds since the epoch.
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False, index=True),
)

# Rows of papers that the library no longer has are kept only where somebody has corrected them.
literature_cells = Table(
    "literature_cells",
    metadata,
    Column("table_id", Text, ForeignKey("literature_tables.id", ondelete="CASCADE"), primary_key=True),
    Column("paper", Text, primary_key=True, index=True),
    # "" if a row is a paper.
    Column("row_name", Text, primary_key=True),
    Column("column_name", Text, primary_key=True),
    # The rank of the row within its paper.
    Column("position", Integer, nullable=False),
    # A hash of all that determines the cell.
    Column("made", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("correction", Text),
)

# What people say about papers. It stays when a paper is removed, and is there again when its file is added again.
tags = Table(
    "tags", metadata, Column("name", Text, primary_key=True), Column("paper", Text, primary_key=True, index=True)
)

notes = Table(
    "notes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("paper", Text, nullable=False, index=True),
    Column("value", Text, nullable=False),
    # Seconds since the epoch.
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
)

# Entities that somebody said are another thing in a paper than in others; kept when the paper is removed or read again.
separations = Table(
    "separations", metadata, Column("paper", Text, primary_key=True), Column("entity", Text, primary_key=True)
)

ADDED = (literature_tables, literature_cells, tags, notes, other_files, separations)
"""Tables that libraries of version 1 lack that were written before these were added; Paperscope 0.2 drops this."""
