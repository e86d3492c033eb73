"""Asking one question of a batch: its row, whatever becomes of it."""

import time

from paperscope.errors import ModelUnavailableError, PaperscopeError, StoreFullError
from paperscope.library import Library
from service.questions import BadQuestion, Question
from service.rows import BatchRow

__all__ = ["ask_row", "failed_row"]


async def ask_row(library: Library, question: Question) -> BatchRow:
    """The row of a question. Raises ModelUnavailableError, which may pass, and StoreFullError, as further replies would
    be paid for and not kept; any other failure is a row that says why."""
    started = time.perf_counter()
    try:
        answer = await library.ask_async(question.text, filters=question.filters)
    except (ModelUnavailableError, StoreFullError):
        raise
    except PaperscopeError as error:
        return failed_row(question, error.public, seconds=time.perf_counter() - started)
    return BatchRow(
        index=question.index,
        question=question.text,
        status=answer.status,
        answer=answer,
        warnings=answer.warnings,
        seconds=answer.seconds,
    )


def failed_row(question: Question | BadQuestion, reason: str, *, seconds: float = 0.0) -> BatchRow:
    """The row of a question that has no answer."""
    return BatchRow(index=question.index, question=question.text, status="error", warnings=(reason,), seconds=seconds)
