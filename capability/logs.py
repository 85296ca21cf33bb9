"""Log lines pass the one redactor before they leave: message, arguments, traceback and stack alike."""

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


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # whatever an argument's own text raises, the line is worth more than the reason
        return f"{record.msg} (its arguments do not fit)"
