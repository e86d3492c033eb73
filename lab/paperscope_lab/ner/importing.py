"""Reads entity data of any supported format, by its name or by what the file looks like."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import InputError
from paperscope_lab.errors import ExampleFileError
from paperscope_lab.ner.columns import TaggedText, read_columns, read_klue
from paperscope_lab.ner.examples import read_examples, read_lines, repeated_id
from paperscope_lab.ner.records import Records, read_records, read_standoff
from paperscope_lab.ner.tags import Scheme

__all__ = ["FORMATS", "Format", "Imported", "import_examples"]

Format = Literal["columns", "klue", "json", "standoff", "spans"]
# A column file may start with the token "[" or "{", which a tag follows.
_JSON_START = re.compile(r"""\s*[\[{]\s*(?:$|["\[{\]}])""")
# Our tokens are pairs of numbers; there are none where a text came without.
_OWN_TOKENS = re.compile(r""""tokens"\s*:\s*\[\s*[\[\]]""")
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The examples of a file, its format, and what broke the format or was left out, counted.

    `tags` are the tags of the tokens of each example, and `scheme` is their scheme, if the format has tags.
    `document_marks` is the number of lines `-DOCSTART-`, which some programs count as sentences of one token; one may
    be the last line of a file.
    """

    examples: list[Example]
    format: Format
    counts: Counter[str]
    tags: list[list[str]] | None = None
    scheme: Scheme | None = None
    document_marks: int = 0


def import_examples(path: Path, *, form: Format | None = None, scheme: Scheme | None = None) -> Imported:
    """Read entity data.

    Args:
        path: A file, or a folder of standoff files.
        form: `columns` (CoNLL, JNLPBA, WNUT, TDMSci), `klue`, `json` (SciER, SciERC, spaCy, GLiNER), `standoff` (brat)
            or `spans` (what `write_examples` writes); None finds it.
        scheme: The scheme of tags in columns; None finds it.

    Raises:
        ExampleFileError: The file can't be read in this format (the message names the line), or two texts have one id.
        InputError: A scheme is given for a format without tags.
    """
    form = form or _format_of(path)
    if scheme and form not in ("columns", "klue"):
        raise InputError(f"--scheme {scheme}: {path} has the format {form!r}, which has no tags; leave the option out")
    if form == "spans":
        return Imported(examples=read_examples(path), format=form, counts=Counter())
    if form in ("columns", "klue"):
        text: TaggedText = (read_klue if form == "klue" else read_columns)(path, scheme=scheme)
        found = Imported(
            examples=text.examples,
            format=form,
            counts=text.counts,
            tags=text.tags,
            scheme=text.scheme,
            document_marks=text.document_marks,
        )
    else:
        records: Records = (read_standoff if form == "standoff" else read_records)(path)
        found = Imported(examples=records.examples, format=form, counts=records.counts)
    if repeated := repeated_id(found.examples):
        raise ExampleFileError(f"two texts have the id {repeated!r}; an id joins a prediction to its text", where=path)
    return found


def _format_of(path: Path) -> Format:
    if path.is_dir() or path.name.endswith((".tar", ".tar.gz", ".tgz")):
        return "standoff"
    first = next((line for _, line in read_lines(path) if line.strip()), "")
    if first.startswith("## ") and "\t" in first:
        return "klue"
    if _JSON_START.match(first):
        return "spans" if _OWN_TOKENS.search(first) and '"spans"' in first and '"id"' in first else "json"
    return "columns"
