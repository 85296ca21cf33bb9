from __future__ import annotations

from typing import Any

import pytest

from mockcore.commands import RegisterDeliverable, ScheduleWake
from mockcore.vocabulary import WakeReason
from tests.mockcore.conftest import Desk

DELIVERABLE: dict[str, Any] = {
    "filename": "report.pdf",
    "content_type": "application/pdf",
    "byte_size": 12,
    "sha256": "ab" * 32,
    "content_ref": "store://report",
    "title": "Report",
}


@pytest.mark.parametrize("reason", list(WakeReason))
def test_a_wake_is_due_after_its_delay_in_company_time(desk: Desk, reason: str) -> None:
    applied = desk.do(ScheduleWake(reason=reason, delay_ticks=90, payload_json={"n": 1}))
    wake = desk.entity("wake:wake-0001")
    assert applied.scheduled_wake_ids == ("wake-0001",)
    assert (wake["createdAt"], wake["dueAt"]) == ("2026-08-09T00:00:01.000Z", "2026-08-09T00:01:31.000Z")
    assert (wake["actorId"], wake["taskId"], wake["status"]) == (desk.identity.actor_id, desk.task_id, "scheduled")


@pytest.mark.parametrize("delay", [-1, 1.5, "3", True, None, 10**9])
def test_a_delay_that_is_no_bounded_whole_number_is_refused(desk: Desk, delay: Any) -> None:
    desk.refuse(ScheduleWake(reason="manual", delay_ticks=delay), "wake_delay_invalid")


def test_a_wake_for_no_known_reason_is_refused(desk: Desk) -> None:
    desk.refuse(ScheduleWake(reason="boredom", delay_ticks=1), "semantic_command_invalid")


def test_protected_values_do_not_enter_a_wake(desk: Desk) -> None:
    payload = {"apiKey": "k", "list": [{"authToken": "t", "plain": 1}], "note": "hi"}
    desk.do(ScheduleWake(reason="manual", delay_ticks=1, payload_json=payload))
    assert desk.entity("wake:wake-0001")["payload"] == {
        "apiKey": "[REDACTED]",
        "list": [{"authToken": "[REDACTED]", "plain": 1}],
        "note": "hi",
    }


def test_a_wake_keeps_what_only_sounds_protected(desk: Desk) -> None:
    payload = {"tokenCount": 7, "secretary": "Ada", "credentialsNeeded": False, "task": "task-cleanroom-0a1b"}
    desk.do(ScheduleWake(reason="manual", delay_ticks=1, payload_json=payload))
    assert desk.entity("wake:wake-0001")["payload"] == payload


def test_a_deliverable_is_an_artifact_and_its_work_product(desk: Desk) -> None:
    applied = desk.do(RegisterDeliverable(**DELIVERABLE))
    artifact, product = desk.entity("artifact:artifact-0001"), desk.entity("work-product:work-product-0001")
    assert (artifact["filename"], artifact["byteSize"], artifact["sha256"]) == ("report.pdf", 12, "ab" * 32)
    assert (product["type"], product["title"], product["artifactId"]) == ("artifact", "Report", "artifact-0001")
    assert product["metadata"] == {
        "filename": "report.pdf",
        "contentType": "application/pdf",
        "byteSize": 12,
        "contentRef": "store://report",
    }
    assert len(applied.entity_refs) == 3


@pytest.mark.parametrize("size", [-1, 0.5, "12", 2**53, True])
def test_a_size_that_is_no_whole_number_of_bytes_is_refused(desk: Desk, size: Any) -> None:
    desk.refuse(RegisterDeliverable(**{**DELIVERABLE, "byte_size": size}), "artifact_invalid")


@pytest.mark.parametrize("size", [0, 2**53 - 1])
def test_the_bounds_of_a_size_are_accepted(desk: Desk, size: int) -> None:
    desk.do(RegisterDeliverable(**{**DELIVERABLE, "byte_size": size}))


@pytest.mark.parametrize("name", ["filename", "content_type", "sha256", "content_ref", "title"])
@pytest.mark.requirement("company.command.atomic")
def test_a_deliverable_without_one_of_its_facts_leaves_nothing_behind(desk: Desk, name: str) -> None:
    desk.refuse(RegisterDeliverable(**{**DELIVERABLE, name: " "}), "semantic_command_invalid")
