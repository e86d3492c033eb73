"""Reads files with a token and its tag on each line: CoNLL, JNLPBA, WNUT, TDMSci, and KLUE with a character a line."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.tagging import word_tokens
from paperscope_core.files import write_atomically
from paperscope_lab.errors import ExampleFileError
from paperscope_lab.ner.examples import read_lines
from paperscope_lab.ner.scoring import aligned_tags
from paperscope_lab.ner.tags import Scheme, decode, detect_scheme, encode, split_tag, violations

__all__ = [
    "DOCUMENT_MARK",
    "Sentence",
    "TaggedText",
    "example_of_tags",
    "read_columns",
    "read_klue",
    "read_tagged",
    "write_columns",
]

DOCUMENT_MARK = "-DOCSTART-"
"""The token of a line that starts a document, in CoNLL files. Such a line is no sentence."""
_SEPARATOR = re.compile(r"[ \t]+")
_KLUE_HEAD = re.compile(r"## ([^\t]+)\t")


@dataclass(kw_only=True)
class Sentence:
    """The tokens of a sentence with their tags, offsets where the file states them, and lines."""

    document: str | None = None
    id: str = ""
    tokens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class TaggedText:
    """What a file of tags holds: its examples, the tags of their tokens, the scheme, how many tags break it, and the
    number of lines `-DOCSTART-`."""

    examples: list[Example]
    tags: list[list[str]]
    scheme: Scheme
    counts: Counter[str]
    document_marks: int = 0


def read_columns(path: Path, *, scheme: Scheme | None = None) -> TaggedText:
    """Read a file with a token a line, its tag in the last column, and an empty line after each sentence.

    Columns are separated by spaces or tabs. A second column of character offsets, as in TDMSci, restores the spaces of
    the text; otherwise the tokens are joined by one space.

    Args:
        path: The file.
        scheme: The scheme of its tags; None finds it. It decides which tags are counted as breaking the scheme, not
            which entities are read: a tag that continues nothing starts an entity.

    Returns:
        The sentences without those of `-DOCSTART-`, which start a new document.

    Raises:
        ExampleFileError: The file can't be read, has no tokens, or a line has no tag; the message names the line.
    """
    found = _tagged(path, list(read_tagged(path)), scheme)
    return replace(found, document_marks=sum(line.startswith(DOCUMENT_MARK) for _, line in read_lines(path)))


def read_klue(path: Path, *, scheme: Scheme | None = None) -> TaggedText:
    """Read a KLUE file: after a line `## id<TAB>text`, each character with its tag.

    Each character but a space is a token.

    Raises:
        ExampleFileError: The file can't be read, has no characters, or a line has no tag; the message names the line.
    """
    sentences: list[Sentence] = []
    for number, line in read_lines(path):
        if head := _KLUE_HEAD.match(line):
            sentences.append(Sentence(id=head.group(1)))
        elif line:
            character, tab, tag = line.partition("\t")
            if not tab or not sentences:
                raise ExampleFileError(
                    "expected `## id<TAB>text`, or a character, a tab and a tag", where=f"{path}:{number}"
                )
            _add(sentences[-1], character, tag, where=f"{path}:{number}", number=number)
    for sentence in sentences:
        sentence.offsets = [0]
        for character in sentence.tokens:
            sentence.offsets.append(sentence.offsets[-1] + len(character))
    return _tagged(path, sentences, scheme)


def write_columns(path: Path, examples: Sequence[Example], scheme: Scheme) -> int:
    """Write a file that `read_columns` reads, with the words of a text as tokens where it has none.

    Returns:
        The number of entities that tags can't say; see `aligned_tags`.

    Raises:
        OutputError: The file can't be written.
    """
    lines: list[str] = []
    document: str | None = None
    lost = 0
    for example in examples:
        if example.document is not None and example.document != document:
            lines += [f"{DOCUMENT_MARK} O", ""]
        document = example.document
        tokens = example.tokens or word_tokens(example.text)
        entities = decode(aligned_tags(example, tokens=tokens))
        lost += len(example.spans) - len(entities)
        tags = encode(len(tokens), entities, scheme)
        lines += [f"{example.text[start:end]} {tag}" for (start, end), tag in zip(tokens, tags, strict=True)]
        lines.append("")
    write_atomically(path, "\n".join([*lines, ""]).encode())
    return lost


def read_tagged(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a file in columns, without empty ones. Raises ExampleFileError as `read_columns` does."""
    columns = documents = 0
    document, sentence = None, Sentence()
    for number, line in read_lines(path):
        cells = _SEPARATOR.split(line.strip(" \t")) if line.strip(" \t") else []
        if cells and cells[0] == DOCUMENT_MARK:
            documents += 1
            document, cells = f"{path.name}-{documents}", []
        if not cells:
            if sentence.tokens:
                yield sentence
            sentence = Sentence(document=document)
            continue
        columns = columns or len(cells)
        if len(cells) != columns or columns < 2:
            raise ExampleFileError(
                f"{len(cells)} columns, expected {max(columns, 2)}: a token, its tag last", where=f"{path}:{number}"
            )
        _add(sentence, cells[0], cells[-1], where=f"{path}:{number}", number=number)
        if columns == 3 and cells[1].isascii() and cells[1].isdigit():
            sentence.offsets.append(int(cells[1]))
    if sentence.tokens:
        yield sentence


