"""Whether a company may change: it runs, was stopped, or is retired for good."""

from __future__ import annotations

from mockcore import rows
from mockcore.models import Company
from mockcore.refusal import Refusal
from mockcore.vocabulary import Lifecycle


class NotRunning(Refusal):
    """The company is stopped: it can be read, and changes again once it is started."""

    code = "mock_not_running"


class Retired(NotRunning):
    """The company is retired: it can be read and never changes again."""


class AlreadyRunning(Refusal):
    """The company runs already."""

    code = "mock_already_running"


def require_running(company: Company) -> None:
    """Raise `NotRunning` unless the company may change, and `Retired` when it never will."""
    if company.retired_at is not None:
        raise Retired
    if company.lifecycle != Lifecycle.RUNNING:
        raise NotRunning


def start(company: Company) -> None:
    """Let a stopped company change again; its row is locked. Raises `AlreadyRunning` and `Retired`."""
    if company.retired_at is not None:
        raise Retired
    if company.lifecycle == Lifecycle.RUNNING:
        raise AlreadyRunning
    company.lifecycle = Lifecycle.RUNNING.value
    rows.update(company, ["lifecycle"])


def stop(company: Company) -> None:
    """Make a company read-only; its row is locked."""
    company.lifecycle = Lifecycle.STOPPED.value
    rows.update(company, ["lifecycle"])
