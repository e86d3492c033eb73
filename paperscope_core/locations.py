"""Where a library is: in a folder, or in a PostgreSQL database with a folder for its files."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, unquote, urlsplit

from pydantic import PlainSerializer, PlainValidator

__all__ = [
    "LibraryLocation",
    "Location",
    "PostgresAddress",
    "files_folder",
    "local_folder",
    "location_text",
    "parse_location",
]

_SCHEMES = ("postgresql", "postgres")
_OWN = ("files", "cache", "objects")
_EXAMPLE = "postgresql://host/papers?files=/srv/papers"
# libpq's parameters that are secrets.
_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
# libpq quotes the value in which it finds such a %.
_NO_CODE = re.compile("%(?![0-9A-Fa-f]{2})|%00")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class PostgresAddress:
    """A PostgreSQL database, and the folders that belong to it.

    Attributes:
        address: The address in libpq's form, which may contain a password.
        files: The folder of the library's files; all machines that use the library share it.
        objects: Where in S3 crops and uploaded papers are, such as s3://bucket/papers; "" if they are in `files`.
        cache: The folder for what this machine derives from the database.
    """

    address: str = field(repr=False)
    files: Path
    cache: Path
    objects: str = ""

    def __str__(self) -> str:
        """Return the database's address, without the password."""
        return _without_password(self.address)

    @property
    def text(self) -> str:
        """The whole address, with the password, as `parse_location` reads it."""
        own = _query(files=str(self.files), cache=str(self.cache), objects=self.objects)
        return f"{self.address}{'&' if '?' in self.address else '?'}{own}"


Location = Path | PostgresAddress
"""The folder of a library, or the address of its database."""


def parse_location(value: object) -> Location:
    """Read a location as users write it.

    Args:
        value: A path; or an address such as postgresql://host/papers?files=/srv/papers, whose other parameters are
            libpq's. `objects` names a place in S3 for crops and uploaded papers; `cache` names the folder of what is
            derived, by default in the user's `.cache`.

    Raises:
        ValueError: It is neither. The message contains no password.
    """
    if isinstance(value, Path | PostgresAddress):
        return _expanded(value) if isinstance(value, Path) else value
    if not isinstance(value, str):
        # A validator of settings reports a ValueError only.
        raise ValueError("write the library as a folder, or as the address of a PostgreSQL database")  # noqa: TRY004
    text = value.strip()
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if not scheme:
        if text.partition(":")[0].lower() in _SCHEMES:
            raise ValueError(f"the address of a database begins with postgresql://, such as {_EXAMPLE}")
        # The name of a folder may begin or end with a space.
        return _expanded(Path(value))
    if scheme not in _SCHEMES:
        raise ValueError(f"{scheme}:// is no place of a library; name a folder, or {_EXAMPLE}")
    _check_characters(text.partition("://")[2])
    parts = urlsplit(text)
    given = [one.partition("=") for one in parts.query.split("&") if one]
    own = {name: unquote(one) for name, _, one in given if name in _OWN}
    if not own.get("files"):
        raise ValueError(f"the address of a database needs the folder of the library's files: {_EXAMPLE}")
    if "://" in own["files"]:
        raise ValueError("files: name a folder, which all machines that use the library share; objects may be in S3")
    objects = own.get("objects", "").rstrip("/")
    if objects and not (objects.startswith("s3://") and objects.removeprefix("s3://").strip("/")):
        raise ValueError("objects: name a bucket and a prefix, such as s3://bucket/papers")
    # The others are libpq's, which reads them as they are.
    address = _joined(parts.netloc, parts.path, ["".join(one) for one in given if one[0] not in _OWN])
    files = _absolute(own["files"])
    cache = _absolute(own["cache"]) if own.get("cache") else _default_cache(f"{_without_password(address)}\0{files}")
    return PostgresAddress(address=address, files=files, cache=cache, objects=objects)


def location_text(location: Location) -> str:
    """Return a location as `parse_location` reads it, with the password."""
    return location.text if isinstance(location, PostgresAddress) else str(location)


LibraryLocation = Annotated[Location, PlainValidator(parse_location), PlainSerializer(location_text, return_type=str)]
"""A location as JSON and settings have it: text."""


def files_folder(location: Location) -> Path:
    """Return the folder of the library's files, which every process that uses the library sees."""
    return location.files if isinstance(location, PostgresAddress) else location


def local_folder(location: Location) -> Path:
    """Return the folder of what this machine derives from the library: indexes, and the locks of its workers."""
    return location.cache if isinstance(location, PostgresAddress) else location


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"no such home folder: {error}") from error


def _absolute(text: str) -> Path:
    return _expanded(Path(text)).absolute()


def _default_cache(key: str) -> Path:
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ValueError("no home folder for what is derived; name a folder: &cache=/var/cache/papers") from error
    return home / ".cache" / "paperscope" / hashlib.sha256(key.encode()).hexdigest()[:16]


def _check_characters(address: str) -> None:
    """Raise ValueError if an address has a character that must be encoded, of which nothing is quoted: it may be a
    password's, and the rest of the address is then not what it looks like."""
    place, _, query = address.partition("?")
    host, _, path = place.partition("/")
    user = host.rpartition("@")[0]
    found = {
        "#": "#" in address,
        "%": _NO_CODE.search(address),
        "?": "?" in query and "@" in query.partition("?")[0],
        "/": "@" in path,
        "@": "@" in user,
        "[": "[" in user,
        "]": "]" in user,
        "&": any("=" not in one for one in query.split("&") if one),
    }
    wrong = next((character for character, is_there in found.items() if is_there), None)
    if wrong is not None:
        raise ValueError(f"write {wrong} as {quote(wrong, safe='')} in the address, such as in its password")


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = [one for one in parts.query.split("&") if one and unquote(one.partition("=")[0]) not in _SECRETS]
    return _joined(f"{user.partition(':')[0]}{at}{host}", parts.path, query)


def _joined(netloc: str, path: str, query: Sequence[str]) -> str:
    return f"postgresql://{netloc}{path}{'?' if query else ''}{'&'.join(query)}"


def _query(**values: str) -> str:
    return "&".join(f"{name}={quote(value)}" for name, value in values.items() if value)
