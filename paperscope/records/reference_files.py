"""Reads reference files: BibTeX, RIS and CSL-JSON."""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.formats import PAPER_SUFFIXES
from paperscope.records.csl_items import csl_record
from paperscope_core.errors import PaperFileError
from paperscope_core.types import BibRecord

if TYPE_CHECKING:
    from bibtexparser.middlewares import NameParts

__all__ = ["REFERENCE_SUFFIXES", "Reference", "read_references"]

REFERENCE_SUFFIXES = frozenset({".bib", ".ris", ".json"})
"""The suffixes of reference files."""

_MAX_BYTES = 20_000_000
# The time of decoding TeX grows with the square of a field's length.
_MAX_FIELD = 2000
_MAX_AUTHORS = 20_000
# The types of BibTeX and RIS.
_KINDS = {
    name: kind
    for kind, names in {
        "article-journal": "article jour jfull",
        "paper-conference": "inproceedings conference conf cpaper",
        "chapter": "incollection inbook chap",
        "book": "book",
        "thesis": "phdthesis mastersthesis thesis thes",
        "report": "techreport report rprt",
        "article": "unpb",
        "dataset": "dataset data",
    }.items()
    for name in names.split()
}
# What CSL calls the fields of BibTeX, in lower case, and of RIS. The first that has a value counts.
_FIELDS = {
    "title": "title TI T1",
    "issued": "year date PY Y1 DA",
    "container-title": "journal journaltitle booktitle howpublished T2 JO JF BT JA",
    "volume": "volume VL",
    "issue": "number issue IS",
    "page": "pages SP",
    "publisher": "publisher school institution PB",
    "DOI": "doi DO",
    "number": "eprint",
    "URL": "url UR",
}
_READ = frozenset(" ".join(_FIELDS.values()).split())
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

    A file that an entry names counts only if it is a paper by its name, and within the folder of the reference file,
    which may be a stranger's.

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
        Reference(
            record=csl_record(item, origin=path.name),
            file=next(filter(None, (_local(path, name) for name in files)), None),
        )
        for item, files in read(text)
    ]
    if not found:
        raise PaperFileError(f"{path}: has no entries; is it BibTeX, RIS or CSL-JSON, as its name says?")
    return found


def _local(path: Path, name: str) -> Path | None:
    folder = path.resolve().parent
    try:
        file = (folder / name).resolve()
        is_paper = file.suffix.lower() in PAPER_SUFFIXES and file.is_file()
        return file if is_paper and file.is_relative_to(folder) else None
    except (OSError, RuntimeError, ValueError):
        return None


Item = Mapping[str, object]
_Entries = Iterator[tuple[Item, Sequence[str]]]


def _item(values: Mapping[str, str], *, kind: str, names: Iterable[tuple[str, str]]) -> Item:
    """Return an item of CSL-JSON with the values of an entry, and the given and family names of its authors."""
    found = {field: next(filter(None, map(values.get, keys.split())), "") for field, keys in _FIELDS.items()}
    return {
        **found,
        "type": _KINDS.get(kind.lower(), ""),
        "author": [{"given": given, "family": family} for given, family in names],
        "issued": {"raw": found["issued"]},
        "number": f"arXiv:{found['number']}",
    }


def _read_csl(text: str) -> _Entries:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PaperFileError(f"it is no JSON ({error})") from error
    items = document.get("items", [document]) if isinstance(document, dict) else document
    for item in items if isinstance(items, list) else []:
        # Any JSON has such a name; an item has a title and a type.
        if isinstance(item, dict) and "type" in item and "title" in item:
            yield item, ()


def _read_bibtex(text: str) -> _Entries:
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    read = parse_string(text)
    # With two fields of one name, or the key of another entry.
    doubtful = (block.ignore_error_block for block in read.failed_blocks)
    for entry in (*read.entries, *(block for block in doubtful if isinstance(block, Entry))):
        # The first of two fields counts.
        values = {one.key.lower(): str(one.value) for one in reversed(entry.fields)}
        given, authors = _decoded(values)
        names = [(" ".join(one.first), " ".join([*one.von, *one.last, *one.jr])) for one in authors]
        file = values.get("file", "")[:_MAX_FIELD]
        files = [file, *(part.replace("\\", "") for part in _FILE_PARTS.split(file))]
        yield _item(given, kind=entry.entry_type, names=names), files


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
    fields += [Field(key, value[:_MAX_FIELD]) for key, value in values.items() if key in _READ]
    entries = middlewares.LatexDecodingMiddleware().transform(Library([Entry("misc", "key", fields)])).entries
    # What can't be decoded stays as it is.
    decoded = entries[0].fields if entries else fields
    return {one.key: one.value for one in decoded[len(names) :]}, [one.value for one in decoded[: len(names)]]


def _read_ris(text: str) -> _Entries:
    fields: dict[str, list[str]] = defaultdict(list)
    for line in [*text.splitlines(), "ER  -"]:
        tagged = _RIS_LINE.fullmatch(line.strip())
        if tagged is None:
            continue
        if tagged[1] != "ER":
            fields[tagged[1]].append(tagged[2] or "")
        elif fields:
            values = {tag: next(filter(None, given), "") for tag, given in fields.items()}
            if values.get("EP") and "-" not in values.get("SP", ""):
                values["SP"] = f"{values.get('SP', '')}-{values['EP']}"
            names = (one.partition(",")[::2] for one in (*fields["AU"], *fields["A1"]))
            people = [(given.replace(",", " ").strip(), family.strip()) for family, given in names]
            item = _item(values, kind=values.get("TY", ""), names=people)
            yield item, [one.removeprefix("file://") for one in fields["L1"]]
            fields = defaultdict(list)
