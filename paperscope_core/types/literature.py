"""Literature tables: a row for each paper, or for each method, study or arm in it, and a column for each question."""

import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

from paperscope_core.errors import InputError
from paperscope_core.text.escaping import is_encodable
from paperscope_core.types.answer import Check, Evidence
from paperscope_core.types.findings import Finding
from paperscope_core.types.model_calls import Usage

__all__ = [
    "CellStatus",
    "ColumnSet",
    "ColumnType",
    "LiteratureCell",
    "LiteratureColumn",
    "LiteratureRow",
    "LiteratureTable",
]

ColumnType = Literal["text", "number", "category", "yes/no", "list", "quotation"]
CellStatus = Literal["stated", "computed", "not stated", "unclear"]

# A table is read by people; more columns are two tables.
_MOST_COLUMNS = 60
_LONGEST_NAME, _LONGEST_INSTRUCTION, _MOST_VALUES = 80, 1000, 60


def _checked(text: str, what: str, *, longest: int) -> str:
    """Return a text on one line. Raises InputError if it is blank, too long or not printable."""
    line = " ".join(text.split())
    if not line or not is_encodable(line) or any(unicodedata.category(letter) == "Cc" for letter in line):
        raise InputError(f"{what} {text[:60]!r} is empty or not printable; write it in words")
    if len(line) > longest:
        raise InputError(f"{what} {line[:60]!r}… has {len(line)} characters; the maximum is {longest}")
    return line


@dataclass(frozen=True, kw_only=True, slots=True)
class LiteratureColumn:
    """A column of a literature table: what is asked of each paper.

    Attributes:
        name: The header.
        instruction: The question that a cell answers, and how; the name if it is empty.
        type: How cells are written and checked: a "list" is joined by "; ", a "quotation" is the paper's own words.
        unit: For numbers: the unit that is expected. Values stay in the unit that is printed.
        values: For a category: the values that are allowed.

    Raises:
        InputError: A field has another form.

    Example:
        >>> LiteratureColumn(name="Design", type="category", values=("trial", "cohort")).instruction
        'Design'
    """

    name: str
    instruction: str = ""
    type: ColumnType = "text"
    unit: str = ""
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        name = _checked(self.name, "the column's name", longest=_LONGEST_NAME)
        said = self.instruction if self.instruction.strip() else name
        object.__setattr__(self, "name", name)
        object.__setattr__(
            self, "instruction", _checked(said, f"the instruction of {name!r}", longest=_LONGEST_INSTRUCTION)
        )
        if self.type not in get_args(ColumnType):
            raise InputError(
                f"the type of the column {name!r} is {self.type!r}; take one of {', '.join(get_args(ColumnType))}"
            )
        values = tuple(_checked(one, f"a value of {name!r}", longest=_LONGEST_NAME) for one in self.values)
        object.__setattr__(self, "values", tuple(dict.fromkeys(values)))
        if (self.type == "category") != bool(values) or len(values) > _MOST_VALUES:
            raise InputError(
                f"the column {name!r} is of type {self.type!r} and has {len(values)} values: a category needs 1 to "
                f"{_MOST_VALUES}, and no other type has any"
            )
        if self.unit:
            object.__setattr__(self, "unit", _checked(self.unit, f"the unit of {name!r}", longest=_LONGEST_NAME))
        if self.unit and self.type != "number":
            raise InputError(f"the column {name!r} has a unit, so its type must be 'number', not {self.type!r}")

    @property
    def allowed(self) -> tuple[str, ...]:
        """The values that a cell may have; empty if any may."""
        return ("yes", "no") if self.type == "yes/no" else self.values


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnSet:
    """The columns of a literature table.

    Attributes:
        title: The table's title, by which a library knows it.
        rows: What a row is: "paper", or what is listed within each paper, such as "method", "study" or "arm".

    Raises:
        InputError: There are no columns or too many, or two have one name.
    """

    title: str
    columns: tuple[LiteratureColumn, ...]
    rows: str = "paper"

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", _checked(self.title, "the table's title", longest=200))
        object.__setattr__(self, "rows", _checked(self.rows, "what a row is", longest=_LONGEST_NAME))
        if not 0 < len(self.columns) <= _MOST_COLUMNS:
            raise InputError(f"the table has {len(self.columns)} columns; give 1 to {_MOST_COLUMNS}")
        names: dict[str, str] = {}
        for column in self.columns:
            if column.name.casefold() in names:
                raise InputError(f"two columns are called {column.name!r}; name them differently, or leave one out")
            names[column.name.casefold()] = column.name


@dataclass(frozen=True, kw_only=True, slots=True)
class LiteratureCell:
    """What a paper says in answer to a column.

    Attributes:
        column: The column's name.
        value: "" if nothing is stated, or if nothing is concluded and `evidence` shows the best place.
        status: "stated"; "computed" (a check's formula says how); "not stated"; "unclear": the paper is ambiguous, or
            the value is not supported by evidence in it, or not allowed, and a finding says so.
        evidence: What supports it, in this paper.
        checks: The support of each number.
        findings: What is doubtful.
        model: The model that filled it; "" if none did.
        made: A hash of all that determined it; another one asks again.
        correction: What a person wrote in its place; None if nobody did.
    """

    column: str
    value: str = ""
    status: CellStatus = "unclear"
    evidence: tuple[Evidence, ...] = ()
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    model: str = ""
    made: str = ""
    correction: str | None = None

    @property
    def shown(self) -> str:
        """The correction, or else the value."""
        return self.value if self.correction is None else self.correction

    @property
    def doubtful(self) -> bool:
        """Whether a person should look at it."""
        return self.correction is None and (self.status == "unclear" or bool(self.findings))


@dataclass(frozen=True, kw_only=True, slots=True)
class LiteratureRow:
    """A row: a paper, or a thing in it.

    Attributes:
        paper: The paper's id.
        title: What people call the paper.
        name: The method, study or arm; "" if a row is a paper.
        cells: Those that are filled, in the order of the columns.
        excluded: The reason for which it is left out; "" if it is not.
    """

    paper: str
    title: str
    name: str = ""
    cells: tuple[LiteratureCell, ...] = ()
    excluded: str = ""

    def cell(self, column: str) -> LiteratureCell | None:
        """Return the cell of a column; None if it is not filled yet."""
        return next((one for one in self.cells if one.column == column), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class LiteratureTable:
    """A literature table with the rows that are filled so far.

    Attributes:
        id: Derived from its title.
        papers: The ids of its papers, in order.
        rows: In the order of the papers. A paper that the library no longer has is left out.
        failures: The ids of papers of which cells could not be filled in this run, each with the reason.
        usage: The usage of models in this run.
    """

    id: str
    columns: ColumnSet
    papers: tuple[str, ...]
    rows: tuple[LiteratureRow, ...] = ()
    created: float = 0.0
    updated: float = 0.0
    failures: tuple[tuple[str, str], ...] = ()
    usage: Usage = Usage()

    @property
    def title(self) -> str:
        """Its title."""
        return self.columns.title

    @property
    def included(self) -> tuple[LiteratureRow, ...]:
        """The rows that nobody has excluded."""
        return tuple(row for row in self.rows if not row.excluded)
