"""Keeps a library in step with a folder: papers are added, replaced and removed as files change.

The library knows each paper's path, so nothing else is stored: what changed while nobody watched is seen at the start.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.formats import content_file, paper_files
from paperscope.library import AddResult, Library
from paperscope.sources import PaperSource
from paperscope_core.errors import InputError, PaperFileError, PaperscopeError, StoreReadOnlyError
from paperscope_core.types import PaperEntry

__all__ = ["FolderWatch", "WatchEvent"]

# A file is read when nothing has changed for a second, or at the latest ten seconds after a change: until then, it may
# still be written.
_QUIET_MS, _LATEST_MS = 1_000, 10_000
# The folder is also looked through at this interval: what failed is tried again, and network drives report no changes.
_INTERVAL_MS = 60_000


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchEvent:
    """What became of a file: it was added or replaced, its paper was removed, or it could not be added."""

    file: Path
    outcome: AddResult | PaperEntry | PaperscopeError


class FolderWatch:
    """Adds, replaces and removes the papers of a folder.

    Args:
        library: The library. Papers that it has from elsewhere are not touched.
        without: A folder whose files are left out, such as that of the library.

    Raises:
        PaperFileError: There is no such folder.
    """

    def __init__(self, library: Library, folder: Path, *, without: Path) -> None:
        if not folder.is_dir():
            raise PaperFileError(f"{folder}: no such folder; check the spelling")
        self._library = library
        self._folder = folder.resolve()
        self._without = without.resolve()
        self._read: dict[Path, tuple[int, ...]] = {}
        self._failed: dict[Path, str] = {}

    def run(self) -> Iterator[WatchEvent]:
        """Yield what happens, until the caller ends. See `look`."""
        from watchfiles import watch

        yield from self.look()
        changes = watch(
            self._folder,
            watch_filter=lambda _change, path: self._is_watched(Path(path)),
            step=_QUIET_MS,
            debounce=_LATEST_MS,
            rust_timeout=_INTERVAL_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        for _ in changes:
            yield from self.look()

    def look(self) -> Iterator[WatchEvent]:
        """Look through the folder once, and yield what was done.

        A file that can't be read as a paper is read again when it has changed; what failed for another reason, such as
        a full disk, is tried again by the next look. The same error is yielded once.

        Raises:
            StoreReadOnlyError: The library may not be written.
        """
        files = self._files()
        sources = {entry.source: entry for entry in self._library.entries()}
        # The drive of a folder without any file may not be mounted: nothing is removed then.
        if files or (self._folder.is_dir() and any(self._folder.iterdir())):
            yield from self._remove_missing(sources)
        for file in files:
            signature = _signature(file)
            # A copy of another paper's file has no paper of its own, until the other file changes.
            is_known = str(file.resolve()) in sources or file in self._failed
            if self._read.get(file) != signature or not is_known:
                yield from self._add(file, signature)

    def _files(self) -> list[Path]:
        try:
            return [file for file in paper_files(self._folder) if self._is_watched(file)]
        except PaperFileError:
            return []

    def _is_watched(self, file: Path) -> bool:
        return not file.is_relative_to(self._without)

    def _remove_missing(self, sources: dict[str, PaperEntry]) -> Iterator[WatchEvent]:
        for source, entry in list(sources.items()):
            file = Path(source)
            if not (file.is_relative_to(self._folder) and self._is_watched(file)) or file.exists():
                continue
            self._read.pop(file, None)
            try:
                self._library.remove(entry.id)
            except PaperscopeError as error:
                yield from self._fail(file, error)
            else:
                self._failed.pop(file, None)
                del sources[source]
                yield WatchEvent(file=file, outcome=entry)

    def _add(self, file: Path, signature: tuple[int, ...]) -> Iterator[WatchEvent]:
        self._read.pop(file, None)
        try:
            added = self._library.add_source(PaperSource(address=str(file)))
        except StoreReadOnlyError:
            raise
        except PaperscopeError as error:
            if isinstance(error, InputError):
                self._read[file] = signature
            yield from self._fail(file, error)
        else:
            self._failed.pop(file, None)
            self._read[file] = signature
            if added.outcome != "unchanged":
                yield WatchEvent(file=file, outcome=added)

    def _fail(self, file: Path, error: PaperscopeError) -> Iterator[WatchEvent]:
        if self._failed.get(file) != str(error):
            self._failed[file] = str(error)
            yield WatchEvent(file=file, outcome=error)


def _signature(file: Path) -> tuple[int, ...]:
    """Return what changes with a file; nothing for one that can't be read, so that its error is reported."""
    try:
        found = content_file(file).stat()
    except (OSError, PaperFileError):
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size
