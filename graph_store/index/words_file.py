"""The text index's SQLite file: its tables, and how it is opened."""

import sqlite3

__all__ = ["CLEAR", "checked", "connect", "prepared"]

_FORMAT = 2
_TABLES = """
CREATE TABLE mark (revision INTEGER NOT NULL, token TEXT NOT NULL);
INSERT INTO mark VALUES (0, '');
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, paper TEXT NOT NULL, section TEXT NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX chunks_by_paper ON chunks (paper, section, kind);
CREATE VIRTUAL TABLE chunk_words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE names (key TEXT NOT NULL, name TEXT NOT NULL, entity TEXT NOT NULL, paper TEXT NOT NULL);
CREATE INDEX names_by_key ON names (key, entity, paper);
CREATE INDEX names_by_entity ON names (entity, name, paper);
CREATE INDEX names_by_paper ON names (paper, entity);
CREATE TABLE entities (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, names TEXT NOT NULL);
CREATE VIRTUAL TABLE entity_words USING fts5 (names, tokenize = 'porter unicode61 remove_diacritics 2');
PRAGMA user_version = 2;
"""
CLEAR = (
    "DELETE FROM chunks",
    "DELETE FROM chunk_words",
    "DELETE FROM names",
    "DELETE FROM entities",
    "DELETE FROM entity_words",
    "UPDATE mark SET revision = 0, token = ''",
)


def connect(uri: str) -> sqlite3.Connection:
    """A connection that commits by itself, for use from any thread."""
    return sqlite3.connect(uri, uri=uri.startswith("file:"), timeout=60, isolation_level=None, check_same_thread=False)


def prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Make the tables where there are none."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
        connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
    return checked(connection)


def checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Raise sqlite3.DatabaseError, and close, where the tables are of another format."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != _FORMAT:
        connection.close()
        raise sqlite3.DatabaseError(f"a text index of format {found}, not {_FORMAT}")
    return connection
