"""Door: what an agent may call. `LIVE_OPERATIONS` is the live catalog in order, `get_operation` finds one of it."""

from __future__ import annotations

from capability.catalog.descriptor import Operation, ToolContract
from capability.catalog.live import LIVE_OPERATIONS
from mockcore.refusal import Refusal

__all__ = ["LIVE_OPERATIONS", "Operation", "ToolContract", "UnknownOperation", "find_operation", "get_operation"]

_BY_ID = {operation.id: operation for operation in LIVE_OPERATIONS}


class UnknownOperation(Refusal):
    """The live catalog holds no operation of that name."""

    code = "tool_not_exposed"


def find_operation(operation_id: str) -> Operation | None:
    """Return the live operation of that id, or None."""
    return _BY_ID.get(operation_id)


def get_operation(operation_id: str) -> Operation:
    """Return the live operation of that id, or raise `UnknownOperation`."""
    operation = find_operation(operation_id)
    if operation is None:
        raise UnknownOperation
    return operation
