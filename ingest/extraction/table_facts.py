"""Names in a table's headers, and the relations that its headers and cells state."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ingest.extraction.entity_types import CLASS_WORDS, LocalRelationKind, TermType, type_of_class
from ingest.extraction.mentions import excerpt
from ingest.extraction.name_types import type_of_name
from paperscope_core.text.words import STOP_WORDS, entity_key, word_key
from paperscope_core.types import Relation, Table
from paperscope_core.types.tables import TableRow, column_headers, table_rows

__all__ = ["table_names", "table_relations"]

_CITATION = re.compile(
    r"""(?<!\s)\s*+(?: [(\[][^()\[\]]*\b(?:19|20)\d\d[a-z]?[)\]]   # (Lin et al., 2018)
      | \[\d[\d,\s]*\] | \((?:ours|this\ work)\) )""",
    re.IGNORECASE | re.VERBOSE,
)
_UNIT = re.compile(r"(?<!\s)\s*+\([^\w()]+\)$")
_MARKS = " \t.,:;*?\u2020\u2021\u00a7\u2191\u2193\u2713\u2717|"
_NUMBER = re.compile(r"[^\w]*\d(?:[\d\W]|x(?=\W*\d)|e(?=[\d\-+]))*+[a-zA-Z]{0,3}\W*+")
_DASHES = "-\u2010\u2011\u2013\u2014\u2212\u2022\u00b7 "
_ITEM = re.compile(r"\(?\d+[).] |\(\w\)$|[IVX]+$")
_WORD = re.compile(r"[^\W\d_]+")
_MAX_WORDS = 8


def table_names(table: Table) -> Iterator[tuple[str, TermType]]:
    """Yield column headers with their groups, and row stubs, each once, with the type that its words, or the title over
    the rows, indicate.

    Sentences, numbers and class words such as "Model" name nothing; nor do tables of prose.
    """
    rows = list(table_rows(table))
    if _is_prose(table):
        return
    title = next((" ".join(headers) for headers in column_headers(table)[:1]), "")
    found: dict[str, tuple[str, TermType]] = {}
    for headers in column_headers(table):
        for header in headers:
            _add(found, header, "concept")
    for row in rows:
        for section in row.sections:
            _add(found, section, "concept")
        for header in row.headers if row.values else ():
            _add(found, header, _row_type(header, title=title))
    yield from found.values()


def _is_prose(table: Table) -> bool:
    """Return whether a table has long texts and hardly a number: a prompt, an example or a questionnaire."""
    texts = [cell.text for cell in table.cells if cell.text.strip()]
    words = sum(len(text.split()) for text in texts)
    return words > 4 * len(texts) and sum(map(_is_number, texts)) * 10 < len(texts)


def _row_type(header: str, *, title: str) -> TermType:
    """Return the type indicated by the title over the row headers ("Dataset")."""
    return "quantity" if "=" in header else type_of_class(title)


def _add(found: dict[str, tuple[str, TermType]], text: str, guess: TermType) -> None:
    if name := _clean_name(text):
        indicated = type_of_name(name)
        found.setdefault(entity_key(name), (name, guess if indicated == "concept" else indicated))


def _clean_name(text: str) -> str:
    """Return the name in a header without citations and marks; "" if no short name with a letter remains.

    A row whose name is a citation ("Lin et al. (2018)") keeps it.
    """
    text = " ".join(text.split())
    name = _UNIT.sub("", _CITATION.sub("", text).lstrip(_DASHES).strip(_MARKS))
    if _ITEM.match(name):
        return ""
    if name.endswith("et al"):
        name = text
    if name.count("(") != name.count(")"):
        name = name.strip("()")
    words = _WORD.findall(name.casefold())
    function_words = sum(word in STOP_WORDS for word in words)
    if (
        len(words) > _MAX_WORDS
        or function_words * 3 > len(words)
        or all(word in STOP_WORDS or word_key(word) in CLASS_WORDS for word in words)
    ):
        return ""
    return name


def _is_number(text: str) -> bool:
    """Return whether a cell's text is a number, possibly with signs, marks and a short unit."""
    return _NUMBER.fullmatch(text.strip()) is not None


def table_relations(table: Table, ids: Mapping[str, str]) -> Iterator[Relation]:
    """Yield the relations of a table: it `shows` the entities of its headers, each numeric cell is a `result`, and
    each row within a group of columns `results`.

    Descriptions of cells read "ROW, COLUMN: VALUE (Table 5)"; the column's name is qualified by its group.

    Args:
        ids: The ids of entities by their folded names. A subject or object without an entity is the table itself.
    """
    title = " ".join(filter(None, (table.label, table.caption)))
    for name, _ in table_names(table):
        if entity := ids.get(entity_key(name)):
            description = excerpt(f"{title} | {name}" if title else name)
            yield Relation(source=table.id, target=entity, kind="shows", description=description, sources=(table.id,))
    for kind, subject, object_, description in _statements(table):
        source, target = (ids.get(entity_key(name), table.id) for name in (subject, object_))
        source = table.id if source == target else source
        yield Relation(source=source, target=target, kind=kind, description=description, sources=(table.id,))


def _statements(table: Table) -> Iterator[tuple[LocalRelationKind, str, str, str]]:
    """Yield the kind, the subject, the object and the description of each statement; "" means the table itself."""
    if _is_prose(table):
        return
    headers = column_headers(table)
    label = f" ({table.label})" if table.label else ""
    for row in table_rows(table):
        subject = _subject(row)
        grouped: dict[str, list[str]] = {}
        for column, cell in row.values:
            value = " ".join(cell.text.split())
            if not _is_number(value):
                continue
            leaf, group = _leaf_and_group(headers[column], row.sections)
            heads = ", ".join(filter(None, (row.name, " ".join(headers[column]))))
            if heads:
                yield "result", subject, leaf, f"{heads}: {value}{label}"
            if group:
                grouped.setdefault(group, []).append(f"{leaf} {value}".strip())
        if subject:
            for group, values in grouped.items():
                yield "results", subject, group, f"{' '.join(row.headers)}, {group}: {', '.join(values)}{label}"


def _subject(row: TableRow) -> str:
    """Return the most specific header of a row that is a name."""
    names = [_clean_name(text) for text in (*row.sections, *row.headers)]
    return next((name for name in reversed(names) if name), "")


def _leaf_and_group(headers: Sequence[str], sections: Sequence[str]) -> tuple[str, str]:
    """Return a column's own name and its group's, or the row's section if the column has no group; "" if there is
    none."""
    names = [name for header in headers if (name := _clean_name(header))]
    groups = [*filter(None, map(_clean_name, sections)), *names[:-1]]
    return (names[-1] if names else ""), (groups[-1] if groups else "")
