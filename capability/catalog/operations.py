"""The one registry of operations. Add an operation to its group's module; a projection must then name it too.

The thirteen operations that only the scenario catalog lists come with the explorer.
"""

from __future__ import annotations

from capability.catalog import (
    delegation,
    discovery,
    documents,
    escape_hatch,
    governance,
    interactions,
    tasks,
    wakes,
    workspace,
)
from capability.catalog.descriptor import Operation

OPERATIONS: tuple[Operation, ...] = (
    *tasks.OPERATIONS,
    *documents.OPERATIONS,
    *interactions.OPERATIONS,
    *discovery.OPERATIONS,
    *governance.OPERATIONS,
    *workspace.OPERATIONS,
    *delegation.OPERATIONS,
    *wakes.OPERATIONS,
    *escape_hatch.OPERATIONS,
)
