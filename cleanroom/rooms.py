"""A room as its host knows it: the facts that never change, its directories, and the header of its issue.

Plain functions, called from the host's pool of threads. Knows no agent and no browser.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from capability.dispatcher import Dispatcher
from cleanroom import exposure
from cleanroom.codex.home import remove_tree
from cleanroom.harness import WorkspaceUnavailableError
from cleanroom.models import ChatSession
from evidence.record import UnknownSession
from mockcore.plane import MockControlPlane
from mockcore.port import Applied, Outcome, Refused
from mockcore.refusal import Refusal

log = logging.getLogger(__name__)
REMOVALS = 3


@dataclass(frozen=True, kw_only=True)
class Room:
    """The facts of a room that never change while it lives."""

    session_id: str
    run_id: str
    company_id: str
    actor_id: str
    task_id: str
    identifier: str
    model_label: str
    rehearsal: bool

    @property
    def directory(self) -> Path:
        return Path(settings.RUNS_DIR) / self.session_id

    @property
    def workspace(self) -> Path:
        return self.directory / "workspace"

    @property
    def home(self) -> Path:
        return self.directory / "home"

    def port(self) -> MockControlPlane:
        return MockControlPlane(company_id=self.company_id)

    def dispatcher(self) -> Dispatcher:
        profile = exposure.PROFILE
        return Dispatcher(port=self.port(), scenario=profile.scenario, explicit_claims=profile.explicit_claims)


def room_of(session: ChatSession) -> Room:
    """Return the room of a row."""
    return Room(
        session_id=session.public_id,
        run_id=session.run_id,
        company_id=session.company_id,
        actor_id=session.actor_id,
        task_id=session.task_id,
        identifier=session.identifier,
        model_label=session.model_label,
        rehearsal=session.rehearsal,
    )


def now() -> datetime:
    return datetime.now(UTC)


def stamp() -> str:
    """Return the present moment as the log writes it: ISO 8601 with milliseconds, UTC."""
    return now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def require_living(room: Room) -> None:
    """Refuse to start an agent for a room that was retired in the meantime."""
    if not ChatSession.objects.filter(public_id=room.session_id).exclude(state=ChatSession.State.RETIRED).exists():
        raise UnknownSession


def make_directories(room: Room) -> None:
    """Make the room's own directories, readable by nobody else. Raises `WorkspaceUnavailableError`."""
    try:
        Path(settings.RUNS_DIR).mkdir(parents=True, exist_ok=True, mode=0o700)
        for directory in (room.directory, room.workspace):
            if directory.is_symlink():
                directory.unlink()  # planted: what is behind it is not ours
            directory.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise WorkspaceUnavailableError from error


def remove_directories(room: Room) -> None:
    """Remove workspace and CODEX_HOME. Links planted inside are removed, never followed."""
    remove_directory(room.directory)


def remove_directory(directory: Path) -> None:
    """Remove a room's directory. What cannot be removed is logged, and left to the next start.

    A second look takes what was written meanwhile, or what another removed first.
    """
    for attempt in range(REMOVALS):
        try:
            remove_tree(path=directory)
            break
        except OSError:
            if attempt == REMOVALS - 1:
                log.exception("the directory of a room could not be removed")


def issue_header(port: MockControlPlane, room: Room) -> dict[str, Any]:
    """Return the header fields of the room's issue, fresh from the rows."""
    facts = port.facts(room.run_id)
    task = facts.task
    return {
        "identifier": task["identifier"],
        "title": task["title"],
        "status": task["status"],
        "priority": task["priority"],
        "assignee": facts.actor["name"],
        "runState": facts.status,
        "scenarioId": exposure.SCENARIO_ID,
        "fixtureProfile": "clean-room",
    }


class ControlPlaneRefused(Refusal):
    """The mock company refused; its own code says why."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.code = refused.code  # type: ignore[misc] # the company's code, passed on


def applied(outcome: Outcome) -> Applied:
    """Return what a command did. Raises `ControlPlaneRefused` with the company's own code."""
    if isinstance(outcome, Refused):
        raise ControlPlaneRefused(outcome)
    return outcome
