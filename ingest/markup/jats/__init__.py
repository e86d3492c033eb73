"""Reading papers from JATS XML, as PubMed Central and publishers keep them."""

from ingest.markup.jats.reader import read_jats

__all__ = ["read_jats"]
