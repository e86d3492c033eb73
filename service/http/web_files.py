"""The files of the web page (`service/web`): content, compressed content, ETag, media type and content policy.

Only files that are in the folder when the service starts are found, by a table of their names; no path is built from a
request.
"""

import gzip
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

__all__ = ["FOLDER", "INDEX", "WebFile", "content_policy", "web_file"]

FOLDER = Path(__file__).resolve().parent.parent / "web"
"""The folder of the files."""
INDEX = "index.html"
"""The name of the page's own file."""

_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
_COMPRESSED = {*_MEDIA_TYPES, ".bcmap", ".pfb"} - {".png", ".woff2"}
# What `scripts/vendor` adds to the name of a file for its content compressed with Brotli.
_BROTLI = ".br"
_IMPORT_MAP = re.compile(rb'<script type="importmap">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class WebFile:
    """A file of the page; `compressed` is its content by content coding, the smallest first, where that is of use."""

    plain: bytes
    compressed: Mapping[str, bytes]
    etag: str
    media_type: str
    immutable: bool


def web_file(name: str) -> WebFile | None:
    """Return the file of this name in the folder, as it is now; None if there was none when the service started."""
    path = _paths().get(name)
    # The folder of a library has its version in its name.
    return None if path is None else _read(path, path.stat().st_mtime_ns, immutable=name.startswith("vendor/"))


def content_policy() -> str:
    """Return the content policy of the page and its workers: its own files only, and the one import map of the page."""
    index = web_file(INDEX)
    maps = _IMPORT_MAP.findall(index.plain) if index else ()
    hashes = (f" 'sha256-{b64encode(sha256(one).digest()).decode()}'" for one in maps)
    return (
        f"default-src 'self'; script-src 'self'{''.join(hashes)}; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; worker-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'self'"
    )


@cache
def _paths() -> Mapping[str, Path]:
    files = (path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != _BROTLI)
    return {path.relative_to(FOLDER).as_posix(): path for path in files}


@lru_cache(maxsize=1024)
def _read(path: Path, _changed: int, *, immutable: bool) -> WebFile:
    plain = path.read_bytes()
    compressed = {}
    small = path.with_name(path.name + _BROTLI)
    if small.is_file():
        compressed["br"] = small.read_bytes()
    if path.suffix in _COMPRESSED:
        compressed["gzip"] = gzip.compress(plain, mtime=0)
    return WebFile(
        plain=plain,
        compressed=compressed,
        etag=sha256(plain).hexdigest()[:32],
        media_type=_MEDIA_TYPES.get(path.suffix, "application/octet-stream"),
        immutable=immutable,
    )
