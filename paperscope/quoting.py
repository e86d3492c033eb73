"""Marks text from strangers in a prompt, so that the model can tell it from what it is told to do."""

import hashlib

__all__ = ["as_data"]


def as_data(text: str) -> str:
    """The text between two lines that carry a code, which is its own hash: no text can contain the line that ends it.

    The same text always gets the same code, so that equal requests share a place in the cache.
    """
    code = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<<DATA {code}\n{text}\nDATA>> {code}"
