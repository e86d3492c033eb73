"""Structured logs, as text (logfmt) or JSON, that quote nothing of requests or papers."""

import logging
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

__all__ = ["configure_logs", "event_log", "summarize_error"]


_FRAMES = 12
_CAUSES = 5
_OWN_LOGGERS = ("paperscope", "service", "uvicorn")


def event_log(name: str) -> structlog.stdlib.BoundLogger:
    """A log for events with fields, which takes no configuration."""
    return cast(
        "structlog.stdlib.BoundLogger",
        structlog.wrap_logger(
            logging.getLogger(name),
            wrapper_class=structlog.stdlib.BoundLogger,
            processors=[
                structlog.stdlib.filter_by_level,
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_log_level,
                structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
            ],
        ),
    )


def configure_logs(form: str, *, stream: TextIO | None = None) -> None:
    """Write all logs of this process to `stream` (default: stderr) in the form `service.log` asks for."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(_redact)
    handler.setFormatter(_formatter(form))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in _OWN_LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)
    # Each request has a line already (`observing.py`), which does not tell its query.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)


def _formatter(form: str) -> logging.Formatter:
    first: Sequence[Processor] = (
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
    )
    render: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=True)
        if form == "json"
        else structlog.processors.LogfmtRenderer(
            key_order=["time", "level", "event"], drop_missing=True, bool_as_flag=False
        )
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=first,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            _one_line,
            render,
        ],
    )


def _redact(record: logging.LogRecord) -> bool:
    """Tell errors by their types: as arguments of a line, and as what it was written about."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            type(value).__name__ if isinstance(value, BaseException) else value for value in record.args
        )
    if record.exc_info and record.exc_info[1] is not None:
        trail = summarize_error(record.exc_info[1])
        if isinstance(record.msg, dict):
            record.msg = {**record.msg, "error": trail}
        else:
            record.msg = f"{record.getMessage().splitlines()[0]}: {trail}"
            record.args = ()
    record.exc_info = record.exc_text = record.stack_info = None
    return True


def summarize_error(error: BaseException) -> str:
    """An error by its type, the functions it came through, and its causes; in one line, without its message."""
    told: list[str] = []
    current: BaseException | None = error
    while current is not None and len(told) < _CAUSES:
        frames = traceback.extract_tb(current.__traceback__)[-_FRAMES:]
        way = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
        told.append(f"{type(current).__name__} at {way}" if way else type(current).__name__)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "; caused by ".join(told)


def _one_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    lines = str(event.get("event", "")).splitlines()
    event["event"] = "".join(letter for letter in (lines or [""])[0] if letter.isprintable())
    return event
