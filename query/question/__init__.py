"""Reads a question: the elements and papers it names, follow-ups, and its parts."""
