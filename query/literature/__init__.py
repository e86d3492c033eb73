"""Literature tables: how a model, or the papers' own form, fills the rows of a paper."""

from query.literature.row_filler import FilledPaper, RowFiller

__all__ = ["FilledPaper", "RowFiller"]
