"""API keys of the HTTP service, each of which gives access to one library.

A secret is 32 random bytes, so a plain SHA-256 of it is safe to store: there is no list of likely secrets to try, and a
slow password hash would only delay each request. All keys are in one small file that only its owner may read. The file
is read again whenever it has changed, so revoking a key takes effect in a running service.
"""

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
from paperscope_core.files import PRIVATE_FILE, create_private_folder, output_errors, replace_file
from paperscope_core.locations import LibraryLocation, Location

__all__ = ["Key", "KeyStore", "secret_digest"]

# Rewriting the file takes milliseconds; a lock held for this long is stuck.
_LOCK_TIMEOUT_SECONDS = 10
# Fits a column of `paperscope keys list`.
_MAX_NAME_LENGTH = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """An API key without its secret.

    Attributes:
        library: The place of the only library that the key gives access to.
        folders: The folders whose papers its holder may add by path.
        created: A day in UTC.
        expires: The first day (UTC) on which it no longer works; None if it never expires.
    """

    id: str
    name: str
    library: LibraryLocation
    folders: tuple[Path, ...] = ()
    created: date
    expires: date | None = None

    def is_valid_on(self, day: date) -> bool:
        """Return whether it has not expired on that day."""
        return self.expires is None or day < self.expires


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    key: Key
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Content:
    """The file's content. The file stays when its last key is revoked: it shows that keys are required."""

    version: Literal[1] = 1
    keys: tuple[_Entry, ...]


def _today() -> date:
    return datetime.now(UTC).date()


class KeyStore:
    """The API keys in one file.

    Every method checks first whether the file has changed, and raises KeyFileError if it exists but can't be read: no
    key works until it is repaired.
    """

    def __init__(self, file: Path, *, today: Callable[[], date] = _today, existed: bool = False) -> None:
        self._file = file
        self._today = today
        # The stat values of the file when it was last read, and what was read.
        self._last: tuple[tuple[int, ...], _Content] | None = None
        self._has_existed = existed

    @classmethod
    def open(cls, file: Path, *, today: Callable[[], date] = _today, existed: bool = False) -> Self:
        """Return the keys of a file, which need not exist yet, or not any more if it `existed`.

        Raises KeyFileError if it can't be read.
        """
        keys = cls(file, today=today, existed=existed)
        keys.all()
        return keys

    @property
    def required(self) -> bool:
        """Whether callers must send a key: true once one has been created, even if all are revoked."""
        self._entries()
        return self._has_existed

    def all(self) -> tuple[Key, ...]:
        """Return all keys, expired ones included, in order of creation."""
        return tuple(entry.key for entry in self._entries())

    def libraries(self, *, default: Location) -> set[Location]:
        """Return the places of the libraries of all keys; the default one if no key is needed."""
        return {key.library for key in self.all()} if self.required else {default}

    def find(self, secret: str) -> Key | None:
        """Return the key with this secret; None if there is none, or if it has expired."""
        digest = secret_digest(secret)
        found = [entry.key for entry in self._entries() if hmac.compare_digest(entry.sha256, digest)]
        return found[0] if found and found[0].is_valid_on(self._today()) else None

    def get(self, key_id: str) -> Key | None:
        """Return the key with this id; None if it was revoked or has expired."""
        today = self._today()
        return next((key for key in self.all() if key.id == key_id and key.is_valid_on(today)), None)

    def create(
        self, name: str, library: Location, *, folders: Iterable[Path] = (), expires: date | None = None
    ) -> tuple[Key, SecretStr]:
        """Return creates and stores a key; its secret can't be read again.

        Raises:
            InputError: The name, a folder or the expiry day is invalid.
            OutputError: The file can't be written.
        """
        today = self._today()
        if not name.strip() or not name.isprintable() or len(name) > _MAX_NAME_LENGTH:
            raise InputError(f"{name!r} can't be a key's name: take up to {_MAX_NAME_LENGTH} printable characters")
        if expires is not None and expires <= today:
            raise InputError(f"a key that expires on {expires} would never work: name a day after {today}")
        key = Key(
            id=secrets.token_hex(6),
            name=name.strip(),
            library=_absolute(library) if isinstance(library, Path) else library,
            folders=tuple(map(_existing, folders)),
            created=today,
            expires=expires,
        )
        secret = f"ps_{key.id}_{secrets.token_urlsafe(32)}"
        with output_errors(self._file):
            create_private_folder(self._file.parent)
        self._rewrite(lambda entries: (*entries, _Entry(key=key, sha256=secret_digest(secret))))
        return key, SecretStr(secret)

    def revoke(self, key_id: str) -> Key:
        """Delete a key; it stops working at once. Raises InputError if no key has this id."""
        for key in self.all():
            if key.id == key_id:
                self._rewrite(lambda entries: tuple(entry for entry in entries if entry.key.id != key_id))
                return key
        raise InputError(f"no API key with the id {key_id!r}: `paperscope keys list` shows the existing ones")

    def _rewrite(self, change: Callable[[tuple[_Entry, ...]], tuple[_Entry, ...]]) -> None:
        lock = self._file.with_name(f"{self._file.name}.lock")
        try:
            with output_errors(self._file), filelock.FileLock(lock, timeout=_LOCK_TIMEOUT_SECONDS, mode=PRIVATE_FILE):
                content = _Content(keys=change(self._entries()))
                replace_file(self._file, to_json(content, indent=1).encode(), mode=PRIVATE_FILE)
        except filelock.Timeout as error:
            raise KeyFileError(f"{self._file}: locked by another process; try again when it has finished") from error

    def _entries(self) -> tuple[_Entry, ...]:
        try:
            last = self._last
            if last is None or _stamp(self._file.stat()) != last[0]:
                with self._file.open("rb") as file:
                    stamp, text = _stamp(os.fstat(file.fileno())), file.read()
                last = stamp, from_json(_Content, text)
        except FileNotFoundError:
            last = None
        except OSError as error:
            raise KeyFileError(
                f"{self._file}: the API keys can't be read ({error.strerror}); run Paperscope as the user who owns them"
            ) from error
        except ValueError as error:
            raise KeyFileError(
                f"{self._file}: damaged, so that no API key works; restore a copy of it, or name another file in "
                "service.keys and create the keys anew"
            ) from error
        self._last = last
        self._has_existed = self._has_existed or last is not None
        return last[1].keys if last else ()


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def secret_digest(secret: str) -> str:
    """Return the SHA-256 of a secret of a header or cookie, which may hold any character, lone surrogates included."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _absolute(folder: Path) -> Path:
    """Return the absolute path of a folder, which need not exist. Raises InputError if it is a file."""
    found = folder.expanduser().resolve()
    if found.exists() and not found.is_dir():
        raise InputError(f"{str(folder)!r} is a file; name a folder")
    if not str(found).isprintable():
        raise InputError(f"{str(folder)!r}: the file of API keys holds printable names only; rename the folder")
    return found


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is no folder; papers can only be added from existing folders")
    return _absolute(folder)
