"""The services of a task's workspace. Nothing runs: the rows say what would."""

from __future__ import annotations

from mockcore.commands import ControlWorkspaceService
from mockcore.handlers.scene import CommandInvalid, Scene
from mockcore.models import WorkspaceService
from mockcore.refusal import Refusal
from mockcore.vocabulary import ServiceStatus

AFTER: dict[str, ServiceStatus] = {
    "start": ServiceStatus.RUNNING,
    "stop": ServiceStatus.STOPPED,
    "fail": ServiceStatus.FAILED,
}


class WorkspaceServiceMissing(Refusal):
    """There is no such service in the task's workspace."""

    code = "workspace_service_missing"


def control_workspace_service(scene: Scene, command: ControlWorkspaceService) -> None:
    """Start, stop or fail a service of the active task. Starting takes a new address or keeps the old one.

    Raises `WorkspaceServiceMissing`, `CommandInvalid`. Source: reference A 3.9.
    """
    service = scene.work.get(WorkspaceService, command.service_id)
    if service is None or service.task_id != scene.task.uid:
        raise WorkspaceServiceMissing(f"the task has no workspace service {command.service_id}")
    if command.action not in AFTER:
        raise CommandInvalid(f"action must be one of: {', '.join(AFTER)}")
    url = service.url if command.url is None else command.url
    service.status, service.last_transition_at = AFTER[command.action].value, scene.work.now
    service.url = url if command.action == "start" else None
    scene.mentioned.add(service.ref)
