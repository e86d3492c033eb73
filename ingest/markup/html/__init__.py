"""Reading papers from HTML: plain pages, arXiv's (LaTeXML), PubMed Central's, pandoc's."""

from ingest.markup.html.reader import read_html, read_tree

__all__ = ["read_html", "read_tree"]
