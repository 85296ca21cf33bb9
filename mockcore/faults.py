"""Configured faults. A rule is used up by its faulted decisions; its row never changes, so a fault moves no state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mockcore import lineage, rows
from mockcore.models import Company, DecisionRecord, Fault
from mockcore.refusal import Refusal
from mockcore.vocabulary import Decided, FaultEffect, FaultOperation

T = TypeVar("T")


class FaultInjected(Refusal):
    """A configured fault."""

    retryable = True

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"a configured fault: {fault.code}")
        self.fault = fault


def next_fault(*, company: Company, operation: FaultOperation, command_kind: str | None = None) -> Fault | None:
    """Return the first rule that fits and is not used up. Source: reference A 3.17."""
    rules = rows.fetch_all(Fault, company_id=company.pk, operation=operation.value)
    for fault in sorted(rules, key=lambda rule: rule.position):
        if fault.command_kind in (None, command_kind) and remaining(fault) > 0:
            return fault
    return None


def under_faults(
    *, company: Company, operation: FaultOperation, command_kind: str | None = None, take_effect: Callable[[], T]
) -> T:
    """Let a mutation that is sure to succeed take effect, unless a rule strikes before (`retryable_error`) or after it.

    Raises `FaultInjected`; after a `lost_ack` everything stands, and only the answer is lost.
    """
    fault = next_fault(company=company, operation=operation, command_kind=command_kind)
    if fault is not None and fault.effect == FaultEffect.RETRYABLE_ERROR:
        raise FaultInjected(fault)
    result = take_effect()
    if fault is not None:
        raise FaultInjected(fault)
    return result


def remaining(fault: Fault) -> int:
    """Return how often the rule will still strike."""
    struck = {"outcome": Decided.FAULTED.value, "fault_id": fault.public_id}
    spans = lineage.spans(fault.company, DecisionRecord)
    used: int = sum(span.of(DecisionRecord).filter(**struck).count() for span in spans)
    return max(0, fault.configured_count - used)
