"""Retrieves the context of a question."""
