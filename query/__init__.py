"""Question -> retrieval -> context -> image readings -> merged, verified answer."""

from query.context_csv import parse_context, render_context
from query.draft import Draft
from query.engine import QueryEngine, TextAnswerer
from query.retrieval import Retrieval, RetrievalOptions, Retriever
from query.verification import Cited, Verified, verify

__all__ = [
    "Cited",
    "Draft",
    "QueryEngine",
    "Retrieval",
    "RetrievalOptions",
    "Retriever",
    "TextAnswerer",
    "Verified",
    "parse_context",
    "render_context",
    "verify",
]
