"""The generated contracts are those of the registry; any drift is told by the operation; the boundary stays clean."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from capability.catalog import LIVE_OPERATIONS, schema
from capability.catalog.descriptor import (
    LIVE_ONLY,
    Group,
    Idempotency,
    Mode,
    Operation,
    Placement,
    Query,
    SideEffect,
)
from capability.contracts import boundary, files
from capability.contracts.drift import differences
from capability.management.commands.verify import STEPS

# One edit for every field of a descriptor. A field without an edit here fails the first test.
EDITS = {
    "id": "decide_approvals",
    "title": "Other",
    "description": "Other.",
    "placement": Placement.ALWAYS,
    "modes": frozenset({Mode.ASK}),
    "side_effect": SideEffect.READ,
    "input_schema": schema.NO_INPUT,
    "output_schema": schema.NO_INPUT,
    "handler": Query(name="other"),
    "surfaces": LIVE_ONLY,
    "group": Group.DISCOVERY,
    "required_claims": (),
    "roles": frozenset({"ceo"}),
    "idempotency": Idempotency.NONE,
    "disabled_by_default": True,
    "version": 2,
}


def edited(id: str, /, **changes: object) -> list[Operation]:
    """The catalog with one operation changed."""
    return [dataclasses.replace(one, **changes) if one.id == id else one for one in LIVE_OPERATIONS]


def drift(stored: dict[str, str], fresh: dict[str, str]) -> list[str]:
    return [line for name in fresh for line in differences(name=name, stored=stored[name], fresh=fresh[name])]


@pytest.mark.requirement("contracts.drift")
@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Operation)])
def test_editing_any_field_of_a_descriptor_is_told_by_the_operations_name(field: str) -> None:
    told = drift(files.render(), files.render(edited("decide_approval", **{field: EDITS[field]})))
    assert told
    assert all("decide_approval" in line or "overview" in line for line in told), told
    assert any("decide_approval" in line for line in told)


@pytest.mark.requirement("contracts.drift")
def test_a_field_deep_inside_a_schema_is_told_by_its_path() -> None:
    smaller = schema.mutation({"blockedByTaskIds": {**schema.IDS, "maxItems": 5}})
    told = drift(files.render(), files.render(edited("set_dependencies", input_schema=smaller)))
    assert (
        "semantic-tool-contracts.json: set_dependencies.inputSchema.properties.blockedByTaskIds.maxItems: "
        "stored 200, now 5"
    ) in told


@pytest.mark.requirement("contracts.drift")
def test_a_missing_an_added_and_a_moved_operation_are_told() -> None:
    whole = files.render()
    less = files.render(LIVE_OPERATIONS[1:])
    swapped = files.render([LIVE_OPERATIONS[1], LIVE_OPERATIONS[0], *LIVE_OPERATIONS[2:]])
    assert f"{files.CONTRACTS}: get_task_context: is in the file and not in the catalog" in drift(whole, less)
    assert f"{files.CONTRACTS}: get_task_context: is not in the file" in drift(less, whole)
    assert any("get_task_context: the order of the entries differs" in line for line in drift(whole, swapped))


@pytest.mark.requirement("contracts.drift")
@pytest.mark.parametrize(
    ("stored", "says"),
    [
        (None, "the file is missing"),
        ("no json", "the file is no JSON"),
        ("{}", "the file is no list of entries"),
        ("[1]", "the file is no list of entries"),
    ],
)
def test_a_file_that_is_none_is_told(stored: str | None, says: str) -> None:
    assert differences(name=files.FACTS, stored=stored, fresh=files.render()[files.FACTS]) == [f"{files.FACTS}: {says}"]


def test_other_bytes_with_the_same_meaning_are_drift_too() -> None:
    text = files.render()[files.CONTRACTS]
    [line] = differences(name=files.CONTRACTS, stored=text.replace(",", ", ", 1).rstrip(), fresh=text)
    assert "the bytes differ" in line


# ---------------------------------------------------------------- the files
@pytest.mark.requirement("contracts.format")
def test_the_contract_file_is_one_canonical_line_in_the_order_of_the_catalog() -> None:
    text = files.render()[files.CONTRACTS]
    assert text.endswith("\n")
    assert text.count("\n") == 1
    entries = json.loads(text)
    assert text == json.dumps(entries, sort_keys=True, separators=(",", ":")) + "\n"
    assert [entry["name"] for entry in entries] == [operation.id for operation in LIVE_OPERATIONS]
    for entry in entries:
        assert set(entry) == {"name", "description", "inputSchema", "outputSchema", "annotations"}
        assert {"properties", "required"} <= set(entry["inputSchema"]) & set(entry["outputSchema"])
    assert files.render() == files.render()


@pytest.mark.requirement("contracts.facts")
def test_the_facts_say_what_the_contracts_hide() -> None:
    entries = {entry["operationId"]: entry for entry in json.loads(files.render()[files.FACTS])}
    assert list(entries) == [operation.id for operation in LIVE_OPERATIONS]
    decide = entries["decide_approval"]
    assert decide["title"] == "Decide approval"
    assert decide["allowedModes"] == ["standard", "skill_test"]
    assert decide["allowedRoles"] == ["approver", "board", "security"]
    assert (decide["sideEffect"], decide["idempotency"], decide["group"]) == ("governance", "required", "governance")
    assert decide["surfaces"] == ["live", "scenario"]
    assert decide["redaction"] == {
        "input": "refused", "output": "masked", "error": "masked", "authorization_record": "masked",
    }  # fmt: skip
    assert entries["get_agent"]["surfaces"] == ["live"]
    assert entries["generic_api_request"]["disabledByDefault"] is True


@pytest.mark.requirement("contracts.page")
@pytest.mark.parametrize("operation", LIVE_OPERATIONS, ids=lambda operation: operation.id)
def test_the_page_tells_people_who_may_call_an_operation_and_with_what(operation: Operation) -> None:
    page = files.render()[files.PAGE]
    section = page.partition(f"## `{operation.id}`\n")[2].partition("\n## ")[0]
    assert f"**{operation.title}.** {operation.description}" in section
    for word in [*operation.required_claims, *operation.roles, *operation.field_names]:
        assert word in section
    for name in operation.field_names:
        required = "yes" if name in operation.input_schema["required"] else "no"
        assert f"| `{name}` | {required} | " in section
    assert f"[`{operation.id}`](#{operation.id})" in page


@pytest.mark.requirement("contracts.checked")
def test_the_stored_files_are_those_of_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("check_semantic_contracts")
    assert "agree with the catalog" in capsys.readouterr().out

    monkeypatch.setattr(files, "DIRECTORY", tmp_path / "generated")
    with pytest.raises(CommandError, match="the file is missing"):
        call_command("check_semantic_contracts")
    call_command("generate_semantic_contracts")
    call_command("check_semantic_contracts")
    monkeypatch.setattr(files.render, "__defaults__", (edited("finish_task", title="Other"),))
    with pytest.raises(CommandError, match=r'finish_task\.title: stored "Finish active task", now "Other"'):
        call_command("check_semantic_contracts")


@pytest.mark.requirement("contracts.checked")
def test_ci_runs_both_checks() -> None:
    commands = [step.command[-1] for step in STEPS]
    assert {"check_semantic_contracts", "check_capability_contract"} <= set(commands)


# ---------------------------------------------------------------- what must not be here
@pytest.mark.requirement("boundary.no-credential-field")
def test_no_tool_schema_has_a_credential_field() -> None:
    assert boundary.credential_fields() == []


@pytest.mark.requirement("boundary.no-credential-field")
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"input_schema": schema.closed({"apiKey": schema.ID})}, "input schema has the credential field apiKey"),
        ({"input_schema": schema.closed(optional={"a": schema.closed({"password": schema.ID})})}, "field password"),
        (
            {"input_schema": schema.closed({"a": {"type": "array", "items": schema.closed({"authToken": schema.ID})}})},
            "field authToken",
        ),
        ({"output_schema": schema.closed({"client_secret": schema.ID})}, "output schema has the credential field"),
        ({"input_schema": {"type": "object", "required": ["cookie"]}}, "field cookie"),
    ],
)
def test_a_credential_field_is_found_at_any_depth(changes: dict, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = edited("search_tasks", **changes)
    [found] = boundary.credential_fields(planted)
    assert found.startswith("search_tasks: ")
    assert says in found
    monkeypatch.setattr(boundary.credential_fields, "__defaults__", (planted,))
    with pytest.raises(CommandError, match="credential field"):
        call_command("check_semantic_contracts")


@pytest.mark.requirement("boundary.nothing-foreign")
def test_this_house_holds_no_route_header_credential_or_binding_of_a_real_control_plane() -> None:
    assert boundary.foreign_parts() == []


@pytest.mark.requirement("boundary.nothing-foreign")
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('URL = "/api/issues/42"', "a Paperclip route"),
        ('URL = f"/api/companies/{id}/issues"', "a Paperclip route"),
        ('HEAD = {"X-Paperclip-Run-Id": "1"}', "a Paperclip header"),
        ('KEY = "PAPERCLIP_API_URL"', "a Paperclip setting"),
        ('HOST = "https://app.paperclip.example"', "a Paperclip address"),
        ('HEAD = f"Bearer {value}"', "an authentication header"),
        ('KEY = "ghp_FAKE0123456789abcdefFAKE0123456789ab"', "looks like a credential"),
        ("import httpx", "reaches out through httpx"),
        ("from urllib import request", "reaches out through urllib.request"),
        ("import http.client", "reaches out through http.client"),
        ("import subprocess", "reaches out through subprocess"),
        ("from acpx import client", "reaches out through acpx"),
    ],
)
def test_what_does_not_belong_here_is_found_where_it_stands(tmp_path: Path, source: str, says: str) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "module.py").write_text(f'"""Doc."""\nfrom http import HTTPStatus\n{source}\n')
    found = boundary.foreign_parts(tmp_path)
    assert found
    assert all(line.startswith("inner/module.py:3: ") for line in found)
    assert any(says in line for line in found)


@pytest.mark.requirement("boundary.nothing-foreign")
def test_every_operation_ends_at_the_port() -> None:
    """No descriptor names a way past it: a query of the port, another read of it, or a command to it."""
    ways = {files.facts(operation)["carriedOutBy"].split()[0] for operation in LIVE_OPERATIONS}
    assert ways - {"unbound"} == {"query", "read", "write"}
