"""Configured faults. A rule is used up by its faulted decisions; its row never changes, so a fault moves no state."""

from __future__ import annotations

from mockcore import rows
from mockcore.models import Company, DecisionRecord, Fault
from mockcore.refusal import Refusal
from mockcore.vocabulary import Decided, FaultOperation


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


def remaining(fault: Fault) -> int:
    """Return how often the rule will still strike."""
    used = DecisionRecord.objects.filter(
        company_id=fault.company_id, outcome=Decided.FAULTED.value, fault_id=fault.public_id
    )
    return max(0, fault.configured_count - used.count())
