"""Asks the system whether it allows the sandbox that every command must run in; a yes is kept per installed Codex.

Some systems forbid unprivileged namespaces. Then a thread gets no environment at all; nothing ever runs unsandboxed.
"""

from __future__ import annotations

import logging
from pathlib import Path

from cleanroom.codex.binary import CodexBinary
from cleanroom.codex.bwrap import MARK
from cleanroom.codex.config import PROFILE
from cleanroom.codex.runner import Runner

logger = logging.getLogger(__name__)

PROBE_TIMEOUT_S = 8.0

_allowed: set[str] = set()  # fingerprints; a no may have had a passing cause, so it is asked again at the next start


async def is_allowed(*, binary: CodexBinary, workspace: Path, home: Path, environment: dict[str, str]) -> bool:
    """Look for the mark of our bwrap in the session's own profile, exactly as a command of the model would run.

    Without the mark a command would see all of this machine's /etc. About 0.1 s, then kept.
    """
    if binary.fingerprint not in _allowed:
        command = ["sandbox", "linux", "--permissions-profile", PROFILE, "-C", str(workspace)]
        command += ["/usr/bin/test", "-f", MARK]
        runner = await Runner.start(argv=[str(binary.path), *command], directory=home, environment=environment)
        try:
            ended = await runner.run_to_end(timeout_s=PROBE_TIMEOUT_S)
        except BaseException:
            await runner.kill()
            raise
        if ended is None or ended.code != 0:
            logger.warning("this system forbids the sandbox of the commands: this session gets no commands")
            return False
        _allowed.add(binary.fingerprint)
    return True
