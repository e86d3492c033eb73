"""Reads JSON and JSON Lines of entity data: SciER, SciERC, spaCy, GLiNER, and brat's standoff files."""

import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic_core import from_json

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.tagging import word_tokens
from paperscope_lab.errors import ExampleFileError
from paperscope_lab.ner.examples import first_problem, offset_problem, read_lines

__all__ = ["Records", "read_records", "read_standoff"]

_FIELDS = ("entities", "ents", "spans", "label")


@dataclass(frozen=True, kw_only=True)
class Records:
    """What a file holds, and what could not be used, counted."""

    examples: list[Example]
    counts: Counter[str]


def read_records(path: Path) -> Records:
    """Read a file of JSON or JSON Lines, whose form its first record shows.

    | form | record |
    |---|---|
    | `tokens` | SciERC, SciER (PLM): `sentences` of tokens; `ner`: first and last token, label |
    | `surfaces` | SciER (LLM): `sentence`, and `ner` as pairs of surface and label in the order of the text |
    | `gliner` | `tokenized_text`; `ner`: first and last token, label |
    | `spacy` | `[text, {"entities": [[start, end, label]]}]`, or `text` with `entities`, `ents`, `spans` or `label` |

    Returns:
        The examples. A surface that its sentence does not contain often enough is left out and counted.

    Raises:
        ExampleFileError: The file can't be read, is empty, or a record is broken; the message names its line, or its
            number in a list.
    """
    examples: list[Example] = []
    counts: Counter[str] = Counter()
    form = ""
    for number, where, record in _records(path):
        form = form or _form(record, where)
        if not isinstance(record, dict) and not _is_pair(record):
            raise ExampleFileError(f"no record of the form {form!r}: no JSON object", where=where)
        try:
            found = list(_READERS[form](record, f"{path.name}-{number}", counts))
            problem = next(filter(None, map(offset_problem, found)), "")
        except ValidationError as error:
            problem = first_problem(error)
        except ValueError as error:
            problem = str(error)
        if problem:
            raise ExampleFileError(f"no record of the form {form!r}: {problem}", where=where)
        examples += found
    if not examples:
        raise ExampleFileError("the file has no records", where=path)
    return Records(examples=examples, counts=counts)


def _records(path: Path) -> Iterator[tuple[int, str, object]]:
    """Yield the records with their number and place."""
    lines = [(number, line) for number, line in read_lines(path) if line.strip()]
    try:
        whole = _json("\n".join(line for _, line in lines))
    except ValueError as error:
        if len(lines) < 2 or not _is_json(lines[0][1]):
            at = int(found[1]) if (found := re.search(r"at line (\d+)", str(error))) else 1
            where = f"{path}:{lines[min(at, len(lines)) - 1][0]}" if lines else str(path)
            raise ExampleFileError(f"no JSON: {error}", where=where) from error
    else:
        listed = whole if isinstance(whole, list) and not _is_pair(whole) else [whole]
        yield from ((number, f"{path}, record {number}", record) for number, record in enumerate(listed, start=1))
        return
    for order, (number, line) in enumerate(lines, start=1):
        try:
            yield order, f"{path}:{number}", _json(line)
        except ValueError as error:
            raise ExampleFileError(f"no JSON: {error}", where=f"{path}:{number}") from error


def _json(text: str) -> object:
    """Raise ValueError, also for half a surrogate pair and for what is nested too deep, unlike the json module."""
    return from_json(text, allow_inf_nan=False)


def _is_json(line: str) -> bool:
    try:
        _json(line)
    except ValueError:
        return False
    return True


def _is_pair(record: object) -> bool:
    return isinstance(record, list) and len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict)


def _form(record: object, where: str) -> str:
    keys: Iterable[str] = record if isinstance(record, dict) else ()
    if _is_pair(record) or ("text" in keys and any(name in keys for name in _FIELDS)):
        return "spacy"
    for form, needed in (("gliner", "tokenized_text"), ("tokens", "sentences"), ("surfaces", "sentence")):
        if needed in keys and "ner" in keys:
            return form
    raise ExampleFileError(
        f"a record of no known form, with {sorted(keys)}; "
        "known are SciER, SciERC, spaCy and GLiNER, described by `paperscope ner data import --help`",
        where=where,
    )


