"""The record in the admin: readable by the operator, changeable by nobody."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse

from evidence import record
from evidence.models import SessionEvent, SessionLog
from mockcore.showing import COUNTED_ROWS, BoundedPaginator
from tests.evidence.logs import new_session_id, submitted, whole_turn


@pytest.fixture
def operator(client, db):
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def session_id(db):
    made = new_session_id()
    record.open_log(session_id=made, run_id="run-1")
    record.append(session_id=made, drafts=[*whole_turn(1), submitted(2, text="<script>alert(1)</script>")])
    return made


@pytest.mark.parametrize("model", [SessionLog, SessionEvent])
@pytest.mark.requirement("record.append-only")
def test_nothing_can_be_added_changed_or_removed(operator, session_id, model, rf):
    name = model._meta.model_name
    row = model.objects.first()
    assert operator.get(reverse(f"admin:evidence_{name}_changelist")).status_code == 200
    assert operator.get(reverse(f"admin:evidence_{name}_add")).status_code == 403
    change = reverse(f"admin:evidence_{name}_change", args=[row.pk])
    assert operator.get(change).status_code == 200
    assert operator.post(change, {}).status_code == 403
    assert operator.post(reverse(f"admin:evidence_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    assert model.objects.filter(pk=row.pk).exists()


def test_an_event_shows_its_envelope_as_text(operator, session_id):
    event = SessionEvent.objects.filter(session_id=session_id).last()
    newest = SessionEvent.objects.filter(session_id=session_id).first()
    assert newest.number > event.number
    page = operator.get(reverse("admin:evidence_sessionevent_change", args=[newest.pk])).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page


def test_events_are_found_by_type_and_by_session(operator, session_id):
    url = reverse("admin:evidence_sessionevent_changelist")
    page = operator.get(url, {"event_type": "turn.completed", "q": session_id})
    assert [event.event_type for event in page.context["cl"].result_list] == ["turn.completed"]
    assert operator.get(url, {"q": "session-nowhere"}).context["cl"].result_count == 0


def test_a_list_costs_the_same_however_long_the_record_is(operator, session_id, django_assert_max_num_queries):
    url = reverse("admin:evidence_sessionevent_changelist")
    with django_assert_max_num_queries(6) as queries:
        operator.get(url)
    listed = [query["sql"] for query in queries.captured_queries if "evidence_sessionevent" in query["sql"]]
    assert listed
    assert all(f"LIMIT {COUNTED_ROWS}" in sql or "COUNT" not in sql for sql in listed)
    assert not any('"body"' in sql for sql in listed)


def test_the_paginator_stops_counting_at_its_bound(session_id, monkeypatch):
    monkeypatch.setattr("mockcore.showing.COUNTED_ROWS", 3)
    assert BoundedPaginator(SessionEvent.objects.all(), 50).count == 3


def test_both_models_are_registered():
    assert {SessionLog, SessionEvent} <= set(admin.site._registry)
