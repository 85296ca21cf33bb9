"""The semantic boundary over a control plane: a catalog of operations, one policy, one dispatcher, and bindings.

The package root offers what a caller of the boundary needs; nothing is imported before it is asked for, so that Django
can find the house first. A dispatcher stands over any `mockcore.port.ControlPlanePort`. Here it is a fresh mock company
whose run has checked its task out:

>>> from mockcore.plane import MockControlPlane
>>> from mockcore.port import OpenRun
>>> from mockcore.tenants import seed_clean_room
>>> identity = seed_clean_room()
>>> port = MockControlPlane(company_id=identity.company_id)
>>> claims = ("delegation:tasks:create", "dependencies:write")
>>> opened = port.open_run(OpenRun(
...     run_id="run-1", session_id="session-1", actor_id=identity.actor_id, task_id=identity.task_id,
...     capabilities=claims,
... ))

List the tools of a run. What it has no claim for is absent:

>>> from capability import Call, Dispatcher, Scenario
>>> dispatcher = Dispatcher(
...     port=port,
...     scenario=Scenario(id="dependency-manager", claims=frozenset(claims)),
...     explicit_claims=frozenset(claims),
... )
>>> exposed = dispatcher.list_tools(run_id="run-1")
>>> [tool.name for tool in exposed][-2:]
['set_dependencies', 'create_task']

Dispatch a call. The answer is a value: a result, or a typed denial.

>>> created = dispatcher.dispatch(Call(
...     run_id="run-1", call_id="tool-call-1", operation_id="create_task",
...     input={"idempotencyKey": "child-1", "title": "Ask the bank"},
... ))
>>> task_id = next(ref.partition(":")[2] for ref in created.applied.entity_refs if identity.task_id not in ref)
>>> result = dispatcher.dispatch(Call(
...     run_id="run-1", call_id="tool-call-2", operation_id="set_dependencies",
...     input={"idempotencyKey": "dependency-change-1", "blockedByTaskIds": [task_id]},
... ))
>>> result.envelope["ok"], result.envelope["result"]["disposition"], result.envelope["stateRevision"]
(True, 'applied', 3)
>>> denied = dispatcher.dispatch(Call(run_id="run-1", call_id="tool-call-3", operation_id="list_agents", input={}))
>>> denied.envelope["denial"]["schema"], denied.envelope["denial"]["code"]
('paperclip.semantic-denial.v1', 'required_claim_missing')

Bindings for every provider hold the same contracts; only the label differs:

>>> from capability import codex_dynamic_tools, create_capability_provider_neutral_binding
>>> fake, live = map(create_capability_provider_neutral_binding, ("fake", "live_codex"))
>>> fake.binding_kind, live.binding_kind, fake.contracts == live.contracts
('fake', 'live_codex', True)
>>> sorted(codex_dynamic_tools(exposed)[0])
['description', 'inputSchema', 'name']

Ask what a recorded call would have been answered otherwise (`capability.whatif`):

>>> from capability import Change, Profile, known_profiles, what_if
>>> known_profiles.register(Profile(name="example", scenario=dispatcher.scenario, explicit_claims=frozenset(claims)))
>>> change = Change(claims=frozenset({"discovery:agents:read"}))
>>> told = what_if(company_id=identity.company_id, record_id=denied.authorization_id, change=change)
>>> told.changed.code.value, told.rule
('allowed', 'required_claim_missing')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from capability.authorizations import list_authorization_records
    from capability.binding import Binding, codex_dynamic_tools, create_capability_provider_neutral_binding
    from capability.catalog import LIVE_OPERATIONS, Operation, ToolContract, find_operation, get_operation
    from capability.dispatcher import Call, Dispatched, Dispatcher
    from capability.policy import CHECKS, Code, Decision, Phase, effective_claims, evaluate, fixture_run_capabilities
    from capability.profiles import Profile, known_profiles
    from capability.scenario import Scenario
    from capability.whatif import Change, explain, grant_matrix, what_if

__all__ = [
    "CHECKS",
    "LIVE_OPERATIONS",
    "Binding",
    "Call",
    "Change",
    "Code",
    "Decision",
    "Dispatched",
    "Dispatcher",
    "Operation",
    "Phase",
    "Profile",
    "Scenario",
    "ToolContract",
    "codex_dynamic_tools",
    "create_capability_provider_neutral_binding",
    "effective_claims",
    "evaluate",
    "explain",
    "find_operation",
    "fixture_run_capabilities",
    "get_operation",
    "grant_matrix",
    "known_profiles",
    "list_authorization_records",
    "what_if",
]

_HOMES = {
    "authorizations": ("list_authorization_records",),
    "binding": ("Binding", "codex_dynamic_tools", "create_capability_provider_neutral_binding"),
    "catalog": ("LIVE_OPERATIONS", "Operation", "ToolContract", "find_operation", "get_operation"),
    "dispatcher": ("Call", "Dispatched", "Dispatcher"),
    "policy": ("CHECKS", "Code", "Decision", "Phase", "effective_claims", "evaluate", "fixture_run_capabilities"),
    "profiles": ("Profile", "known_profiles"),
    "scenario": ("Scenario",),
    "whatif": ("Change", "explain", "grant_matrix", "what_if"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for by name from the module that owns it."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
