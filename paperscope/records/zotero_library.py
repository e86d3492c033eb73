"""Reads a collection of Zotero on this machine, by the local API that Zotero 7 has."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from pydantic import TypeAdapter, ValidationError

from paperscope.records.csl_items import csl_record, part_of, plain_line
from paperscope.records.reference_files import Reference
from paperscope.records.web_fetcher import WebFetcher
from paperscope_core.errors import PaperFileError

__all__ = ["ZOTERO", "read_collection"]

ZOTERO = "zotero:"
"""What the name of a collection begins with."""

_ORIGIN = "http://127.0.0.1:23119"
_PAGE = 100
_MAX_MB = 50
_READ = ("application/pdf", "application/epub+zip", "text/html", "application/xhtml+xml")
Item = Mapping[str, object]
_ITEMS = TypeAdapter(list[dict[str, object]])


def read_collection(collection: str) -> Sequence[Reference]:
    """Return the items of a collection, each with Zotero's record and the file that Zotero has of it.

    Args:
        collection: The name or the key of a collection in the user's library.

    Raises:
        PaperFileError: Zotero is closed or refuses, or there is no such collection.
    """
    library = _Zotero()
    collections = {_text(one, "key"): _text(one, "data", "name") for one in library.all("collections")}
    wanted = collection.strip().casefold()
    keys = [key for key, name in collections.items() if wanted in (key.casefold(), name.casefold())]
    if len(keys) != 1:
        names = ", ".join(sorted(filter(None, collections.values()))) or "none"
        many = f"{len(keys)} collections have this name; give the key" if keys else "Zotero has no such collection"
        raise PaperFileError(f"{ZOTERO}{collection}: {many} (there are: {names})")
    return [library.reference(one) for one in library.all(f"collections/{keys[0]}/items/top", include="data,csljson")]


class _Zotero:
    """The local API of Zotero, from which nothing else is reached."""

    def __init__(self) -> None:
        self._fetcher = WebFetcher(agent="paperscope", locate=lambda _url: _ORIGIN)

    def all(self, path: str, *, include: str = "data") -> Iterator[Item]:
        """Yield all items at a path."""
        start = 0
        while True:
            content = self._get(f"{path}?format=json&include={include}&limit={_PAGE}&start={start}")
            try:
                page = _ITEMS.validate_json(content)
            except ValidationError as error:
                raise PaperFileError(f"{_ORIGIN} answers no list; is it Zotero?") from error
            yield from page
            if len(page) < _PAGE:
                return
            start += _PAGE

    def reference(self, item: Item) -> Reference:
        """Return the record of an item, and its file, if Zotero has one that Paperscope reads."""
        own = _text(item, "data", "itemType") == "attachment"
        attachments = [item] if own else list(self.all(f"items/{quote(_text(item, 'key'))}/children"))
        csl = item.get("csljson")
        record = csl_record(csl if isinstance(csl, dict) and not own else {}, origin="Zotero")
        found = {_text(one, "data", "contentType"): _text(one, "key") for one in reversed(attachments)}
        files = (self._file(found[kind]) for kind in _READ if kind in found)
        return Reference(record=record, file=next(filter(None, files), None))

    def _file(self, key: str) -> Path | None:
        """Return the file of an attachment, None if this machine does not have it."""
        try:
            parts = urlsplit(self._get(f"items/{quote(key)}/file/view/url").decode().strip())
        except (PaperFileError, ValueError):
            return None
        file = Path(url2pathname(parts.path))
        return file if parts.scheme == "file" and parts.netloc in ("", "localhost") and file.is_file() else None

    def _get(self, path: str) -> bytes:
        try:
            fetched = self._fetcher.get(f"{_ORIGIN}/api/users/0/{path}", max_mb=_MAX_MB, seconds=60.0, redirects=0)
        except PaperFileError as error:
            raise PaperFileError("Zotero is closed, or is older than 7; open it, and try again") from error
        if fetched.status == 403:
            raise PaperFileError(
                "Zotero lets no program in; switch on Settings, Advanced, “Allow other applications on this computer "
                "to communicate with Zotero”"
            )
        if fetched.status != 200:
            raise PaperFileError(
                f"Zotero answers HTTP {fetched.status} to {path.partition('?')[0]}; is it older than 7?"
            )
        return fetched.content


def _text(item: object, *names: str) -> str:
    return plain_line(part_of(item, *names))
