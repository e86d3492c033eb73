"""Checks a library: the database, the files beside it, the indexes and the models. Repairs what is derived."""

import platform
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from graph_store import Store
from graph_store.index import INDEXES, index_damage
from paperscope.originals import open_originals
from paperscope_core.errors import ModelError, NotFoundError, PaperFileError, PaperscopeError, StoreDamagedError
from paperscope_core.models.weights import find_weights
from paperscope_core.settings import Settings

__all__ = ["Diagnosis", "diagnose"]

Part = Literal["database", "files", "index", "models", "versions"]
Level = Literal["ok", "note", "problem", "repaired"]

_PACKAGES = ("paperscope", "SQLAlchemy", "faiss-cpu", "numpy", "torch", "PyMuPDF")


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What a check found.

    Attributes:
        level: "problem" is something to act on, which `text` says how to; "note" is no damage.
    """

    part: Part
    level: Level
    text: str


def diagnose(settings: Settings, *, repair: bool = False) -> Iterator[Diagnosis]:
    """Check the settings' library.

    The database and the files are only read. Yields each finding as it is made.

    Args:
        settings: The settings, whose library and embedder are checked.
        repair: Build damaged indexes again.
    """
    yield _versions()
    try:
        store = Store.open(settings.library, read_only=True)
    except PaperscopeError as error:
        yield Diagnosis(part="database", level="problem", text=str(error))
        return
    try:
        yield from _guarded("database", _database(store))
        yield from _guarded("files", _files(store))
        yield from _guarded("index", _index(store, settings, repair=repair))
        yield from _models(store, settings)
    finally:
        store.close()


def _guarded(part: Part, findings: Iterator[Diagnosis]) -> Iterator[Diagnosis]:
    """Yield the findings; an error of the database, which ends a check, is one."""
    try:
        yield from findings
    except PaperscopeError as error:
        yield Diagnosis(part=part, level="problem", text=str(error))


def _versions() -> Diagnosis:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} is not installed")
    text = ", ".join((*found, f"SQLite {sqlite3.sqlite_version}", f"Python {platform.python_version()}"))
    return Diagnosis(part="versions", level="ok", text=text)


def _database(store: Store) -> Iterator[Diagnosis]:
    problems = [
        f"{one}; restore a backup, or add the papers concerned again after removing them" for one in store.damage()
    ]
    entries = store.entries()
    for entry in entries:
        try:
            store.indexed(entry.id)
        except StoreDamagedError as error:
            problems.append(str(error))
    for problem in problems:
        yield Diagnosis(part="database", level="problem", text=problem)
    if not problems:
        yield Diagnosis(part="database", level="ok", text=f"{len(entries)} papers, revision {store.revision}")


def _files(store: Store) -> Iterator[Diagnosis]:
    missing: dict[str, int] = {}
    crops = store.crop_names()
    for crop, paper in crops.items():
        try:
            store.crop(crop)
        except NotFoundError:
            missing[paper] = missing.get(paper, 0) + 1
    for paper, count in missing.items():
        text = (
            f"{count} pictures of paper {paper} are missing or damaged; restore crops/, or remove the paper and add "
            "it again"
        )
        yield Diagnosis(part="files", level="problem", text=text)
    originals = open_originals(store)
    entries = store.entries()
    there = 0
    for entry in entries:
        try:
            originals.of(entry)
        except PaperFileError as error:
            # A paper that was added by its path is answered from without its file, whose pages are then not shown.
            level: Level = "problem" if originals.has_copy(entry) else "note"
            yield Diagnosis(part="files", level=level, text=str(error))
        else:
            there += 1
    if not missing:
        text = f"{len(crops)} pictures, and the files of {there} of {len(entries)} papers"
        yield Diagnosis(part="files", level="ok", text=text)


def _index(store: Store, settings: Settings, *, repair: bool) -> Iterator[Diagnosis]:
    problems = index_damage(store, settings.retrieval.index)
    if not problems:
        yield Diagnosis(part="index", level="ok", text="nothing is damaged; what is missing follows when it is opened")
        return
    for problem in problems:
        hint = "" if repair else "; `paperscope doctor --repair` builds it again"
        yield Diagnosis(part="index", level="note" if repair else "problem", text=f"{problem}{hint}")
    if repair:
        # Only a store that is open for writing writes its index.
        with (
            closing(Store.open(settings.library)) as writable,
            closing(INDEXES[settings.retrieval.index].rebuild(writable, embedder=_embedder(settings))) as index,
        ):
            yield Diagnosis(part="index", level="repaired", text=f"built again, at revision {index.revision}")


def _models(store: Store, settings: Settings) -> Iterator[Diagnosis]:
    try:
        name = _embedder(settings)
        if settings.embed.local:
            find_weights(settings.embed.model).verify()
    except ModelError as error:
        yield Diagnosis(part="models", level="problem", text=str(error))
        return
    others = [entry.id for entry in store.entries() if store.embedder_of(entry.id) != name]
    if others:
        text = f"{len(others)} papers were embedded by another embedder than {name!r}, and are found by words only"
        yield Diagnosis(part="models", level="problem", text=f"{text}; choose their embedder, or add them again")
    else:
        yield Diagnosis(part="models", level="ok", text=f"embedder {name}")


def _embedder(settings: Settings) -> str:
    """Return the name of the embedder. Raises ModelError if its weights are missing."""
    return find_weights(settings.embed.model).name if settings.embed.local else settings.embed.model
