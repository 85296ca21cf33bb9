"""What a session's Codex is configured to be: values in, the text of `config.toml` out. Pure.

Everything that is not needed is switched off: plugins (and with them all calls at start), apps, skills, hooks, web
search, memories, subagents, images. Source: wire README sections 14 to 16 and case `recipe-minimal`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROFILE = "workspace-only"  # the sandbox of every command: read programs, write the workspace, no network
PROVIDER = "cleanroom"
COMMAND_PATH = "/usr/local/bin:/usr/bin:/bin"

# Deadlines of the provider are ours as well: with Codex's own numbers a dead address takes 31 s to be noticed.
REQUEST_RETRIES = 1
STREAM_RETRIES = 2
STREAM_IDLE_MS = 60_000

BASE: dict[str, Any] = {
    "approval_policy": "never",
    "default_permissions": PROFILE,
    "web_search": "disabled",
    "project_doc_max_bytes": 0,
    "project_root_markers": [],  # the workspace is its own project, whatever repository lies above it
    "allow_login_shell": False,
    "check_for_update_on_startup": False,
    "suppress_unstable_features_warning": True,
    "analytics": {"enabled": False},
    "history": {"persistence": "none"},
    "skills": {"include_instructions": False, "bundled": {"enabled": False}},
    "features": {
        "apps": False,
        "goals": False,
        "hooks": False,
        "image_generation": False,
        "memories": False,
        "multi_agent": False,
        "plugins": False,
        "shell_snapshot": False,  # it would give commands the whole environment back
        "unified_exec": False,  # its fast commands leave no item on the wire
    },
}


def session_config(
    *, workspace: Path, binary_directory: Path, model_url: str, model_name: str, command_path: str = COMMAND_PATH
) -> dict[str, Any]:
    """Return the configuration of one session. Without a model address Codex's own provider is used.

    `command_path` is where Codex looks for the sandbox helper and its commands for programs.
    """
    config: dict[str, Any] = json.loads(json.dumps(BASE))
    config["permissions"] = {
        PROFILE: {
            "filesystem": {":minimal": "read", str(binary_directory): "read", ":workspace_roots": "write"},
            "network": {"enabled": False},
        }
    }
    config["shell_environment_policy"] = {
        "inherit": "none",
        "set": {"PATH": command_path, "HOME": str(workspace), "LANG": "C.UTF-8"},
    }
    config["projects"] = {str(workspace): {"trust_level": "untrusted"}}  # else Codex trusts it by itself
    if model_name:
        config["model"] = model_name
    if model_url:
        config |= _provider(model_url)
    return config


def _provider(model_url: str) -> dict[str, Any]:
    return {
        "model_provider": PROVIDER,
        "model_providers": {
            PROVIDER: {
                "name": PROVIDER,
                "base_url": model_url,
                "wire_api": "responses",
                "requires_openai_auth": False,
                "supports_websockets": False,
                "request_max_retries": REQUEST_RETRIES,
                "stream_max_retries": STREAM_RETRIES,
                "stream_idle_timeout_ms": STREAM_IDLE_MS,
            }
        },
    }


def to_toml(config: Mapping[str, Any]) -> str:
    """Write tables, strings, numbers, truth values and lists of them as TOML."""
    return "\n".join(_table(config, ())) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = ["[" + ".".join(map(_text, path)) + "]"] if path and (plain or not table) else []
    lines += [f"{_text(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _table(value, (*path, key))
    return lines


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(str(value))


def _text(text: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's, apart from DEL and astral characters, which stay as they are."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
