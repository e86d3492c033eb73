"""Reads columns of literature tables from TOML, and has ready-made ones."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from paperscope_core.errors import InputError
from paperscope_core.types.literature import ColumnSet, ColumnType, LiteratureColumn

__all__ = ["READY_COLUMNS", "TableRecord", "column_set", "parse_columns", "read_columns"]

READY_COLUMNS: Mapping[str, LiteratureColumn] = {
    column.name: column
    for column in (
        LiteratureColumn(
            name="objective", instruction="What does the paper set out to do or to find out? One sentence."
        ),
        LiteratureColumn(
            name="design",
            instruction="What kind of study is it (such as randomised trial, cohort, benchmark comparison, new method "
            "with experiments, survey, theory)? Name the design as the paper does, where it does.",
        ),
        LiteratureColumn(
            name="sample",
            instruction="What is studied, and how many: the population, materials or data points, and the sample size "
            "of the main analysis.",
        ),
        LiteratureColumn(
            name="data", instruction="Which data sets or sources of data does the paper use?", type="list"
        ),
        LiteratureColumn(name="method", instruction="What is the paper's main method or intervention? One sentence."),
        LiteratureColumn(
            name="comparison",
            instruction="What is it compared with: baselines, control groups, earlier methods?",
            type="list",
        ),
        LiteratureColumn(
            name="main-result",
            instruction="What is the main result, with its effect (number, unit and measure) and its interval, spread "
            "or p-value where the paper gives one?",
        ),
        LiteratureColumn(name="limitations", instruction="Which limitations do the authors state?", type="list"),
        LiteratureColumn(name="funding", instruction="Who funded the work? Names of funders and grants.", type="list"),
        LiteratureColumn(
            name="code-and-data",
            instruction="Are code and data available, and where? Give addresses or repositories as printed.",
        ),
    )
}
"""Columns that a table may name in place of a definition."""

_FORM = 'write [[columns]] with name = "…", instruction = "…", type = "text"; or columns = ["objective", "sample"]'


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class ColumnRecord(BaseModel):
    """A column; of a ready-made one, the name alone is enough."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=80)
    instruction: str = Field(default="", max_length=1000, description="the question that a cell answers")
    type: ColumnType | None = None
    unit: str = Field(default="", max_length=80)
    values: list[Annotated[str, Field(max_length=80)]] = Field(default=[], max_length=60)

    @property
    def column(self) -> LiteratureColumn:
        """The column; what is not given is that of the ready-made column of this name. Raises InputError."""
        ready = READY_COLUMNS.get(self.name.strip().casefold())
        if ready is not None and not self.instruction.strip() and self.type is None:
            return ready
        kind = self.type or ("category" if self.values else "number" if self.unit else "text")
        return LiteratureColumn(
            name=self.name, instruction=self.instruction, type=kind, unit=self.unit, values=tuple(self.values)
        )


_Name = Annotated[str, Field(min_length=1, max_length=80)]
_Column = Annotated[ColumnRecord, BeforeValidator(_named, json_schema_input_type=_Name | ColumnRecord)]


class TableRecord(BaseModel):
    """The columns of a table in a file or a request."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=200, description="the library knows the table by it")
    rows: str = Field(default="paper", min_length=1, max_length=80, description='"paper", or what a row is within it')
    columns: list[_Column] = Field(min_length=1, max_length=60)

    def column_set(self, title: str) -> ColumnSet:
        """Return the columns, under this title if the table has none. Raises InputError."""
        columns = tuple(one.column for one in self.columns)
        return ColumnSet(title=self.title if self.title.strip() else title, columns=columns, rows=self.rows)


def column_set(title: str, columns: Sequence[str | LiteratureColumn]) -> ColumnSet:
    """Return a set of columns, of which ready-made ones are given by name.

    Raises:
        InputError: A text is neither the name of a ready-made column nor a question, or two columns have one name.
    """
    made = [one if isinstance(one, LiteratureColumn) else ColumnRecord(name=one).column for one in columns]
    return ColumnSet(title=title, columns=tuple(made))


def parse_columns(text: str, *, title: str) -> ColumnSet:
    """Read columns from TOML.

    Args:
        text: `title` and `rows` (both may be left out), and `columns`: tables with name, instruction, type, unit and
            values, or names of ready-made columns.
        title: The title of a table that has none.

    Raises:
        InputError: The text has another form; the message says where.
    """
    try:
        return TableRecord.model_validate(tomllib.loads(text)).column_set(title)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the columns are not TOML: {error}; {_FORM}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        at = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
        raise InputError(f"the columns can't be used: {at or 'the file'}: {first['msg']}; {_FORM}") from error


def read_columns(file: Path) -> ColumnSet:
    """Read columns from a file; a table without a title is called as the file is. Raises InputError."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        raise InputError(f"{file}: the columns can't be read ({reason})") from error
    try:
        return parse_columns(text, title=file.stem)
    except InputError as error:
        raise InputError(error.public, where=file) from error
