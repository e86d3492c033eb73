"""The wording of captions: labels, and how papers say that a table is continued."""

import re

__all__ = ["is_continuation_note", "opens_continuation"]


_WORD = r"(?:continue[ds]?|continuation|cont['’]?d\b\.?|cont(?:in)?(?=\.))"
_WHERE = r"(?:\s+(?:on|from|in|to|of|at|over)\s+(?:the\s+)?(?:next|previous|following|preceding|last)?\s*\w+)?"
_CAPTION = re.compile(rf"[\s(\[:.,–—-]*{_WORD}{_WHERE}\s*(?:[)\].:…–—-]|$)", re.IGNORECASE)
_NAME = r"(?:this\s+)?Tab(?:le|\.)\s*(?:[\w.]+)?\s*[-–—:.,(]*\s*"
_NOTE = re.compile(rf"[(\[→]?\s*(?:{_NAME})?(?:(?:is|to be)\s+)?{_WORD}{_WHERE}[)\].:…\s→]*", re.IGNORECASE)


def opens_continuation(text: str) -> bool:
    """Whether a caption's text begins by saying that the table was begun before: `(continued)`, `Cont.`"""
    return bool(_CAPTION.match(text))


def is_continuation_note(text: str) -> bool:
    """Whether a line says only that a table goes on, or went before."""
    return bool(_NOTE.fullmatch(text.strip()))
