"""Reads the figures of a report in Markdown: tables, scikit-learn's text tables, lines such as `Recall: 0.52`."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

__all__ = ["SHARES", "Number", "Report", "Row", "Table", "read_report", "role_of"]

# The names that scikit-learn, seqeval, nervaluate and SemEval's scripts print, and their common short forms.
_ROLES = {
    "precision": "precision prec",
    "recall": "recall rec",
    "f1": "f1 f1-score f-score fscore f-measure f1score",
    "accuracy": "accuracy acc",
    "gold": "support total gold possible",
    "correct": "tp correct",
    "wrong": "fp spurious incorrect",
    "missed": "fn missed",
    "predicted": "predicted actual",
}
_ROLE_OF = {name: role for role, names in _ROLES.items() for name in names.split()}
SHARES = ("precision", "recall", "f1", "accuracy")

_NUMBER = re.compile(r"([+\-\u2212]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?( ?%)?(?: ?\(([^()]*)\))?")
_HEADING = re.compile(r"#{1,6}[ \t](.*)")
_RULE_CELL = re.compile(r":?-+:?")
_VALUE = re.compile(r"\d[\d.,]*|-")
_INLINE = re.compile(r"(?<![A-Za-z0-9-])([A-Za-z][A-Za-z0-9-]{0,20}) ?[:=] ?(\d{0,3}\.\d{1,12}%?)")


@dataclass(frozen=True, kw_only=True)
class Number:
    """A printed number: its value, half a unit of its last digit, what is in brackets after it, and if it is bold.

    `percent` says whether a share is to be read as a percentage; None if only its size can tell. One with the sign is
    read already.
    """

    value: float
    half: float
    note: str = ""
    bold: bool = False
    percent: bool | None = None

    @property
    def low(self) -> float:
        """The least value that is printed so."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """The greatest value that is printed so."""
        return self.value + self.half

    def shows(self, low: float, high: float | None = None) -> bool:
        """Return whether a value, or one between two, can be printed so. A unit in the last digit is allowed for
        floats."""
        high = low if high is None else high
        slack = self.half * 1e-6 + 1e-12
        return self.low - slack <= high and low <= self.high + slack

    def as_share(self) -> "Number":
        """Return the number as a share of 1, if it is printed as a percentage. A whole number of percent is rounded,
        too."""
        percent = self.value > 1 if self.percent is None else self.percent
        half = self.half or (0.5 if percent else 0.005)
        if not percent:
            return replace(self, half=half)
        return replace(self, value=self.value / 100, half=half / 100, percent=False)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table: its line in the file, its name, its numbers and its other texts by column."""

    line: int
    name: str
    numbers: Mapping[str, Number]
    texts: Mapping[str, str] = field(default_factory=dict)

    def role(self, role: str) -> Number | None:
        """Return the number whose column has this role. Shares are between 0 and 1."""
        for column, number in self.numbers.items():
            if role_of(column) == role:
                return number.as_share() if role in SHARES else number
        return None

    def shares(self) -> list[dict[str, Number]]:
        """Return the shares by role, apart for columns with other words beside the role, such as `Train F1` and `Test
        F1`."""
        found: defaultdict[str, dict[str, Number]] = defaultdict(dict)
        for column, number in self.numbers.items():
            if (role := role_of(column)) in SHARES:
                words = [word for word in re.split(r"[\s/*_().]+", column.lower()) if not role_of(word)]
                found[" ".join(words)][role] = number.as_share()
        return list(found.values())


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, the headings and the line of text above it, and its columns."""

    line: int
    title: str
    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The tables of a report, and all its lines."""

    tables: Sequence[Table]
    lines: Sequence[str]


def role_of(column: str) -> str:
    """Return what a column or a metric is, by its name; empty if unknown. Accuracy gives way to another name beside
    it."""
    roles = [role for part in column.split("/") if (role := _role_of_part(part))]
    return next((role for role in roles if role != "accuracy"), roles[0] if roles else "")


def _role_of_part(part: str) -> str:
    words = re.sub(r"[*_().]", " ", part.lower()).split()
    return next((role for word in (*words[-1:], *words[:1]) if (role := _ROLE_OF.get(word))), "")


def read_report(text: str) -> Report:
    """Read the tables of a report. Lines with two or more named shares are rows of a table without columns' names."""
    lines = text.split("\n")
    tables: list[Table] = []
    title, caption = "", ""
    number = 0
    inline: list[Row] = []
    while number < len(lines):
        line = lines[number].strip()
        end = _table_end(lines, number)
        heading = _HEADING.fullmatch(line)
        if end:
            tables += _inline_table(inline)
            inline = []
            tables.append(_table(lines, number, end, _joined(title, caption)))
            number = end
            continue
        if row := _inline_row(line, number + 1, title):
            inline.append(row)
        elif heading:
            title, caption = _plain(heading.group(1)), ""
        elif line and not line.startswith("```"):
            caption = _plain(line)
        number += 1
    return Report(tables=[*tables, *_inline_table(inline)], lines=lines)


def _joined(title: str, caption: str) -> str:
    return ", ".join(filter(None, (title, caption[:80])))


