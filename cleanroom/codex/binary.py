"""Finds the native Codex program behind whatever the operator named.

The npm package's `codex` is a Node script that starts the real program. We start the real one ourselves: no Node
process stands between runnerd and Codex, and the sandbox profile has to name the program's own directory.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from cleanroom.harness import AgentUnavailableError

ARCHITECTURES = {"x86_64": ("x64", "x86_64"), "aarch64": ("arm64", "aarch64"), "arm64": ("arm64", "aarch64")}


@dataclass(frozen=True, kw_only=True)
class CodexBinary:
    """`path` is the native program; `directory` is what the sandbox must let be read, because Codex re-executes itself.

    `fingerprint` changes with the installed version; asking the program for it would cost 20 ms each time.
    """

    path: Path
    directory: Path
    fingerprint: str


def find(*, codex_bin: str) -> CodexBinary:
    """Return the native program for a path or a name on PATH. Raises `AgentUnavailableError` when there is none."""
    named = shutil.which(codex_bin)
    if named is None:
        raise AgentUnavailableError(f"Codex is not installed: {Path(codex_bin).name} was not found.")
    path = Path(named).resolve()
    if path.suffix == ".js":
        path = _behind_wrapper(path)
    facts = path.stat()
    identity = f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}"
    return CodexBinary(
        path=path, directory=_directory(path), fingerprint=hashlib.sha256(identity.encode()).hexdigest()[:16]
    )


def _behind_wrapper(script: Path) -> Path:
    """The program of the platform's own package, beside the wrapper's package or inside it."""
    package = script.parent.parent
    short, long = ARCHITECTURES.get(platform.machine(), (platform.machine(), platform.machine()))
    vendor = f"vendor/{long}-unknown-linux-musl/*/codex"
    patterns = [(package.parent, f"codex-linux-{short}/{vendor}"), (package, vendor)]
    patterns.append((package, f"node_modules/@openai/codex-linux-{short}/{vendor}"))
    for root, pattern in patterns:
        for found in sorted(root.glob(pattern)):
            if found.is_file():
                return found.resolve()
    raise AgentUnavailableError("Codex is not installed for this platform: its native package is missing.")


def _directory(path: Path) -> Path:
    """`vendor/<triple>` of an npm package, where the sandbox helper is too; else the program's directory."""
    return path.parent.parent if path.parent.parent.parent.name == "vendor" else path.parent
