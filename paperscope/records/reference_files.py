"""Reads reference files: BibTeX, RIS and CSL-JSON."""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paperscope.records.csl_items import arxiv_of, csl_record, items_in, plain_line
from paperscope_core.errors import PaperFileError
from paperscope_core.publication import doi_in, year_in
from paperscope_core.types import BibRecord, Publication, WorkKind

if TYPE_CHECKING:
    from bibtexparser.middlewares import NameParts

__all__ = ["REFERENCE_SUFFIXES", "Reference", "read_references"]

REFERENCE_SUFFIXES = frozenset({".bib", ".ris", ".json"})
"""The suffixes of reference files."""

_MAX_BYTES = 20_000_000
# The time of decoding TeX grows with the square of a field's length.
_MAX_FIELD = 2000
_MAX_AUTHORS = 20_000
_BIBTEX_KINDS: Mapping[str, WorkKind] = {
    "article": "article-journal",
    "inproceedings": "paper-conference",
    "conference": "paper-conference",
    "incollection": "chapter",
    "inbook": "chapter",
    "book": "book",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "thesis": "thesis",
    "techreport": "report",
    "report": "report",
    "dataset": "dataset",
}
_RIS_KINDS: Mapping[str, WorkKind] = {
    "JOUR": "article-journal",
    "JFULL": "article-journal",
    "CONF": "paper-conference",
    "CPAPER": "paper-conference",
    "CHAP": "chapter",
    "BOOK": "book",
    "THES": "thesis",
    "RPRT": "report",
    "UNPB": "article",
    "DATA": "dataset",
}
_BIBTEX_FIELDS = frozenset(
    """title year date journal journaltitle booktitle howpublished volume number issue pages publisher school
    institution doi eprint url""".split()
)
_RIS_LINE = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*))?")
# JabRef and Zotero separate files by semicolons, and each file's description, path and type by colons.
_FILE_PARTS = re.compile(r"(?<!\\)[;:]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """An entry of a reference file: its record, and the file that it names, if that is there."""

    record: BibRecord
    file: Path | None = None


def read_references(path: Path) -> Sequence[Reference]:
    """Return the entries of a reference file.

    A file that an entry names counts only within the folder of the reference file, which may be a stranger's.

    Raises:
        PaperFileError: The file can't be read, or has no entries.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise PaperFileError(f"{path}: has more than {_MAX_BYTES // 1_000_000} MB; divide it")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PaperFileError(f"{path}: can't be read ({error}); name a reference file in UTF-8") from error
    read = {".bib": _read_bibtex, ".ris": _read_ris, ".json": _read_csl}[path.suffix.lower()]
    found = [
        Reference(record=record, file=next(filter(None, (_local(path, name) for name in files)), None))
        for record, files in read(text, path.name)
    ]
    if not found:
        raise PaperFileError(f"{path}: has no entries; is it BibTeX, RIS or CSL-JSON, as its name says?")
    return found


def _local(path: Path, name: str) -> Path | None:
    folder = path.resolve().parent
    try:
        file = (folder / name).resolve()
        return file if name and file.is_relative_to(folder) and file.is_file() else None
    except (OSError, ValueError):
        return None


_Entries = Iterator[tuple[BibRecord, Sequence[str]]]


def _read_csl(text: str, name: str) -> _Entries:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PaperFileError(f"{name}: is no JSON ({error})") from error
    for item in items_in(document):
        # Any JSON has such a name; an item has a title and a type.
        if "type" in item and "title" in item:
            yield csl_record(item, origin=name), ()


def _read_bibtex(text: str, name: str) -> _Entries:
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    read = parse_string(text)
    # With two fields of one name, or the key of another entry.
    doubtful = (block.ignore_error_block for block in read.failed_blocks)
    for entry in (*read.entries, *(block for block in doubtful if isinstance(block, Entry))):
        # The first of two fields counts.
        values = {one.key.lower(): str(one.value) for one in reversed(entry.fields)}
        yield _bibtex_record(entry.entry_type.lower(), values, name), _named_files(values.get("file", ""))


def _bibtex_record(kind: str, values: Mapping[str, str], name: str) -> BibRecord:
    given, authors = _decoded(values)
    first = given.get
    return _record(
        name,
        title=first("title", ""),
        names=[
            (plain_line(" ".join(one.first)), plain_line(" ".join((*one.von, *one.last, *one.jr)))) for one in authors
        ],
        date=first("year") or first("date", ""),
        kind=_BIBTEX_KINDS.get(kind, ""),
        venue=first("journal") or first("journaltitle") or first("booktitle") or first("howpublished", ""),
        volume=first("volume", ""),
        issue=first("number") or first("issue", ""),
        pages=first("pages", ""),
        publisher=first("publisher") or first("school") or first("institution", ""),
        ids=[first("doi", ""), f"arXiv:{first('eprint', '')}", first("url", "")],
    )


def _decoded(values: Mapping[str, str]) -> "tuple[dict[str, str], list[NameParts]]":
    """Return the fields that count, and the names of the authors, with TeX as Unicode."""
    from bibtexparser import middlewares
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field

    split = Library([Entry("misc", "key", [Field("author", values.get("author", "")[:_MAX_AUTHORS])])])
    for step in (middlewares.SeparateCoAuthors(), middlewares.SplitNameParts()):
        split = step.transform(split)
    # The decoder leaves lists alone, such as that of the names.
    names = split.entries[0].fields[0].value if split.entries and values.get("author") else []
    fields = [Field(str(at), one) for at, one in enumerate(names)]
    fields += [Field(key, value[:_MAX_FIELD]) for key, value in values.items() if key in _BIBTEX_FIELDS]
    entries = middlewares.LatexDecodingMiddleware().transform(Library([Entry("misc", "key", fields)])).entries
    # What can't be decoded stays as it is.
    decoded = entries[0].fields if entries else fields
    plain = {one.key: plain_line(one.value) for one in decoded[len(names) :]}
    return plain, [one.value for one in decoded[: len(names)]]


def _joined(words: Sequence[str]) -> str:
    return plain_line(" ".join(words))


def _named_files(value: str) -> list[str]:
    parts = [part.replace("\\", "") for part in _FILE_PARTS.split(value[:_MAX_FIELD])]
    return [value, *parts]


def _read_ris(text: str, name: str) -> _Entries:
    fields: dict[str, list[str]] = defaultdict(list)
    for line in [*text.splitlines(), "ER  -"]:
        tagged = _RIS_LINE.fullmatch(line.strip())
        if tagged is None:
            continue
        if tagged[1] == "ER" and fields:
            yield _ris_record(fields, name), [one.removeprefix("file://") for one in fields["L1"]]
            fields = defaultdict(list)
        elif tagged[1] != "ER":
            fields[tagged[1]].append(plain_line(tagged[2] or ""))


def _ris_record(fields: Mapping[str, Sequence[str]], name: str) -> BibRecord:
    def first(*tags: str) -> str:
        return next((value for tag in tags for value in fields.get(tag, ()) if value), "")

    names = [one.split(",", 2) for one in (*fields.get("AU", ()), *fields.get("A1", ()))]
    start, end = first("SP"), first("EP")
    return _record(
        name,
        title=first("TI", "T1"),
        names=[(" ".join(part.strip() for part in parts[1:]), parts[0].strip()) for parts in names],
        date=first("PY", "Y1", "DA"),
        kind=_RIS_KINDS.get(first("TY"), ""),
        venue=first("T2", "JO", "JF", "BT", "JA"),
        volume=first("VL"),
        issue=first("IS"),
        pages=f"{start}-{end}" if start and end and "-" not in start else start,
        publisher=first("PB"),
        ids=[first("DO"), *fields.get("UR", ())],
    )


def _record(
    origin: str,
    *,
    title: str,
    names: Sequence[tuple[str, str]],
    date: str,
    kind: WorkKind,
    venue: str,
    volume: str,
    issue: str,
    pages: str,
    publisher: str,
    ids: Sequence[str],
) -> BibRecord:
    doi, arxiv = next(filter(None, map(doi_in, ids)), ""), arxiv_of(*ids, venue)
    if arxiv and "arxiv" in f"{doi} {venue}".lower():
        # The DOI is arXiv's, and so is the venue.
        doi, venue, kind = ("" if "arxiv" in doi.lower() else doi), "", "article"
    known = [(given, family) for given, family in names if family]
    return BibRecord(
        origin=origin,
        title=title,
        authors=tuple(" ".join(filter(None, one)) for one in known),
        publication=Publication(
            year=year_in(date),
            venue="" if venue.startswith(("http:", "https:")) else venue,
            doi=doi,
            arxiv=arxiv,
            kind=kind,
            volume=volume if not arxiv or doi else "",
            issue=issue,
            pages=re.sub(r"\s*[-–—]+\s*", "-", pages),
            publisher=publisher,
            families=tuple(family for _, family in known),
        ),
    )
