from __future__ import annotations

import pytest

from mockcore.commands import PostBoardComment, ReportProgress, RequestHumanInput, WriteDocument
from mockcore.port import Principal
from tests.factories import DocumentFactory, TaskFactory
from tests.mockcore.conftest import Desk


def write(key: str = "plan", body: str = "One", base: str | None = None, title: str = "Plan") -> WriteDocument:
    return WriteDocument(key=key, title=title, body=body, base_revision_id=base)


def ask(**changed: object) -> RequestHumanInput:
    values = {
        "interaction_kind": "confirmation",
        "title": "May I?",
        "prompt": "Please confirm.",
        "continuation_policy": "wake_assignee",
    }
    return RequestHumanInput(**{**values, **changed})  # type: ignore[arg-type]


def test_progress_is_a_comment_by_the_actor_and_changes_no_status(desk: Desk) -> None:
    applied = desk.do(ReportProgress(body="Half done"))
    assert applied.entity_refs == ("comment:comment-0001", f"task:{desk.task_id}")
    comment = desk.entity("comment:comment-0001")
    assert (comment["body"], comment["authorActorId"]) == ("Half done", desk.identity.actor_id)
    assert desk.status == "in_progress"


@pytest.mark.parametrize("body", ["", " \n\t"])
def test_a_blank_comment_is_refused(desk: Desk, body: str) -> None:
    desk.refuse(ReportProgress(body=body), "semantic_command_invalid")


def test_text_that_no_database_can_hold_is_stored_cleaned(desk: Desk) -> None:
    desk.do(ReportProgress(body="a\0b\ud800c"))
    assert desk.entity("comment:comment-0001")["body"] == "a�b�c"


def test_a_new_document_has_its_first_revision(desk: Desk) -> None:
    desk.do(write(body=""))
    document = desk.entity("document:document-0001")
    assert (document["key"], document["format"], document["latestRevisionId"]) == ("plan", "markdown", "revision-0001")
    assert [(r["revision"], r["body"]) for r in document["revisions"]] == [(1, "")]


def test_a_write_on_the_latest_revision_adds_one_and_replaces_the_title(desk: Desk) -> None:
    desk.do(write())
    desk.do(write(body="Two", base="revision-0001", title="Better plan"))
    document = desk.entity("document:document-0001")
    assert (document["title"], document["latestRevisionId"]) == ("Better plan", "revision-0002")
    assert [r["body"] for r in document["revisions"]] == ["One", "Two"]


@pytest.mark.parametrize("base", [None, "revision-0001", "revision-0099"])
def test_a_write_on_anything_but_the_latest_revision_conflicts(desk: Desk, base: str | None) -> None:
    desk.do(write())
    desk.do(write(body="Two", base="revision-0001"))
    desk.refuse(write(body="Three", base=base), "document_revision_conflict")


def test_a_new_document_with_a_base_conflicts(desk: Desk) -> None:
    desk.refuse(write(base="revision-0001"), "document_revision_conflict")


@pytest.mark.parametrize("wrong", [{"key": " "}, {"title": ""}, {"key": "k" * 121}])
def test_a_document_needs_a_usable_key_and_a_title(desk: Desk, wrong: dict[str, str]) -> None:
    desk.refuse(write(**wrong), "semantic_command_invalid")


def test_two_tasks_may_each_have_a_document_of_that_key(desk: Desk) -> None:
    other = TaskFactory(company=desk.company())
    DocumentFactory(company=other.company, task=other, key="plan")
    desk.do(write())


@pytest.mark.requirement("company.interaction.stale-target")
def test_a_new_revision_expires_the_question_about_the_old_one(desk: Desk) -> None:
    desk.do(write())
    desk.do(ask(target_revision_id="revision-0001"))
    applied = desk.do(write(body="Two", base="revision-0001"))
    interaction = desk.entity("interaction:interaction-0001")
    assert interaction["status"] == "expired"
    assert interaction["result"]["outcome"] == "stale_target"
    assert interaction["result"]["supersededBy"]["revision"] == 2
    assert "interaction:interaction-0001" in applied.entity_refs
    assert desk.status == "in_progress"


@pytest.mark.requirement("company.interaction.stale-target")
def test_a_new_revision_leaves_questions_about_other_things_open(desk: Desk) -> None:
    desk.do(write())
    desk.do(write(key="notes"))
    desk.do(ask(target_revision_id="revision-0002"))
    desk.do(ask(title="And this?"))
    desk.do(write(body="Two", base="revision-0001"))
    assert [desk.entity(f"interaction:interaction-000{n}")["status"] for n in (1, 2)] == ["pending", "pending"]
    assert desk.status == "in_review"


@pytest.mark.requirement("company.interaction.superseded-by-comment")
def test_a_board_comment_supersedes_the_open_questions(desk: Desk) -> None:
    desk.do(ask())
    desk.do(ask(title="And this?", continuation_policy="none"))
    applied = desk.board(PostBoardComment(body="Do it another way"))
    comment = desk.entity("comment:comment-0001")
    assert (comment["body"], comment["authorActorId"]) == ("Do it another way", None)
    for number in (1, 2):
        interaction = desk.entity(f"interaction:interaction-000{number}")
        assert interaction["status"] == "expired"
        assert interaction["result"] == {
            "outcome": "superseded_by_comment",
            "supersededBy": {"kind": "comment", "id": "comment-0001"},
        }
    assert desk.status == "in_progress"
    assert applied.scheduled_wake_ids == ("wake-0001",)  # only one of the two asked for a wake


def test_a_board_comment_without_a_question_only_comments(desk: Desk) -> None:
    applied = desk.board(PostBoardComment(body="Good"))
    assert applied.entity_refs == ("comment:comment-0001", f"task:{desk.task_id}")
    assert desk.status == "in_progress"


def test_a_blank_board_comment_is_refused(desk: Desk) -> None:
    desk.refuse(PostBoardComment(body=" "), "semantic_command_invalid", principal=Principal.BOARD)
