"""Reading papers from Markdown: CommonMark with GitHub's tables, footnotes, formulas and front matter."""

from ingest.markup.markdown.reader import read_markdown

__all__ = ["read_markdown"]
