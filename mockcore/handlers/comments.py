"""What is said on a task."""

from __future__ import annotations

from mockcore.commands import AnswerStatusQuestion, PostBoardComment, ReportProgress
from mockcore.handlers import interactions
from mockcore.handlers.scene import Scene, text_in
from mockcore.models import Comment
from mockcore.vocabulary import Expiry


def report_progress(scene: Scene, command: ReportProgress | AnswerStatusQuestion) -> None:
    """Append a comment by the run's actor."""
    say(scene, text_in(command.body, name="body"))


def post_board_comment(scene: Scene, command: PostBoardComment) -> None:
    """Append a comment by the board. What the board says later supersedes the questions that were open.

    Source: design section 4 (`superseded_by_comment`).
    """
    comment = say(scene, text_in(command.body, name="body"))
    superseded_by = {"kind": "comment", "id": comment.public_id}
    interactions.expire_pending(scene, Expiry.SUPERSEDED_BY_COMMENT, supersededBy=superseded_by)


def say(scene: Scene, body: str) -> Comment:
    """Append a comment by whoever speaks in the scene."""
    public_id, now = scene.work.next_id("comment"), scene.work.now
    return scene.work.add(
        Comment(public_id=public_id, task=scene.task, author_actor=scene.author, body=body, created_at=now)
    )
