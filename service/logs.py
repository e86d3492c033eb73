"""Structured logs: one line per event, as logfmt text or JSON.

Nothing that a caller sent is logged: no key, no question, no text of a paper. Error messages may quote any of these, so
an unexpected error is logged as its type and traceback without its message. Of a library's log record, only the first
line is kept, and errors among its arguments are replaced by their types, except those of the store, which quote places.
"""

import logging
import sys
import traceback
from pathlib import Path
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from paperscope_core.errors import StoreError
from paperscope_core.text.escaping import one_line, terminal_text

__all__ = ["configure_logs", "event_log"]

# Bounds of a log line: a deep recursion or a chain of causes must not fill the log.
_MAX_FRAMES = 12
_MAX_CAUSES = 5
_INFO_LOGGERS = ("paperscope", "paperscope_core", "service", "uvicorn")


def event_log(name: str) -> structlog.stdlib.BoundLogger:
    """Return a logger for events with fields; it needs no global configuration of structlog."""
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
    """Write all logs of this process to `stream` (default: stderr), as "json" or as logfmt text."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(_redact)
    handler.setFormatter(_formatter(form))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in _INFO_LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)
    # The service logs each request itself, without its query string.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)


def _formatter(form: str) -> logging.Formatter:
    render: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=True)
        if form == "json"
        else structlog.processors.LogfmtRenderer(
            key_order=["time", "level", "event"], drop_missing=True, bool_as_flag=False
        )
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.contextvars.merge_contextvars, structlog.stdlib.add_log_level],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            _one_line,
            render,
        ],
    )


def _redact(record: logging.LogRecord) -> bool:
    """Replace errors by their types among a record's arguments, and its exception by a summary."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            type(value).__name__ if isinstance(value, BaseException) and not isinstance(value, StoreError) else value
            for value in record.args
        )
    if record.exc_info and record.exc_info[1] is not None:
        summary = _summarize_error(record.exc_info[1])
        if isinstance(record.msg, dict):
            record.msg = {**record.msg, "error": summary}
        else:
            record.msg = f"{record.getMessage().splitlines()[0]}: {summary}"
            record.args = ()
    record.exc_info = record.exc_text = record.stack_info = None
    return True


def _summarize_error(error: BaseException) -> str:
    """Return an error's type and traceback, and those of its causes, on one line and without messages."""
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < _MAX_CAUSES:
        frames = traceback.extract_tb(current.__traceback__)[-_MAX_FRAMES:]
        trail = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
        parts.append(f"{type(current).__name__} at {trail}" if trail else type(current).__name__)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "; caused by ".join(parts)


def _one_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    lines = str(event.get("event", "")).splitlines()
    event["event"] = (lines or [""])[0]
    return {name: one_line(terminal_text(value)) if isinstance(value, str) else value for name, value in event.items()}
