"""Authorization records are numbered once, never changed and never removed."""

from __future__ import annotations

import threading

import pytest
from django.db import IntegrityError, connection, transaction

from capability.authorizations import reserve_numbers
from capability.models import AuthorizationRecord
from mockcore.appending import AppendOnly


def record(**changes):
    columns = {
        "company_id": "company-1",
        "number": 1,
        "phase": "invocation",
        "run_id": "run-1",
        "scenario_id": "room",
        "operation_id": "get_task_context",
        "allowed": True,
        "code": "allowed",
        "reason": "Every check passed.",
        "effective_claims_json": "[]",
        "before_revision": 1,
        "after_revision": 1,
        **changes,
    }
    return AuthorizationRecord.objects.create(**columns)


@pytest.mark.requirement("authorization.append-only")
@pytest.mark.django_db
def test_a_record_can_be_neither_changed_nor_deleted():
    row = record()
    row.code = "input_invalid"
    records = AuthorizationRecord.objects
    for attempt in (
        row.save,
        row.delete,
        records.all().delete,
        AuthorizationRecord._base_manager.all().delete,
        lambda: AuthorizationRecord._base_manager.update(code="input_invalid"),
        lambda: records.update(code="input_invalid"),
        lambda: records.filter(number=1).update(code="input_invalid"),
        lambda: records.bulk_update([row], ["code"]),
        lambda: records.update_or_create(number=1, defaults={"code": "input_invalid"}),
        lambda: records.bulk_create(
            [record(number=2)], update_conflicts=True, unique_fields=["id"], update_fields=["code"]
        ),
    ):
        with pytest.raises(AppendOnly):
            attempt()
    assert {row.code for row in records.all()} == {"allowed"}


@pytest.mark.requirement("authorization.append-only")
@pytest.mark.django_db
def test_a_record_made_with_the_key_of_another_takes_nobodys_place():
    taken = record()
    with transaction.atomic():
        other = record(number=2)
        transaction.set_rollback(True)
    other.pk, other._state.adding = taken.pk, True
    with pytest.raises(IntegrityError), transaction.atomic():
        other.save()
    assert AuthorizationRecord.objects.get().number == 1


@pytest.mark.requirement("authorization.append-only")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({}, "number"),
        ({"number": 0}, "authorization_number_from_one"),
        ({"number": 2, "phase": "other"}, "authorization_phase_known"),
        ({"number": 2, "allowed": False}, "authorization_allowed_agrees_with_code"),
        ({"number": 2, "code": "input_invalid"}, "authorization_allowed_agrees_with_code"),
    ],
)
def test_the_database_itself_refuses_what_cannot_be(changes, constraint):
    record()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        record(**changes)


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_get_different_numbers_without_a_gap():
    numbers, failures, together = [], [], threading.Barrier(4)

    def write():
        try:
            together.wait(5)
            for _ in range(5):
                with transaction.atomic():
                    number = reserve_numbers(company_id="company-1").first
                    record(number=number)
                    numbers.append(number)
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert failures == []
    assert sorted(numbers) == list(range(1, 21))


@pytest.mark.requirement("authorization.admin")
def test_the_operator_reads_records_in_the_admin_and_cannot_touch_them(admin_client):
    row = record(input_json='{"body":"[REDACTED]"}')
    listed = admin_client.get("/admin/capability/authorizationrecord/")
    assert b"semantic-auth-000001" in listed.content
    page = admin_client.get(f"/admin/capability/authorizationrecord/{row.pk}/change/")
    assert b"get_task_context" in page.content
    assert admin_client.get("/admin/capability/authorizationrecord/add/").status_code == 403
    assert (
        admin_client.post(f"/admin/capability/authorizationrecord/{row.pk}/delete/", {"post": "yes"}).status_code == 403
    )
    assert (
        admin_client.post(f"/admin/capability/authorizationrecord/{row.pk}/change/", {"code": "x"}).status_code == 403
    )
    assert AuthorizationRecord.objects.get().code == "allowed"
