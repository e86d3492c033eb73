"""Answers questions: retrieval, context, image readings, and one merged, verified answer."""

from query.context import compact, render_context, render_for_model
from query.engine import QueryEngine
from query.evidence import Draft
from query.progress import Progress
from query.reading_tools import ReadingTools
from query.retrieval.retriever import Retrieval, Retriever
from query.verification import Cited, Verified, verify

__all__ = [
    "Cited",
    "Draft",
    "Progress",
    "QueryEngine",
    "ReadingTools",
    "Retrieval",
    "Retriever",
    "Verified",
    "compact",
    "render_context",
    "render_for_model",
    "verify",
]
