"""Log lines pass the redactor: message, arguments, traceback and stack."""

from __future__ import annotations

import io
import logging

import pytest
from django.conf import settings

from capability.logs import RedactingFilter, RefusalFilter

KEY = "sk-proj-FAKEa1b2c3d4e5f6g7h8"


@pytest.fixture
def log() -> tuple[logging.Logger, io.StringIO]:
    """A logger of its own that writes as the settings' handler does."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(RefusalFilter())
    handler.addFilter(RedactingFilter())
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = logging.Logger("tests.logs")
    logger.addHandler(handler)
    return logger, out


@pytest.mark.requirement("logs.redacted")
def test_a_secret_in_message_argument_traceback_or_stack_is_not_logged(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = log
    logger.warning("key %s in %r", KEY, {"password": "FAKEhunter2"})
    logger.warning("PASSWORD=FAKEhunter2")
    try:
        try:
            raise ValueError(f"cause {KEY}")
        except ValueError as error:
            raise RuntimeError("Authorization: Bearer FAKEbearer12345") from error
    except RuntimeError:
        logger.exception("failed with %s", KEY, stack_info=True)
    written = out.getvalue()
    assert "FAKE" not in written
    assert "RuntimeError: Authorization: Bearer [REDACTED]" in written
    assert "ValueError: cause [REDACTED]" in written


@pytest.mark.requirement("logs.redacted")
def test_a_line_whose_arguments_do_not_fit_is_still_written(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = log
    logger.warning("one %s two %s", "only")
    logger.warning("plain %d%%", 42)
    assert out.getvalue().splitlines() == [
        "WARNING one %s two %s (its arguments do not fit)",
        "WARNING plain 42%",
    ]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("django.security.DisallowedHost", "WARNING Invalid HTTP_HOST header"),
        ("django.security.RequestDataTooBig", "WARNING Invalid HTTP_HOST header"),
        ("django.request", "ERROR Invalid HTTP_HOST header"),
    ],
)
def test_a_request_that_django_refused_is_one_line_of_a_warning(
    log: tuple[logging.Logger, io.StringIO], name: str, line: str
) -> None:
    logger, out = log
    logger.name = name
    try:
        raise ValueError("refused")
    except ValueError:
        logger.error("Invalid HTTP_HOST header", exc_info=True)
    written = out.getvalue().splitlines()
    assert written[0] == line
    assert (len(written) == 1) is name.startswith("django.security.")


def test_the_handler_of_the_settings_knows_refusals_before_it_redacts() -> None:
    assert settings.LOGGING["handlers"]["stderr"]["filters"] == ["refusal", "redact"]
    assert settings.LOGGING["filters"]["refusal"]["()"] == "capability.logs.RefusalFilter"