def _named(text: str) -> str:
    if not text.strip():
        raise ValueError(f"label {text!r} is blank")
    return text


def _listed(*names: str) -> BeforeValidator:
    """Read a list of these values, of which other programs add more at its end, or an object with them."""

    def read(value: object) -> object:
        if isinstance(value, list):
            return value[: len(names)]
        if isinstance(value, dict):
            if missing := [name for name in names if name not in value]:
                raise ValueError(f"field {missing[0]!r} is missing")
            return [value[name] for name in names]
        return value

    return BeforeValidator(read)


_Token = Annotated[StrictStr, Field(min_length=1)]
_Label = Annotated[StrictStr, AfterValidator(_named)]
_Entity = Annotated[tuple[StrictInt, StrictInt, _Label], _listed("start", "end", "label")]
_Document = StrictStr | StrictInt | None


class _TokenRecord(BaseModel):
    sentences: list[list[_Token]]
    ner: list[list[_Entity]]
    doc_id: _Document = None
    doc_key: _Document = None


class _GlinerRecord(BaseModel):
    tokenized_text: list[_Token]
    ner: list[_Entity]


class _SurfaceRecord(BaseModel):
    sentence: StrictStr
    ner: list[tuple[_Token, _Label]]
    doc_id: _Document = None


class _SpacyRecord(BaseModel):
    text: _Token
    entities: list[_Entity] = Field(validation_alias=AliasChoices(*_FIELDS))
    tokens: list[Annotated[tuple[StrictInt, StrictInt], _listed("start", "end")]] | None = None


