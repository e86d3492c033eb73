"""Literature tables: what columns ask, and how a model or the papers' own form fills the row of a paper."""

from query.literature.column_sets import READY_COLUMNS, ColumnRecord, column_set, parse_columns, read_columns
from query.literature.row_filler import FilledPaper, FilledRow, RowFiller

__all__ = [
    "READY_COLUMNS",
    "ColumnRecord",
    "FilledPaper",
    "FilledRow",
    "RowFiller",
    "column_set",
    "parse_columns",
    "read_columns",
]
