"""The file of the text index: its tables, and connections to it."""

import sqlite3

__all__ = ["checked", "connect", "prepared"]

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


def connect(uri: str) -> sqlite3.Connection:
    """A connection to a file or, by a URI, to what it names."""
    return sqlite3.connect(uri, uri=uri.startswith("file:"), timeout=60, isolation_level=None, check_same_thread=False)


def prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Make the tables where there are none."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
        connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
    return checked(connection)


def checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, if what it leads to has this format; raises sqlite3.DatabaseError otherwise."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != _FORMAT:
        connection.close()
        raise sqlite3.DatabaseError(f"a text index of format {found}, not {_FORMAT}")
    return connection
