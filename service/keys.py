"""API keys of the HTTP service: who may call it, and which library each key opens."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal, Self

import filelock
from pydantic import Field, SecretStr

from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, KeyFileError
from paperscope_core.files import output_errors, replace_file

__all__ = ["Key", "KeyStore"]


_LOCK_SECONDS = 10
_OWNER_ONLY = 0o600
_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """What may be known of a key: all but its secret.

    `library` is the folder of the library that its holder sees, `folders` are those whose papers the holder may add by
    path. `created` and `expires` are days in UTC; on the day `expires` it works no more.
    """

    id: str
    name: str
    library: Path
    folders: tuple[Path, ...] = ()
    created: date
    expires: date | None = None

    def works_on(self, day: date) -> bool:
        """Whether it has not expired on that day."""
        return self.expires is None or day < self.expires


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    key: Key
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Content:
    """The file: it stays when the last key is revoked, and thereby says that there were keys."""

    version: Literal[1] = 1
    keys: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read last, and which state of the file that was."""

    stamp: tuple[int, ...] | None
    content: _Content | None


def _today() -> date:
    return datetime.now(UTC).date()


class KeyStore:
    """The keys of one file. Whatever is asked, the file is looked at first, and read where it is another than before.

    Where it is there and can't be read, everything raises KeyFileError: no key works until it is put right.
    """

    def __init__(self, file: Path, *, today: Callable[[], date] = _today) -> None:
        self._file = file
        self._today = today
        self._last = _Read(None, None)
        self._ever = False

    @classmethod
    def open(cls, file: Path, *, today: Callable[[], date] = _today) -> Self:
        """The keys of a file, which need not be there yet. Raises KeyFileError."""
        keys = cls(file, today=today)
        keys.all()
        return keys

    @property
    def required(self) -> bool:
        """Whether callers must show a key: one was created at some time, even where all are revoked by now."""
        self._entries()
        return self._ever

    def all(self) -> tuple[Key, ...]:
        """The keys in the order of their creation; those that have expired are among them."""
        return tuple(entry.key for entry in self._entries())

    def find(self, secret: str) -> Key | None:
        """The key with this secret; None where there is none that works today."""
        shown = _sha256(secret)
        found = [entry.key for entry in self._entries() if hmac.compare_digest(entry.sha256, shown)]
        return found[0] if found and found[0].works_on(self._today()) else None

    def create(
        self, name: str, library: Path, *, folders: Iterable[Path] = (), expires: date | None = None
    ) -> tuple[Key, SecretStr]:
        """Keep a new key; its secret can't be had again.

        Raises InputError for a name, folder or day that can't be meant, OutputError where the file can't be written.
        """
        today = self._today()
        if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
            raise InputError(f"{name!r} can't be a key's name: take up to {_LONGEST_NAME} printable characters")
        if expires is not None and expires <= today:
            raise InputError(f"a key that expires on {expires} would never work: name a day after {today}")
        key = Key(
            id=secrets.token_hex(6),
            name=name.strip(),
            library=_absolute(library),
            folders=tuple(map(_existing, folders)),
            created=today,
            expires=expires,
        )
        secret = f"ps_{key.id}_{secrets.token_urlsafe(32)}"
        with output_errors(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
        self._rewrite(lambda entries: (*entries, _Entry(key=key, sha256=_sha256(secret))))
        return key, SecretStr(secret)

    def revoke(self, key_id: str) -> Key:
        """Forget a key; it stops working at once. Raises InputError where there is none with this id."""
        for key in self.all():
            if key.id == key_id:
                self._rewrite(lambda entries: tuple(entry for entry in entries if entry.key.id != key_id))
                return key
        raise InputError(f"no API key with the id {key_id!r}: `paperscope keys list` shows those there are")

    def _rewrite(self, change: Callable[[tuple[_Entry, ...]], tuple[_Entry, ...]]) -> None:
        lock = self._file.with_name(f"{self._file.name}.lock")
        try:
            with output_errors(self._file), filelock.FileLock(lock, timeout=_LOCK_SECONDS, mode=_OWNER_ONLY):
                content = _Content(keys=change(self._entries()))
                replace_file(self._file, to_json(content, indent=1).encode(), mode=_OWNER_ONLY)
        except filelock.Timeout as error:
            raise KeyFileError(f"{self._file}: another process holds it; try again when that has ended") from error

    def _entries(self) -> tuple[_Entry, ...]:
        content = self._content()
        self._ever = self._ever or content is not None
        return content.keys if content else ()

    def _content(self) -> _Content | None:
        last = self._last
        try:
            if _stamp(self._file.stat()) == last.stamp:
                return last.content
            with self._file.open("rb") as file:
                stamp, text = _stamp(os.fstat(file.fileno())), file.read()
            read = _Read(stamp, from_json(_Content, text))
        except FileNotFoundError:
            read = _Read(None, None)
        except OSError as error:
            raise KeyFileError(
                f"{self._file}: the API keys can't be read ({error.strerror}); run Paperscope as the user who owns them"
            ) from error
        except ValueError as error:
            raise KeyFileError(
                f"{self._file}: damaged, so that no API key works; put a copy of it back, or name another file "
                "in service.keys and create the keys anew"
            ) from error
        self._last = read
        return read.content


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _sha256(secret: str) -> str:
    # A header may bring any character, a lone surrogate among them.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _absolute(folder: Path) -> Path:
    """The folder wherever a command is run. Raises InputError."""
    found = folder.expanduser().resolve()
    if found.exists() and not found.is_dir():
        raise InputError(f"{str(folder)!r} is a file; name a folder")
    if not str(found).isprintable():
        raise InputError(f"{str(folder)!r}: the file of API keys holds printable names only; rename the folder")
    return found


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is no folder; papers are added from folders that are there")
    return _absolute(folder)