def _joined(tokens: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    places: list[tuple[int, int]] = []
    position = 0
    for token in tokens:
        places.append((position, position + len(token)))
        position += len(token) + 1
    return " ".join(tokens), tuple(places)


def _token_span(places: Sequence[tuple[int, int]], first: int, last: int, label: str) -> Span:
    if not 0 <= first <= last < len(places):
        raise ValueError(f"entity [{first}, {last}] is not within the {len(places)} tokens")
    return Span(start=places[first][0], end=places[last][1], label=label)


def _token_documents(record: object, identity: str, _counts: Counter[str]) -> Iterator[Example]:
    found = _TokenRecord.model_validate(record)
    named = found.doc_id if found.doc_id is not None else found.doc_key
    document = identity if named is None else str(named)
    if len(found.ner) != len(found.sentences):
        raise ValueError(f"{len(found.sentences)} sentences, but entities of {len(found.ner)}")
    begin = 0
    for number, (tokens, entities) in enumerate(zip(found.sentences, found.ner, strict=True), start=1):
        text, places = _joined(tokens)
        spans = tuple(_token_span(places, first - begin, last - begin, label) for first, last, label in entities)
        begin += len(tokens)
        if tokens:
            yield Example(id=f"{document}-{number}", text=text, tokens=places, spans=spans, document=document)


def _gliner(record: object, identity: str, _counts: Counter[str]) -> Iterator[Example]:
    found = _GlinerRecord.model_validate(record)
    text, places = _joined(found.tokenized_text)
    spans = tuple(_token_span(places, *entity) for entity in found.ner)
    yield Example(id=identity, text=text, tokens=places, spans=spans)


def _surfaces(record: object, identity: str, counts: Counter[str]) -> Iterator[Example]:
    """Yield surfaces stand in the order of the text and do not overlap; one that can't is placed where it first
    stands."""
    found = _SurfaceRecord.model_validate(record)
    text, places = _joined(found.sentence.split())
    starts, ends = {start for start, _ in places}, {end for _, end in places}
    spans: list[Span] = []
    reached = 0
    for surface, label in found.ner:
        wanted = " ".join(surface.split())
        there = [
            (match.start(), match.start() + len(wanted))
            for match in re.finditer(f"(?={re.escape(wanted)})", text)
            if wanted and match.start() in starts and match.start() + len(wanted) in ends
        ]
        unused = [place for place in there if all(place != (span.start, span.end) for span in spans)]
        if not unused:
            counts["surfaces that the sentence does not contain, or not as often"] += 1
            continue
        free = [place for place in unused if all(place[1] <= span.start or span.end <= place[0] for span in spans)]
        possible = free or unused
        start, end = next((place for place in possible if place[0] >= reached), possible[0])
        reached = max(reached, start)
        spans.append(Span(start=start, end=end, label=label))
    document = None if found.doc_id is None else str(found.doc_id)
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
    yield Example(id=identity, text=text, tokens=places, spans=ordered, document=document)


def _spacy(record: object, identity: str, _counts: Counter[str]) -> Iterator[Example]:
    if _is_pair(record):
        text, fields = cast("tuple[str, dict[str, object]]", record)
        record = {**fields, "text": text}
    found = _SpacyRecord.model_validate(record)
    spans = tuple(Span(start=start, end=end, label=label) for start, end, label in found.entities)
    tokens = tuple(found.tokens or ()) or word_tokens(found.text)
    yield Example(id=identity, text=found.text, tokens=tokens, spans=spans)


_READERS = {"tokens": _token_documents, "gliner": _gliner, "surfaces": _surfaces, "spacy": _spacy}


def read_standoff(path: Path) -> Records:
    """Read brat's pairs of `.txt` and `.ann` from a folder or a tar archive; each text is one example.

    Returns:
        The examples. Entities in several parts have no one span; they are left out and counted, as are texts without
        annotations and annotations without a text.

    Raises:
        ExampleFileError: The path can't be read, there are no pairs, or an entity is broken; the message names the file
            and the line.
    """
    files = _folder(path) if path.is_dir() else _archive(path)
    counts: Counter[str] = Counter()
    examples = []
    for name in sorted(name for name in files if name.endswith(".txt")):
        notes = files.get(name.removesuffix(".txt") + ".ann")
        if notes is None:
            counts["texts without a file of annotations"] += 1
            continue
        identity = Path(name).stem
        text = _utf8(files[name], f"{path}, {name}")
        entities = _utf8(notes, f"{path}, {identity}.ann", encoding="utf-8-sig").split("\n")
        spans = []
        for number, line in enumerate(entities, start=1):
            if line.startswith("T"):
                spans += _standoff_span(line, text, counts, where=f"{path}, {identity}.ann:{number}")
        examples.append(
            Example(id=identity, text=text, tokens=word_tokens(text), spans=tuple(spans), document=identity)
        )
    if not examples:
        raise ExampleFileError("no pairs of .txt and .ann files", where=path)
    if alone := sum(name.endswith(".ann") and name.removesuffix(".ann") + ".txt" not in files for name in files):
        counts["files of annotations without a text"] = alone
    return Records(examples=examples, counts=counts)


def _folder(path: Path) -> dict[str, bytes]:
    try:
        return {file.name: file.read_bytes() for file in path.iterdir() if file.suffix in (".txt", ".ann")}
    except OSError as error:
        raise ExampleFileError(f"can't be read ({error.strerror})", where=path) from error


def _archive(path: Path) -> dict[str, bytes]:
    try:
        with tarfile.open(path) as archive:
            members = [member for member in archive if member.isfile()]
            return {member.name: file.read() for member in members if (file := archive.extractfile(member))}
    except FileNotFoundError as error:
        raise ExampleFileError(f"can't be read ({error.strerror})", where=path) from error
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ExampleFileError(f"can't be read as a tar archive ({error})", where=path) from error


def _utf8(data: bytes, where: str, *, encoding: str = "utf-8") -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ExampleFileError(f"not UTF-8 text ({error.reason} at byte {error.start})", where=where) from error


def _standoff_span(line: str, text: str, counts: Counter[str], *, where: str) -> list[Span]:
    match = re.fullmatch(r"T\S*\t(\S+) (\d+ \d+(?:;\d+ \d+)*)\t(.*)", line.removesuffix("\r"))
    if not match:
        raise ExampleFileError("expected T1<TAB>label start end<TAB>surface", where=where)
    label, places, surface = match.groups()
    if ";" in places:
        counts["entities in several parts"] += 1
        return []
    start, end = map(int, places.split(" "))
    if not 0 <= start < end <= len(text):
        raise ExampleFileError(f"entity [{start}, {end}] is empty or not within the text", where=where)
    if text[start:end].split() != surface.split():
        raise ExampleFileError(f"[{start}, {end}] is {text[start:end]!r}, not {surface!r}", where=where)
    return [Span(start=start, end=end, label=label)]
