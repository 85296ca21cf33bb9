"""The rows of the mock company, one module per aggregate. The rows are the truth."""

from mockcore.models.actor import Actor
from mockcore.models.approval import Approval, ApprovalComment
from mockcore.models.artifact import Artifact, WorkProduct
from mockcore.models.base import Entity, Row
from mockcore.models.budget import Budget
from mockcore.models.company import Company
from mockcore.models.document import Document, DocumentRevision
from mockcore.models.event import RunEvent
from mockcore.models.fault import Fault
from mockcore.models.interaction import Interaction
from mockcore.models.ledger import (
    AuditRecord,
    Change,
    DecisionRecord,
    IdempotencyRecord,
    Keyframe,
    LedgerRow,
    StateRevision,
)
from mockcore.models.run import Run
from mockcore.models.task import Blocker, Comment, Task
from mockcore.models.wake import Wake
from mockcore.models.workspace import WorkspaceService

__all__ = [
    "Actor",
    "Approval",
    "ApprovalComment",
    "Artifact",
    "AuditRecord",
    "Blocker",
    "Budget",
    "Change",
    "Comment",
    "Company",
    "DecisionRecord",
    "Document",
    "DocumentRevision",
    "Entity",
    "Fault",
    "IdempotencyRecord",
    "Interaction",
    "Keyframe",
    "LedgerRow",
    "Row",
    "Run",
    "RunEvent",
    "StateRevision",
    "Task",
    "Wake",
    "WorkProduct",
    "WorkspaceService",
]
