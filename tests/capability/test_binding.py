"""Every provider gets the same contracts."""

from __future__ import annotations

import json

import pytest

from capability.binding import UnknownBindingKind, codex_dynamic_tools, create_capability_provider_neutral_binding
from capability.catalog import LIVE_OPERATIONS


@pytest.mark.requirement("binding.identical")
def test_the_bindings_differ_in_their_label_only():
    fake = create_capability_provider_neutral_binding("fake").as_json()
    live = create_capability_provider_neutral_binding("live_codex").as_json()
    assert fake.pop("bindingKind") == "fake"
    assert live.pop("bindingKind") == "live_codex"
    assert json.dumps(fake) == json.dumps(live)
    assert fake["schema"] == "paperclip.semantic-binding.v1"
    assert [contract["name"] for contract in fake["contracts"]] == [operation.id for operation in LIVE_OPERATIONS]


def test_a_contract_tells_claims_and_version_but_no_title_mode_or_role():
    contract = create_capability_provider_neutral_binding("fake").as_json()["contracts"][24]
    assert contract["annotations"] == {
        "semanticContract": "paperclip.semantic-tool.v1",
        "operationId": "decide_approval",
        "version": 1,
        "exposure": "optional",
        "requiredClaims": ["governance:approvals:decide"],
    }
    assert set(contract) == {"name", "description", "inputSchema", "outputSchema", "annotations"}


@pytest.mark.requirement("binding.kinds")
def test_an_unknown_kind_is_refused():
    with pytest.raises(UnknownBindingKind) as refused:
        create_capability_provider_neutral_binding("other")
    assert refused.value.code == "binding_kind_unknown"


@pytest.mark.requirement("binding.identical")
def test_codex_gets_name_description_and_schema_of_the_visible_tools_in_their_order():
    visible = [operation.contract() for operation in LIVE_OPERATIONS if operation.is_read]
    tools = codex_dynamic_tools(visible)
    assert [tool["name"] for tool in tools] == [contract.name for contract in visible]
    for tool, contract in zip(tools, visible, strict=True):
        assert tool == {
            "name": contract.name,
            "description": contract.description,
            "inputSchema": contract.as_json()["inputSchema"],
        }
    assert json.loads(json.dumps(tools)) == tools


def test_changing_a_tool_definition_does_not_reach_the_catalog():
    contracts = create_capability_provider_neutral_binding("fake").contracts
    codex_dynamic_tools(contracts)[0]["inputSchema"]["properties"]["planted"] = {}
    assert "planted" not in codex_dynamic_tools(contracts)[0]["inputSchema"]["properties"]
