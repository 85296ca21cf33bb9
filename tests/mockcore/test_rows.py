"""Rows: the named constraints hold, the built SQL agrees with the ORM, and the admin only looks."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.transaction import TransactionManagementError
from django.db.utils import IntegrityError
from django.test import Client

from mockcore import models, rows
from mockcore.commands import RegisterDeliverable, RequestApproval
from mockcore.models.base import camel
from mockcore.work import UnitOfWork
from tests import factories as make
from tests.mockcore.conftest import Desk

MODELS = tuple(apps.get_app_config("mockcore").get_models())


@pytest.mark.parametrize(
    ("attname", "name"),
    [("public_id", "id"), ("checkout_run_id", "checkoutRunId"), ("sha256", "sha256"), ("payload", "payload")],
)
def test_columns_have_the_contracts_spelling(attname: str, name: str) -> None:
    assert camel(attname) == name


def broken(constraint: str, write: Any) -> None:
    def try_it() -> None:
        with transaction.atomic():
            write()
            connection.check_constraints()

    with pytest.raises(IntegrityError) as error:
        try_it()
    if connection.vendor == "postgresql" or "CHECK" in str(error.value):
        assert constraint in str(error.value)


@pytest.mark.requirement("company.integrity")
def test_the_database_itself_refuses_rows_that_cannot_be(desk: Desk) -> None:
    company, task = desk.company(), models.Task.objects.get(public_id=desk.task_id)
    other = make.TaskFactory(company=company, identifier="X-1")
    held = {"company": company, "task": task}
    broken("task_status_known", lambda: models.Task.objects.filter(pk=task.pk).update(status="lost"))
    broken("task_terminal_is_not_held", lambda: models.Task.objects.filter(pk=task.pk).update(status="done"))
    broken("task_is_not_its_own_parent", lambda: models.Task.objects.filter(pk=task.pk).update(parent=task))
    broken("task_identifier_unique", lambda: make.TaskFactory(company=company, identifier="X-1"))
    broken("blocker_is_not_itself", lambda: make.BlockerFactory(**held, blocked_by_task=task))
    make.BlockerFactory(**held, blocked_by_task=other)
    broken("blocker_edge_unique", lambda: make.BlockerFactory(**held, blocked_by_task=other))
    broken("interaction_resolved_once", lambda: make.InteractionFactory(**held, status="accepted"))
    broken("approval_decided_once", lambda: make.ApprovalFactory(company=company, decided_at=company.now()))
    broken("artifact_size_not_negative", lambda: make.ArtifactFactory(**held, byte_size=-1))
    broken(
        "budget_scope_unique",
        lambda: make.BudgetFactory(company=company, public_id="b", scope="company", scope_id=company.pk),
    )
    make.DocumentFactory(**held)
    broken("document_key_unique", lambda: make.DocumentFactory(**held))
    broken("comment_position_unique", lambda: [make.CommentFactory(**held, position=99) for _ in range(2)])
    broken(
        "comment_uid_is_its_own",
        lambda: models.Comment.objects.bulk_create(
            [models.Comment(uid="x", public_id="y", position=1, body="b", created_at=company.now(), **held)]
        ),
    )
    broken("company_id_is_one_word", lambda: make.CompanyFactory(public_id="a/b"))
    desk.do(RequestApproval(approval_type="spend", payload_json={}))
    for ledger in models.LedgerRow.__subclasses__():
        first = QuerySet(ledger).filter(company=company, number=1)
        held_back = f"{ledger._meta.model_name}_counts_from_one"
        broken(held_back, partial(first.update, number=0))
    broken("run", lambda: models.Task.objects.filter(pk=other.pk).update(checkout_run_id="nowhere/run-9"))


def test_a_public_id_is_unique_inside_its_company_only(db: None) -> None:
    first, second = make.TaskFactory(public_id="same"), make.TaskFactory(public_id="same")
    assert first.company != second.company
    again = models.Task(uid=first.uid, company=first.company, public_id="same", position=77, identifier="Z", title="t")
    with pytest.raises(IntegrityError), transaction.atomic():
        models.Task.objects.bulk_create([again])


# ---------------------------------------------------------------- built SQL
def test_a_row_read_by_built_sql_equals_the_one_the_orm_reads(desk: Desk) -> None:
    desk.do(RequestApproval(approval_type="spend", payload_json={"a": [1, None, "é"]}))
    for model in MODELS:
        for expected in model._default_manager.all():
            found = rows.fetch(model, **{model._meta.pk.attname: expected.pk})
            assert found is not None
            columns = [field.attname for field in model._meta.concrete_fields]
            assert [getattr(found, name) for name in columns] == [getattr(expected, name) for name in columns]


def test_related_rows_come_in_the_same_query(desk: Desk, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        run = rows.fetch(models.Run, "task", "actor", "company", company_id=desk.company_id, public_id="run-1")
        assert run is not None
        assert (run.task.public_id, run.actor.name, run.company.revision) == (desk.task_id, "Mock Agent", 1)


def test_a_row_can_be_inserted_changed_and_removed(db: None) -> None:
    task = make.TaskFactory()
    comment = models.Comment(
        company=task.company, task=task, public_id="c", position=5, body="one", created_at=task.company.now()
    )
    comment.identify()
    rows.insert(comment)
    comment.body, comment.author_actor_id = "two", None
    rows.update(comment, ["body", "author_actor_id"])
    assert models.Comment.objects.get().body == "two"
    rows.delete(comment)
    assert models.Comment.objects.count() == 0
    for write in (lambda: rows.update(comment, ["body"]), lambda: rows.delete(comment)):
        with pytest.raises(LookupError):
            write()
    rows.insert()


def test_a_unit_of_work_writes_nothing_before_it_is_flushed(db: None) -> None:
    task = make.TaskFactory(title="before")
    work = UnitOfWork(company=task.company)
    held = work.get(models.Task, task.public_id)
    assert held is not None
    held.title = "after"
    added = work.add(models.Comment(public_id="c", task=held, body="b", created_at=work.now))
    gone = work.add(models.Comment(public_id="d", task=held, body="b", created_at=work.now))
    work.remove(gone)
    assert work.get(models.Comment, "c") is added
    assert work.get(models.Comment, "d") is None
    assert work.find(models.Task, title="after") == [held]
    assert work.find(models.Task, title="before") == []
    assert models.Comment.objects.count() == 0
    assert {change.ref: change.after for change in work.flush()} == {
        f"task:{task.public_id}": {"title": "after"},
        "comment:c": added.whole(),
    }
    assert [comment.public_id for comment in models.Comment.objects.all()] == ["c"]


# ---------------------------------------------------------------- admin
@pytest.fixture
def superuser(db: None) -> User:
    """An operator who may do everything the admin offers. Nobody logs in with a password here."""
    return User.objects.create(username="operator", is_staff=True, is_superuser=True)


@pytest.fixture
def operator(superuser: User) -> Client:
    client = Client()
    client.force_login(superuser)
    return client


def test_every_model_is_in_the_admin() -> None:
    assert set(MODELS) <= set(admin.site._registry)


@transaction.atomic
def in_a_lost_transaction(sql: str, values: list[Any]) -> rows.Ran:
    with contextlib.suppress(ZeroDivisionError), transaction.atomic(savepoint=False):
        raise ZeroDivisionError  # caught, so nobody would tell the caller that his work goes with it
    return rows.run(sql, values)


@pytest.mark.requirement("company.integrity")
@pytest.mark.parametrize("verb", ["SELECT name FROM mockcore_company", "UPDATE mockcore_company SET name = name"])
def test_a_transaction_that_is_lost_already_takes_no_more_statements(desk: Desk, verb: str) -> None:
    with pytest.raises(TransactionManagementError):
        in_a_lost_transaction(f"{verb} WHERE public_id = %s", [desk.company_id])


@pytest.mark.requirement("company.admin.read-only")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_the_admin_shows_rows_and_offers_nothing_else(rf: Any, superuser: User, model: Any) -> None:
    page = admin.site._registry[model]
    request = rf.get("/")
    request.user = superuser
    assert page.has_view_permission(request)
    assert not page.has_add_permission(request)
    assert not page.has_change_permission(request)
    assert not page.has_delete_permission(request)
    assert page.get_actions(request) == {}
    assert page.show_full_result_count is False


@pytest.mark.requirement("company.admin.withholds")
@pytest.mark.urls("tests.mockcore.admin_urls")
def test_every_admin_page_can_be_read_and_says_nowhere_where_the_bytes_are(desk: Desk, operator: Client) -> None:
    desk.do(
        RegisterDeliverable(
            filename="<b>f</b>", content_type="c", byte_size=1, sha256="s", content_ref="store://hidden", title="t"
        )
    )
    desk.do(RequestApproval(approval_type="spend", payload_json={"note": "<script>"}))
    seen = 0
    for model in MODELS:
        name = f"/admin/mockcore/{model._meta.model_name}/"
        pages = [name, *(f"{name}{quote(row.pk)}/change/" for row in model._default_manager.all())]
        for page in pages:
            answer = operator.get(page)
            assert answer.status_code == 200, page
            text = answer.content.decode()
            assert "store://hidden" not in text, page
            assert '<script>"' not in text
            assert "<b>f</b>" not in text, page
            seen += 1
    assert seen > 30


@pytest.mark.urls("tests.mockcore.admin_urls")
def test_the_admin_cannot_be_talked_into_changing_a_row(desk: Desk, operator: Client) -> None:
    before = desk.facts_of_state()
    company = f"/admin/mockcore/company/{quote(desk.company_id)}"
    for path in (f"{company}/change/", f"{company}/delete/", "/admin/mockcore/company/add/"):
        assert operator.post(path, {"name": "Mine", "post": "yes"}).status_code == 403
    assert desk.facts_of_state() == before
