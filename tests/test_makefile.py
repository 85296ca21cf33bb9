"""What a person sees of `make` besides the product's own lines: nothing that went well in somebody else's tool."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NPM = """#!/bin/sh
echo "added 17 packages in 7s"
echo "npm error what went wrong" >&2
exit ${NPM_EXIT:-0}
"""


def install(project: Path, *, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the Makefile's installation of browser modules with an npm that chatters."""
    shutil.copy(PROJECT / "Makefile", project)
    (project / "package-lock.json").touch()
    (project / "node_modules").mkdir()
    (project / "bin").mkdir()
    (project / "bin/npm").write_text(NPM)
    (project / "bin/npm").chmod(0o700)
    environment = {"PATH": f"{project}/bin:{os.environ['PATH']}", "NPM_EXIT": str(exit_code)}
    return subprocess.run(
        ["make", "node_modules/.installed"], cwd=project, env=environment, capture_output=True, text=True, timeout=30
    )


def test_an_installation_that_goes_well_says_only_what_it_does(tmp_path: Path) -> None:
    done = install(tmp_path)
    assert (done.returncode, done.stdout) == (0, "Installing Codex and browser modules into node_modules …\n")
    assert (tmp_path / "node_modules/.installed").exists()


def test_an_installation_that_fails_says_why_and_is_tried_again(tmp_path: Path) -> None:
    done = install(tmp_path, exit_code=1)
    assert done.returncode != 0
    assert "npm error what went wrong" in done.stderr
    assert not (tmp_path / "node_modules/.installed").exists()
