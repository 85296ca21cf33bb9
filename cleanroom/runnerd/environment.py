"""Which environment variables may reach the agent's process. An allowlist: everything else does not exist for it.

Source: reference B section 2.13. Applied twice, by the parent that starts runnerd and by runnerd itself, so that
neither process ever holds a key that the other forgot to drop.
"""

from __future__ import annotations

from collections.abc import Mapping

ALLOWED = frozenset(
    {
        "ALL_PROXY",
        "CODEX_HOME",
        "HOME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "LANG",
        "LC_ALL",
        "NODE_EXTRA_CA_CERTS",
        "NO_PROXY",
        "PATH",
        "PATHEXT",
        "SSL_CERT_FILE",
        "SystemRoot",
        "TEMP",
        "TMP",
        "TMPDIR",
        "WINDIR",
    }
)


def allowed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of `environment` that the agent's process may have, sorted by name."""
    return {key: environment[key] for key in sorted(environment) if key in ALLOWED and _may_pass(key, environment[key])}


def _may_pass(key: str, value: str) -> bool:
    """A proxy address with credentials, or one that is no address at all, stays out."""
    if "PROXY" not in key:
        return True
    scheme, mark, rest = value.partition("://")
    authority = rest.partition("/")[0]
    return bool(mark and scheme.isalnum() and authority and "@" not in rest and not authority.startswith(":"))
