"""Looks up records and open copies of papers at Crossref, arXiv and Unpaywall, if the settings allow it."""

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic_core import from_json

from paperscope.records.csl_items import arxiv_of, csl_record, part_of, plain_line
from paperscope.records.web_fetcher import Fetched, WebFetcher
from paperscope_core.errors import PaperFileError
from paperscope_core.files import PRIVATE_FILE, create_private_folder, replace_file
from paperscope_core.publication import doi_in, year_in
from paperscope_core.settings import RecordSettings
from paperscope_core.types import BibRecord, Publication, content_hash

if TYPE_CHECKING:
    from ingest.readers.markup_tree import Node

__all__ = ["Catalogues"]

_MAX_RECORD_MB = 5
_MAX_PLACES = 5
_FRESH_SECONDS = 7 * 24 * 3600


class Catalogues:
    """The catalogues that the settings allow. Records are kept for a week, because papers are retracted.

    Args:
        settings: What may be contacted.
        folder: Where records are kept.
        max_mb: The largest copy of a paper, in megabytes.
    """

    def __init__(self, settings: RecordSettings, folder: Path, *, max_mb: int) -> None:
        contact = f" (mailto:{settings.mailto})" if settings.mailto else ""
        self._settings = settings
        self._folder = folder
        self._max_mb = max_mb
        self._fetcher = WebFetcher(agent=f"paperscope/{version('paperscope')}{contact}")

    def record(self, *, doi: str, arxiv: str) -> BibRecord:
        """Return the record of a work: Crossref's if there is a DOI, else arXiv's, as far as either is allowed.

        Raises:
            PaperFileError: The settings don't allow it, there is no such work, it is a data set, or the catalogue
                can't be reached.
        """
        is_asked = doi and ("crossref" in self._settings.contact or not arxiv)
        return self._of_crossref(doi) if is_asked else self._of_arxiv(arxiv)

    def open_copy(self, record: BibRecord) -> Fetched:
        """Fetch an open copy of a work, from arXiv or from where Unpaywall says.

        Raises:
            PaperFileError: None is known, the settings don't allow it, or none can be fetched.
        """
        published = record.publication
        if published.arxiv:
            self._require("arxiv", f"arXiv:{published.arxiv}")
            places: Sequence[str] = [f"https://arxiv.org/pdf/{published.arxiv}"]
        else:
            places = self._open_places(record)
        errors = []
        for place in places[:_MAX_PLACES]:
            try:
                return self._pdf(place)
            except PaperFileError as error:
                errors.append(str(error))
        raise PaperFileError(f"{record}: no open copy can be fetched ({'; '.join(errors)}). {_missing(published.doi)}")

    def page(self, url: str) -> Fetched:
        """Fetch what a user names by its address.

        Raises:
            PaperFileError: The settings don't allow it, or it can't be fetched.
        """
        self._require("urls", url)
        fetched = self._fetcher.get(url, max_mb=self._max_mb)
        if fetched.status != 200:
            raise PaperFileError(f"{url}: the server answers HTTP {fetched.status}; check the address")
        return fetched

    def _require(self, service: str, what: str) -> None:
        allowed: tuple[str, ...] = self._settings.contact
        if service not in allowed:
            names = ", ".join(f'"{name}"' for name in (*allowed, service))
            raise PaperFileError(f"{what}: nothing was contacted; set records.contact = [{names}] to allow it")

    def _of_crossref(self, doi: str) -> BibRecord:
        self._require("crossref", f"doi:{doi}")
        address = f"https://api.crossref.org/works/{quote(doi, safe='')}"
        found = part_of(self._json(address, "Crossref", mail="mailto"), "message")
        if not isinstance(found, dict):
            agency = part_of(self._json(f"{address}/agency", "Crossref", mail="mailto"), "message", "agency")
            name = plain_line(part_of(agency, "label"))
            if name.lower() in ("", "crossref"):
                raise PaperFileError(f"doi:{doi}: there is no such DOI; check the spelling")
            raise PaperFileError(
                f"doi:{doi}: is registered with {name}, as data sets and software usually are; Crossref has no record"
            )
        record = csl_record(found, origin="Crossref")
        if record.publication.kind == "dataset":
            raise PaperFileError(f"{record}: is a data set, not a paper")
        return record

    def _of_arxiv(self, arxiv: str) -> BibRecord:
        from ingest.readers.markup_tree import parse_xml

        self._require("arxiv", f"arXiv:{arxiv}")
        fetched = self._cached(f"https://export.arxiv.org/api/query?id_list={quote(arxiv, safe='/')}&max_results=1")
        feed = fetched.content.decode("utf-8", "replace") if fetched.status == 200 else ""
        if fetched.status not in (200, 400):
            raise PaperFileError(f"arXiv:{arxiv}: arXiv answers HTTP {fetched.status}; try later")
        entry = next(parse_xml(feed, name="arXiv")[0].iter("entry"), None) if feed.strip() else None
        record = _arxiv_record(entry) if entry is not None else None
        if record is None or record.publication.arxiv.lower() != arxiv.lower():
            raise PaperFileError(f"arXiv:{arxiv}: there is no such paper; check the number")
        return record

    def _open_places(self, record: BibRecord) -> Sequence[str]:
        doi = record.publication.doi
        self._require("unpaywall", f"{record}: the record is known, the file is missing")
        found = self._json(f"https://api.unpaywall.org/v2/{quote(doi, safe='/')}", "Unpaywall", mail="email")
        listed = part_of(found, "oa_locations")
        locations = [part_of(found, "best_oa_location"), *(listed if isinstance(listed, list) else [])]
        pages, places = (
            list(dict.fromkeys(filter(None, (plain_line(part_of(one, name)) for one in locations))))
            for name in ("url", "url_for_pdf")
        )
        if not places:
            where = f" Unpaywall names a page: {pages[0]}." if pages else ""
            raise PaperFileError(f"{record}: no open copy is known.{where} {_missing(doi)}")
        return places

    def _pdf(self, url: str) -> Fetched:
        # Some records name http, which the same hosts answer with a redirect.
        fetched = self._fetcher.get(re.sub("^http:", "https:", url), max_mb=self._max_mb)
        if fetched.status != 200 or b"%PDF-" not in fetched.content[:1024]:
            raise PaperFileError(f"{url}: HTTP {fetched.status}, {fetched.media_type or 'no type'}, no PDF")
        return fetched

    def _json(self, url: str, service: str, *, mail: str) -> Any:  # noqa: ANN401
        """Return the JSON at an address, None for HTTP 404."""
        fetched = self._cached(f"{url}?{mail}={quote(self._settings.mailto)}" if self._settings.mailto else url)
        if fetched.status == 404:
            return None
        if fetched.status != 200:
            raise PaperFileError(f"{service} answers HTTP {fetched.status}; check records.mailto, or try later")
        with suppress(ValueError):
            return from_json(fetched.content)
        raise PaperFileError(f"{service} answers no JSON; try later")

    def _cached(self, url: str) -> Fetched:
        """Fetch a record, or return what was fetched within a week."""
        file = self._folder / f"{content_hash(url.encode())}.record"
        with suppress(OSError):
            if time.time() - file.stat().st_mtime < _FRESH_SECONDS:
                return Fetched(url=url, status=200, media_type="", content=file.read_bytes())
        fetched = self._fetcher.get(url, max_mb=_MAX_RECORD_MB, seconds=60.0)
        is_record = fetched.content.lstrip().startswith(b"{") or b"<entry" in fetched.content
        if fetched.status == 200 and is_record:
            # A library that can't be written is asked about all the same.
            with suppress(OSError):
                create_private_folder(self._folder)
                replace_file(file, fetched.content, mode=PRIVATE_FILE)
        return fetched


def _missing(doi: str) -> str:
    return f"Get the file{f' from https://doi.org/{doi}' if doi else ''}, and add it"


def _arxiv_record(entry: "Node") -> BibRecord | None:
    def text(name: str) -> str:
        node = entry.find(name)
        return plain_line(node.plain_text()) if node is not None else ""

    found = arxiv_of(text("id"))
    if not found:
        # It says what was wrong.
        return None
    names = (plain_line(name.plain_text()) for name in entry.select("author", "name"))
    return BibRecord(
        origin="arXiv",
        title=text("title"),
        authors=tuple(filter(None, names)),
        publication=Publication(
            year=year_in(text("published")),
            venue=text("journal_ref"),
            doi=doi_in(text("doi")),
            arxiv=found,
            kind="article",
        ),
    )
