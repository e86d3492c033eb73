"""Examples for the OpenAPI document."""

__all__ = ["ANSWER", "CONTEXT", "CONTEXT_CSV", "EVENTS", "QUESTION"]

QUESTION: dict[str, object] = {}
ANSWER: dict[str, object] = {}
CONTEXT: dict[str, object] = {}
CONTEXT_CSV = ""
EVENTS = ""