def _add(sentence: Sentence, token: str, tag: str, *, where: str, number: int) -> None:
    try:
        split_tag(tag)
    except ValueError as error:
        raise ExampleFileError(str(error), where=where) from error
    sentence.tokens.append(token)
    sentence.tags.append(tag)
    sentence.lines.append(number)


def _tagged(path: Path, sentences: Sequence[Sentence], scheme: Scheme | None) -> TaggedText:
    if not sentences:
        raise ExampleFileError("the file has no tokens", where=path)
    scheme = scheme or detect_scheme(sentence.tags for sentence in sentences)
    broken_tags, blank = Counter[str](), 0
    documents = _documents_by_offset(path, sentences)
    examples = []
    for number, (sentence, document) in enumerate(zip(sentences, documents, strict=True), start=1):
        if broken := violations(sentence.tags, scheme):
            broken_tags[f"tags that break {scheme}, first on line {sentence.lines[broken[0]]}"] += len(broken)
        identity = sentence.id or f"{path.name}-{number}"
        examples.append(
            example_of_tags(identity, sentence.tokens, sentence.tags, offsets=sentence.offsets, document=document)
        )
        blank += len(decode(sentence.tags)) - len(examples[-1].spans)
    tags = [
        [tag for token, tag in zip(sentence.tokens, sentence.tags, strict=True) if token.strip()]
        for sentence in sentences
    ]
    counts = _with_first_line(broken_tags) + Counter({"entities of white space alone": blank})
    return TaggedText(examples=examples, tags=tags, scheme=scheme, counts=counts)


def _with_first_line(counts: Counter[str]) -> Counter[str]:
    """Return one count in place of one per sentence; it names the first line."""
    return Counter({next(iter(counts)): counts.total()}) if counts else counts


def _documents_by_offset(path: Path, sentences: Sequence[Sentence]) -> list[str | None]:
    """Return the document of each sentence: that of the file, or a new one where the offsets start again."""
    documents: list[str | None] = []
    number, last = 0, -1
    for sentence in sentences:
        if sentence.document or sentence.id or not _states_offsets(sentence):
            documents.append(sentence.document)
            continue
        number += sentence.offsets[0] <= last or not documents
        last = sentence.offsets[-1]
        documents.append(f"{path.name}-{number}")
    return documents


def _states_offsets(sentence: Sentence) -> bool:
    """Return whether the second column can be the places of the tokens."""
    places = list(zip(sentence.offsets, sentence.tokens, strict=False))
    return len(sentence.offsets) >= len(sentence.tokens) and all(
        start + len(token) <= after for (start, token), (after, _) in pairwise(places)
    )


def example_of_tags(
    identity: str,
    tokens: Sequence[str],
    tags: Sequence[str],
    *,
    offsets: Sequence[int] = (),
    document: str | None = None,
) -> Example:
    """Return an example of tokens with tags.

    Args:
        identity: The example's id.
        tokens: The tokens; one that is white space becomes a space of the text and no token.
        tags: Their tags. An entity of white space alone is left out.
        offsets: Where the tokens start in a document; where they leave a gap, the text has one space. Without offsets
            there is a space after each token.
        document: The document.

    Raises:
        ValueError: A tag is of none of the schemes.
    """
    if not _states_offsets(Sentence(tokens=list(tokens), offsets=list(offsets))):
        offsets = []
    text = ""
    places: list[tuple[int, int]] = []
    for number, token in enumerate(tokens):
        gap = not offsets or offsets[number] > offsets[number - 1] + len(tokens[number - 1])
        text += " " if number and gap else ""
        places.append((len(text), len(text) + len(token)))
        text += token
    kept = tuple(place for place, token in zip(places, tokens, strict=True) if token.strip())
    spans = []
    for start, end, label in decode(tags):
        inside = [place for place, token in zip(places[start:end], tokens[start:end], strict=True) if token.strip()]
        if inside:
            spans.append(Span(start=inside[0][0], end=inside[-1][1], label=label))
    return Example(id=identity, text=text, tokens=kept, spans=tuple(spans), document=document)
