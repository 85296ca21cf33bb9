"""Log lines pass the one redactor before they leave: message, arguments, traceback and stack alike.

What Django refused is a line, not a traceback.
"""

from __future__ import annotations

import logging
import traceback

from capability.redaction import redact_text


class RedactingFilter(logging.Filter):
    """Replace what a record would print by its redacted text. Never drops a record, never raises."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redact_text(_message(record))
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = "".join(traceback.format_exception(*record.exc_info)).rstrip()
        if record.exc_text:
            record.exc_text = redact_text(record.exc_text)
        if record.stack_info:
            record.stack_info = redact_text(record.stack_info)
        return True


class RefusalFilter(logging.Filter):
    """Make a request that Django refused (a wrong Host, too large a form) one line of a warning. Never drops a record.

    Whoever sends such a request has been answered; nothing is wrong here, and a traceback would show only Django.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
            record.exc_info = record.exc_text = None
        return True


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # whatever an argument's own text raises, the line is worth more than the reason
        return f"{record.msg} (its arguments do not fit)"
