"""Writes literature tables as CSV, XLSX, Markdown, LaTeX, JSON and BibTeX."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from paperscope.bibliographies import bibtex, bibtex_keys, tex_escaped
from paperscope_core.codec import to_json
from paperscope_core.text.escaping import markdown_heading, markdown_line, one_line, spreadsheet_csv
from paperscope_core.types import PaperEntry, Publication
from paperscope_core.types.literature import LiteratureCell, LiteratureRow, LiteratureTable

__all__ = ["EXPORTS", "export_table"]

Entries = Mapping[str, PaperEntry]
Published = Mapping[str, Publication]

# A spreadsheet's cell has no more characters.
_LONGEST_CELL = 32_767
_LONGEST_NOTE = 1000
_DOUBTFUL, _CORRECTED = "?", "*"
_LEGEND = f"{_DOUBTFUL} look at the place before you use it; {_CORRECTED} corrected by hand"
_WIDTH = 32


def export_table(
    table: LiteratureTable,
    entries: Sequence[PaperEntry],
    form: str,
    *,
    publications: Published = MappingProxyType({}),
) -> bytes:
    """Return a table in a form of `EXPORTS`.

    Excluded rows are in JSON and XLSX, and listed with their reasons in Markdown.

    Args:
        table: The table.
        entries: The papers of the library.
        form: "csv", "xlsx", "md", "tex", "json" or "bib".
        publications: What records say of the papers, for "bib".

    Raises:
        KeyError: There is no such form.
    """
    known = {entry.id: entry for entry in entries}
    return EXPORTS[form][1](table, known, publications)


def _head(table: LiteratureTable) -> list[str]:
    return ["paper", "authors", "year", *([table.columns.rows] if table.columns.rows != "paper" else [])]


def _named(table: LiteratureTable, row: LiteratureRow, entries: Entries) -> list[str]:
    entry = entries.get(row.paper)
    authors, year = ("; ".join(entry.authors), str(entry.year or "")) if entry else ("", "")
    title = (entry.title or entry.file) if entry else row.title
    return [title, authors, year, *([row.name] if table.columns.rows != "paper" else [])]


def _cells(table: LiteratureTable, row: LiteratureRow) -> Iterator[tuple[str, LiteratureCell | None]]:
    yield from ((column.name, row.cell(column.name)) for column in table.columns.columns)


def _status(cell: LiteratureCell | None) -> str:
    if cell is None:
        return "not filled"
    return "corrected" if cell.correction is not None else cell.status


def _places(cell: LiteratureCell | None) -> str:
    """Return where a cell's evidence is, with the boxes, and what is quoted."""
    evidence = cell.evidence if cell else ()
    return " | ".join(f"{one} ({'; '.join(map(str, one.places))}): {one.quote}" for one in evidence)


def _doubts(cell: LiteratureCell | None) -> str:
    formulas = [check.formula for check in cell.checks if check.formula] if cell else []
    return "; ".join((*formulas, *map(str, cell.findings if cell else ())))


def _csv(table: LiteratureTable, entries: Entries, _published: Published) -> bytes:
    """Write values first, then the status and the places of each."""
    names = [column.name for column in table.columns.columns]
    head = [*_head(table), *names, *(f"{name} ({part})" for name in names for part in ("status", "evidence"))]
    rows = []
    for row in table.included:
        cells = [cell for _, cell in _cells(table, row)]
        values = [cell.shown if cell else "" for cell in cells]
        rows.append([*_named(table, row, entries), *values, *(f(cell) for cell in cells for f in (_status, _places))])
    return spreadsheet_csv([head, *rows]).encode()


