r"""Reads LaTeX's `table` and `tabular` environments, as they occur in Markdown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["LatexTable", "begins_table", "read_latex_table", "table_depth"]

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[{}&$]|[^\\{}&$]+", re.DOTALL)
_TABLES = r"(?:table|longtable|tabular[xy]?|sidewaystable)\*?"
_BEGIN = re.compile(rf"\\begin\{{{_TABLES}\}}")
_END = re.compile(rf"\\end\{{{_TABLES}\}}?")
_GRIDS = frozenset(("tabular", "tabularx", "tabulary", "tabular*", "longtable", "array"))
_WIDE = frozenset(("tabularx", "tabulary", "tabular*"))  # Their first argument is the width.
_EMPHASIS = {"textbf": "**", "textit": "*", "emph": "*"}
# Commands whose arguments are not printed, with the number of arguments.
_UNPRINTED = {
    **dict.fromkeys(("cline", "cmidrule", "label", "vspace", "hspace", "cellcolor", "rowcolor", "color"), 1),
    **dict.fromkeys(("cite", "citep", "citet", "ref", "textcolor"), 1),
    **dict.fromkeys(("setlength", "resizebox", "renewcommand"), 2),
}
_CITING = frozenset(("cite", "citep", "citet", "ref", "textcolor", "color"))
_RULES = frozenset(("hline", "toprule", "bottomrule", "midrule", "centering", "arraystretch"))
_MAX_DEPTH = 30
_OPTION_LENGTH = 60  # The longest argument in brackets.
_FORMULA_LIMIT = 2000  # Characters; a longer stretch between dollars is no formula.


@dataclass(frozen=True, kw_only=True, slots=True)
class LatexCell:
    """A cell, whose text is Markdown."""

    text: str = ""
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class LatexRow:
    """The cells that begin in a row, and the line of its source, from 0."""

    line: int
    cells: tuple[LatexCell, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LatexTable:
    """A table; `head` is the number of its rows above `\\midrule`, 0 without one."""

    caption: str
    rows: tuple[LatexRow, ...]
    head: int


def begins_table(line: str) -> bool:
    """Return whether a line begins with a table environment."""
    return _BEGIN.match(line) is not None


def table_depth(line: str) -> int:
    """Return how many more table environments a line begins than it ends."""
    return len(_BEGIN.findall(line)) - len(_END.findall(line))


def read_latex_table(source: str, *, as_latex: bool = False) -> LatexTable:
    """Read a table from its `\\begin` to its `\\end`, in linear time; what it doesn't know it leaves out.

    With `as_latex`, the text of a cell is LaTeX instead of Markdown, and a row does not end within braces.
    """
    reader = _Reader(_TOKEN.findall(source), as_latex=as_latex)
    reader.read()
    return LatexTable(caption=reader.caption, rows=tuple(_with_spans(reader.rows)), head=reader.head)


@dataclass(kw_only=True, slots=True)
class _OpenCell:
    """A cell that is being read."""

    parts: list[str] = field(default_factory=list)
    rows: int = 1
    columns: int = 1

    def closed(self) -> LatexCell:
        text = " ".join("".join(self.parts).split())
        return LatexCell(text=text, rows=self.rows, columns=self.columns)


class _Reader:
    def __init__(self, tokens: list[str], *, as_latex: bool) -> None:
        self._tokens = tokens
        self._as_latex = as_latex
        self._braces = 0
        self._at = 0
        self._line = 0
        self._grids = 0
        self._cell = _OpenCell()
        self._row: list[LatexCell] = []
        self._begins = 0
        self._headed = False
        self._depth = 0
        self.rows: list[LatexRow] = []
        self.caption = ""
        self.head = 0

    def read(self) -> None:
        """Read all tokens."""
        while self._at < len(self._tokens):
            self._step(self._next())
        self._end_row()

    def _next(self) -> str:
        symbol = self._tokens[self._at]
        self._at += 1
        self._line += symbol.count("\n")
        return symbol

    def _step(self, symbol: str) -> None:
        name = symbol[1:].removesuffix("*") if symbol.startswith("\\") else ""
        if name in ("begin", "end"):
            self._environment(self._group(), begins=name == "begin")
        elif name == "caption":
            self._option()
            self.caption = " ".join(self._text().split())
        elif self._grids:
            self._in_grid(symbol, name)

    def _in_grid(self, symbol: str, name: str) -> None:
        if symbol.strip() and not self._row and not "".join(self._cell.parts).strip():
            self._begins = self._line
        if self._as_latex and (self._braces or symbol in ("{", "}")) and name not in ("multicolumn", "multirow"):
            self._braces = max(0, self._braces + (symbol == "{") - (symbol == "}"))
            self._cell.parts.append(symbol)
        elif symbol == "&":
            self._end_cell()
        elif name in ("\\", "tabularnewline", "newline", "cr"):
            self._option()
            self._end_row()
        elif name in ("multicolumn", "multirow"):
            self._span(name)
        elif name == "midrule":
            self.head = self.head or len(self.rows)
        elif name in ("endfirsthead", "endhead", "endfoot", "endlastfoot"):
            self._end_row()
            # Of what is printed on each page, the first head is kept.
            if self._headed or name not in ("endfirsthead", "endhead"):
                del self.rows[self.head :]
            self._headed, self.head = True, len(self.rows)
        else:
            self._cell.parts.append(self._printed(symbol))

    def _environment(self, name: str, *, begins: bool) -> None:
        if name not in _GRIDS:
            return
        if begins and self._grids == 0:
            self._option()
            if name in _WIDE:
                self._group()
            self._group()
            self._begins = self._line
        elif begins:
            self._option()
            self._cell.parts.append(self._inner())
            return
        else:
            self._end_row()
        self._grids = max(0, self._grids + (1 if begins else -1))

    def _inner(self) -> str:
        """Return the text of a table within a cell, which only breaks lines."""
        depth, parts = 1, []
        self._group()
        while self._at < len(self._tokens) and depth:
            symbol = self._next()
            if symbol in ("\\begin", "\\end"):
                depth += (self._group() in _GRIDS) * (1 if symbol == "\\begin" else -1)
            else:
                parts.append(" " if symbol in ("&", "\\\\") else self._printed(symbol))
        return " ".join(parts)

    def _span(self, name: str) -> None:
        self._option()
        count = self._group().strip().lstrip("-")
        number = max(1, min(int(count), 999)) if count.isdecimal() else 1
        self._option()
        self._group()
        self._option()
        if name == "multicolumn":
            self._cell.columns = number
        else:
            self._cell.rows = number

    def _printed(self, symbol: str) -> str:
        """Return the Markdown of a symbol that is no part of the grid."""
        name = symbol[1:].removesuffix("*") if symbol.startswith("\\") else ""
        if symbol == "$":
            text = self._formula()
        elif self._as_latex and (name not in _UNPRINTED or name in _CITING):
            text = "" if name in _RULES else symbol
        elif name in _UNPRINTED:
            text = ""
            for _ in range(_UNPRINTED[name]):
                self._option()
                self._group()
        elif name in _EMPHASIS:
            inner = " ".join(self._text().split())
            text = f"{_EMPHASIS[name]}{inner}{_EMPHASIS[name]}" if inner else ""
        elif name:
            text = "" if name.isalpha() else " " if name in " ,;:!" else symbol
        else:
            text = "" if symbol in ("{", "}", "\\") else symbol.replace("~", " ")
        return text

    def _formula(self) -> str:
        """Return a formula with its dollars."""
        parts, size = ["$"], 0
        start, line = self._at, self._line
        while self._at < len(self._tokens) and size < _FORMULA_LIMIT:
            symbol = self._next()
            parts.append(" " if symbol.isspace() else symbol)
            size += len(symbol)
            if symbol == "$":
                return "".join(parts) if len(parts) > 2 else "$"
        self._at, self._line = start, line
        return "\\$"

    def _group(self) -> str:
        """Return the source of the group in braces that follows, or a `*`; "" if there is none."""
        self._skip_spaces()
        if self._at < len(self._tokens) and self._tokens[self._at].startswith("*"):
            rest = self._tokens[self._at][1:]
            self._tokens[self._at] = rest
            return "*"
        if self._at >= len(self._tokens) or self._tokens[self._at] != "{":
            return ""
        self._next()
        depth, parts = 1, []
        while self._at < len(self._tokens):
            symbol = self._next()
            depth += (symbol == "{") - (symbol == "}")
            if not depth:
                break
            parts.append(symbol)
        return "".join(parts)

    def _text(self) -> str:
        """Return the Markdown of the group that follows."""
        self._skip_spaces()
        if self._at >= len(self._tokens) or self._tokens[self._at] != "{" or self._depth >= _MAX_DEPTH:
            return ""
        self._depth += 1
        self._next()
        depth, parts = 1, []
        while self._at < len(self._tokens) and depth:
            symbol = self._next()
            depth += (symbol == "{") - (symbol == "}")
            if depth:
                parts.append(self._printed(symbol))
        self._depth -= 1
        return "".join(parts)

    def _option(self) -> None:
        """Skip an argument in brackets or, for `\\cmidrule`, in parentheses."""
        self._skip_spaces()
        if self._at < len(self._tokens):
            symbol = self._tokens[self._at]
            closing = {"[": "]", "(": ")"}.get(symbol[:1], "")
            if closing and closing in symbol and symbol.index(closing) < _OPTION_LENGTH:
                self._tokens[self._at] = symbol[symbol.index(closing) + 1 :]

    def _skip_spaces(self) -> None:
        while self._at < len(self._tokens) and not self._tokens[self._at].strip():
            self._next()

    def _end_cell(self) -> None:
        self._row.append(self._cell.closed())
        self._cell = _OpenCell()

    def _end_row(self) -> None:
        self._end_cell()
        if any(cell.text for cell in self._row):
            self.rows.append(LatexRow(line=self._begins, cells=tuple(self._row)))
        self._row = []
        self._begins = self._line


def _with_spans(rows: list[LatexRow]) -> Iterator[LatexRow]:
    """Yield the rows without the empty cells that LaTeX needs below a cell of several rows."""
    open_until: dict[int, int] = {}
    for number, row in enumerate(rows):
        column = 0
        kept: list[LatexCell] = []
        for cell in row.cells:
            covered = open_until.get(column, 0) > number
            if covered and not cell.text:
                column += cell.columns
                continue
            kept.append(cell)
            for at in range(column, column + cell.columns):
                open_until[at] = number + cell.rows
            column += cell.columns
        yield LatexRow(line=row.line, cells=tuple(kept))
