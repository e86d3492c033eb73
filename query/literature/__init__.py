"""Questions to each of many papers: the rows of literature tables, and answers from what each paper says."""

from query.literature.each_paper import EachPaper
from query.literature.row_filler import FilledPaper, RowFiller

__all__ = ["EachPaper", "FilledPaper", "RowFiller"]