def _xlsx(table: LiteratureTable, entries: Entries, _published: Published) -> bytes:
    """Write a sheet of values, with a note on each that is doubtful, one of the evidence of each cell, and one of
    excluded rows. All cells are strings, so none is a formula."""
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        bold, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})

        def sheet(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Worksheet:
            page = book.add_worksheet(name)
            page.freeze_panes(1, 1)
            page.set_column(0, len(head) - 1, _WIDTH)
            for number, texts in enumerate([head, *rows]):
                for at, text in enumerate(texts):
                    page.write_string(number, at, text[:_LONGEST_CELL], wrapped if number else bold)
            return page

        names = [column.name for column in table.columns.columns]
        values = [
            [*_named(table, row, entries), *(cell.shown if cell else "" for _, cell in _cells(table, row))]
            for row in table.included
        ]
        page = sheet("Table", [*_head(table), *names], values)
        for number, row in enumerate(table.included, 1):
            for at, (_, cell) in enumerate(_cells(table, row), len(_head(table))):
                if cell and cell.doubtful:
                    page.write_comment(number, at, (_doubts(cell) or cell.status)[:_LONGEST_NOTE])
        evidence = [
            [
                *_named(table, row, entries),
                name,
                cell.shown if cell else "",
                _status(cell),
                _places(cell),
                _doubts(cell),
            ]
            for row in table.included
            for name, cell in _cells(table, row)
        ]
        sheet("Evidence", [*_head(table), "column", "value", "status", "evidence", "findings"], evidence)
        excluded = [[*_named(table, row, entries), row.excluded] for row in table.rows if row.excluded]
        if excluded:
            sheet("Excluded", [*_head(table), "reason"], excluded)
    return out.getvalue()


def _marked(cell: LiteratureCell | None) -> str:
    """Return a cell's text with its marks, and the page of its evidence."""
    if cell is None:
        return "–"
    mark = _CORRECTED if cell.correction is not None else _DOUBTFUL if cell.doubtful else ""
    value = one_line(cell.shown) or ("–" if cell.status == "not stated" else "")
    where = f" ({cell.evidence[0].place.where})" if cell.evidence and cell.correction is None else ""
    return f"{value}{where}{mark}"


def _short(table: LiteratureTable, row: LiteratureRow) -> list[str]:
    return [row.title, *([row.name] if table.columns.rows != "paper" else [])]


def _markdown(table: LiteratureTable, _entries: Entries, _published: Published) -> bytes:
    names = [column.name for column in table.columns.columns]
    head = ["paper", *_head(table)[3:], *names]
    rows = [[*_short(table, row), *(_marked(cell) for _, cell in _cells(table, row))] for row in table.included]
    lines = ["| " + " | ".join(map(markdown_line, texts)) + " |" for texts in [head, *rows]]
    lines.insert(1, "|" + " --- |" * len(head))
    excluded = [
        f"- {markdown_line(', '.join(filter(None, (row.title, row.name))))}: {markdown_line(row.excluded)}"
        for row in table.rows
        if row.excluded
    ]
    parts = [markdown_heading(table.title, level=1), "\n".join(lines), markdown_line(_LEGEND)]
    if excluded:
        parts.append("Excluded:\n\n" + "\n".join(excluded))
    return ("\n\n".join(parts) + "\n").encode()


def _latex(table: LiteratureTable, entries: Entries, _published: Published) -> bytes:
    """Write a longtable of the package booktabs, which cites the entries of the BibTeX file."""
    keys = dict(zip(_papers(table, entries), bibtex_keys(_papers(table, entries).values()), strict=True))
    names = [column.name for column in table.columns.columns]
    head = ["paper", *_head(table)[3:], *names]
    width = f"{0.9 / len(head):.3f}"
    lines = [
        r"% \usepackage{booktabs,longtable}",
        r"\begin{longtable}{" + rf"p{{{width}\linewidth}}" * len(head) + "}",
        rf"\caption{{{tex_escaped(table.title)}}}\\",
        r"\toprule",
        " & ".join(map(tex_escaped, head)) + r" \\",
        r"\midrule",
        r"\endhead",
    ]
    for row in table.included:
        cite = rf"{tex_escaped(row.title)} \cite{{{keys[row.paper]}}}" if row.paper in keys else tex_escaped(row.title)
        cells = [cite, *map(tex_escaped, _short(table, row)[1:])]
        cells += [tex_escaped(_marked(cell)) for _, cell in _cells(table, row)]
        # Behind the end of a row, TeX takes a bracket or a star for an argument.
        guard = "{}" if cite.startswith(("[", "*")) else ""
        lines.append(guard + " & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{longtable}", f"% {_LEGEND}"]
    return ("\n".join(lines) + "\n").encode()


def _papers(table: LiteratureTable, entries: Entries) -> dict[str, PaperEntry]:
    """Return the papers of the rows that are not excluded, by id."""
    return {row.paper: entries[row.paper] for row in table.included if row.paper in entries}


def _json(table: LiteratureTable, _entries: Entries, _published: Published) -> bytes:
    return to_json(table, indent=2).encode()


def _bibtex(table: LiteratureTable, entries: Entries, published: Published) -> bytes:
    return bibtex(_papers(table, entries).values(), published).encode()


_Writer = Callable[[LiteratureTable, Entries, Published], bytes]
EXPORTS: Mapping[str, tuple[str, _Writer]] = {
    "csv": ("text/csv; charset=utf-8", _csv),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _xlsx),
    "md": ("text/markdown; charset=utf-8", _markdown),
    "tex": ("application/x-tex", _latex),
    "json": ("application/json", _json),
    "bib": ("application/x-bibtex", _bibtex),
}
"""The media type of each form, and what writes it."""
