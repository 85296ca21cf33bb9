"""One function per command. A handler changes rows of a unit of work: no query, no save, no clock of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mockcore import commands
from mockcore.handlers import (
    approvals,
    budgets,
    children,
    comments,
    deliverables,
    dependencies,
    documents,
    interactions,
    tasks,
    wakes,
    workspace,
)
from mockcore.handlers.scene import Scene

HANDLERS: dict[type[commands.Command], Callable[[Scene, Any], None]] = {
    commands.ReportProgress: comments.report_progress,
    commands.AnswerStatusQuestion: comments.report_progress,
    commands.PostBoardComment: comments.post_board_comment,
    commands.WriteDocument: documents.write_document,
    commands.RequestHumanInput: interactions.request_human_input,
    commands.ResolveHumanInput: interactions.resolve_human_input,
    commands.RegisterDeliverable: deliverables.register_deliverable,
    commands.SetDependencies: dependencies.set_dependencies,
    commands.CreateTask: children.create_task,
    commands.RequestApproval: approvals.request_approval,
    commands.DecideApproval: approvals.decide_approval,
    commands.CommentOnApproval: approvals.comment_on_approval,
    commands.FinishTask: tasks.finish_task,
    commands.BlockTask: tasks.block_task,
    commands.RequestReview: tasks.request_review,
    commands.ScheduleWake: wakes.schedule_wake,
    commands.ControlWorkspaceService: workspace.control_workspace_service,
    commands.RecordBudgetUsage: budgets.record_budget_usage,
    commands.ReleaseTask: tasks.release_task,
}
