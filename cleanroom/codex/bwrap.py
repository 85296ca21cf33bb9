"""What a command of the model sees of this machine besides its workspace: programs, and an `/etc` of ours.

Codex binds the whole of `/etc` for every command, and no profile of 0.132.0 can take a part of it away and keep another
(tried: a `none` hides what is below it too). But it looks for `bwrap` on the PATH of the command first. So the room's
home holds one: a few lines of shell that add our mounts behind Codex's own, take the caller's powers and the provider's
ids away, and become the real bwrap. Everything here is written at the start of a room; commands can not reach it.

The mark tells the probe (`sandbox.py`) that this bwrap was used; without it there are no commands.
Source: decision 0005.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from cleanroom.codex.binary import CodexBinary
from cleanroom.codex.config import COMMAND_PATH

DIRECTORY, PROGRAM = "sandbox", "bwrap"  # in the home of a session
MARK = "/etc/clean-room"
USER, USER_ID = "agent", "1000"  # whoever runs the server
HOST = "clean-room"
# Of the machine's /etc: links to programs, where libraries are, public certificates. Files by name: a directory such as
# /etc/ssl/certs may hold a key that somebody put there.
NEEDED = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
)
EMPTIED = ("/usr/local/etc", "/usr/etc")  # other places of the machine's own settings, below what Codex binds
IDS = ("CODEX_THREAD_ID",)  # which Codex sets on every command

SCRIPT = """\
#!/bin/sh
# Written by the server for one room: Codex's call of bwrap, with what the room adds.
real={bundled}
for found in /usr/local/bin/bwrap /usr/bin/bwrap /bin/bwrap; do
  case $("$found" --help 2>/dev/null) in *--argv0*) real=$found; break ;; esac
done
left=$# added=
while [ "$left" -gt 0 ]; do
  if [ "$1" = -- ] && [ -z "$added" ]; then
    set -- "$@" {added}
    added=yes
  fi
  set -- "$@" "$1"
  shift
  left=$((left - 1))
done
exec "$real" "$@"
"""


def command_path(home: Path) -> str:
    """The PATH by which Codex finds the room's bwrap. Commands get `COMMAND_PATH` from it."""
    return f"{home / DIRECTORY}:{COMMAND_PATH}"


def files(*, home: Path, workspace: Path, binary: CodexBinary) -> dict[str, str]:
    """Return the files of the directory by name, the program among them."""
    bundled = shlex.quote(str(binary.directory / "codex-resources/bwrap"))
    added = shlex.join(_options(home / DIRECTORY))
    made = {Path(name).name: text for name, text in etc(workspace).items()}
    return made | {PROGRAM: SCRIPT.format(bundled=bundled, added=added)}


def etc(workspace: Path) -> dict[str, str]:
    """Return the files of /etc that are ours, whatever the machine's say."""
    return {
        "/etc/passwd": f"{USER}:x:{USER_ID}:{USER_ID}:{USER}:{workspace}:/bin/sh\n",
        "/etc/group": f"{USER}:x:{USER_ID}:\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
        MARK: "",
    }


def _options(directory: Path) -> list[str]:
    options = ["--perms", "755", "--tmpfs", "/etc"]
    for path in NEEDED:
        options += ["--ro-bind-try", path, path]
    for path in etc(directory):
        options += ["--ro-bind", str(directory / Path(path).name), path]
    options += ["--remount-ro", "/etc"]
    for path in filter(_is_own_directory, EMPTIED):
        options += ["--perms", "755", "--tmpfs", path, "--remount-ro", path]
    for name in IDS:
        options += ["--unsetenv", name]
    options += ["--setenv", "PATH", COMMAND_PATH, "--unshare-ipc", "--unshare-uts", "--hostname", HOST]
    return [*options, "--uid", USER_ID, "--gid", USER_ID, "--cap-drop", "ALL"]


def _is_own_directory(path: str) -> bool:
    """A link is left alone: what it leads to is bound by nobody, or is emptied itself."""
    return Path(path).is_dir() and not Path(path).is_symlink()