def _table_end(lines: Sequence[str], start: int) -> int:
    """Return the line after the table that starts here; 0 if none does."""
    below = lines[start + 1] if start + 1 < len(lines) else ""
    pipes = "|" in lines[start] and "|" in below and all(map(_RULE_CELL.fullmatch, _cells(below)))
    if not pipes and not _is_text_head(lines[start]):
        return 0
    end = start + 2 if pipes else start + 1
    while end < len(lines) and (("|" in lines[end]) if pipes else _goes_on(lines[end])):
        end += 1
    return end


def _is_text_head(line: str) -> bool:
    """Return whether the line is the head of a classification report: names of roles, two or more, maybe after one
    word."""
    words = line.split()
    named = words[1:] if words and not role_of(words[0]) else words
    return "|" not in line and len(named) > 1 and all(map(role_of, named))


def _goes_on(line: str) -> bool:
    words = line.split()
    return not words or (len(words) > 1 and bool(_VALUE.fullmatch(words[-1])))


def _table(lines: Sequence[str], start: int, end: int, title: str) -> Table:
    if "|" in lines[start]:
        cells = [_cells(line) for line in (lines[start], *lines[start + 2 : end])]
        numbers = [start + 1, *range(start + 3, end + 1)]
    else:
        words = lines[start].split()
        columns = words if role_of(words[0]) else words[1:]
        found = [(at + 1, _text_cells(lines[at], columns)) for at in range(start + 1, end) if lines[at].strip()]
        cells, numbers = [["", *columns], *(row for _, row in found)], [start + 1, *(at for at, _ in found)]
    head = _spelled_out(cells[0])
    rows = [_row(line, head, row) for line, row in zip(numbers[1:], cells[1:], strict=True)]
    percent = {column for column in map(_plain, head) if role_of(column) in SHARES and _is_percent(column, rows)}
    rows = [replace(row, numbers=_in_percent(row.numbers, percent)) for row in rows]
    return Table(line=start + 1, title=title, columns=head, rows=rows)


def _is_percent(column: str, rows: Sequence[Row]) -> bool:
    """Return whether most figures of a column without the sign are above 1: then 0.20 is 0.2 %, too."""
    numbers = [
        number for row in rows if (number := row.numbers.get(column)) and number.value and number.percent is None
    ]
    return 2 * sum(number.value > 1 for number in numbers) > len(numbers)


def _in_percent(numbers: Mapping[str, Number], columns: set[str]) -> dict[str, Number]:
    return {
        column: replace(number, percent=True) if column in columns and number.percent is None else number
        for column, number in numbers.items()
    }


def _spelled_out(columns: Sequence[str]) -> list[str]:
    """Return the columns with P, R and F as words, if P and R are both there: P alone may be a p-value."""
    short = {"P": "Precision", "R": "Recall", "F": "F1"}
    return [short.get(_plain(column), column) for column in columns] if {"P", "R"} <= {*columns} else list(columns)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]


def _text_cells(line: str, columns: Sequence[str]) -> list[str]:
    """Return the name and the numbers of a line of text; fewer numbers than columns are the last ones."""
    words = line.split()
    count = next((at for at, word in enumerate(reversed(words)) if not _VALUE.fullmatch(word)), len(words))
    values = words[len(words) - count :][-len(columns) :]
    name = " ".join(words[: len(words) - len(values)])
    return [name, *[""] * (len(columns) - len(values)), *values]


def _row(line: int, columns: Sequence[str], cells: Sequence[str]) -> Row:
    numbers, texts = {}, {}
    for column, cell in zip(columns, cells, strict=False):
        if (number := _number(cell)) is not None and column:
            numbers[_plain(column)] = number
        else:
            texts[_plain(column)] = _plain(cell)
    name = next((text for text in texts.values() if text), "") or (_plain(cells[0]) if cells else "")
    return Row(line=line, name=name, numbers=numbers, texts=texts)


def _number(cell: str) -> Number | None:
    bold = cell.startswith(("**", "__"))
    found = _NUMBER.fullmatch(_plain(cell))
    if not found:
        return None
    sign, whole, fraction, percent, note = found.groups()
    value = float(f"{whole.replace(',', '')}{fraction or ''}")
    half = 0.5 * 10.0 ** -(len(fraction or ".") - 1) if fraction or percent else 0.0
    scale = 100 if percent else 1
    value = (-value if sign in ("-", "\u2212") else value) / scale
    return Number(value=value, half=half / scale, note=note or "", bold=bold, percent=False if percent else None)


def _plain(text: str) -> str:
    return re.sub(r"[*`]|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)", "", text).strip()


def _inline_row(line: str, number: int, title: str) -> Row | None:
    found = {name: value for name, value in _INLINE.findall(line) if role_of(name) in SHARES}
    if len(found) < 2 or "|" in line:
        return None
    numbers = {name: share for name, value in found.items() if (share := _number(value))}
    return Row(line=number, name=title, numbers=numbers)


def _inline_table(rows: Sequence[Row]) -> Iterator[Table]:
    if rows:
        yield Table(line=rows[0].line, title=rows[0].name, columns=list(rows[0].numbers), rows=list(rows))
