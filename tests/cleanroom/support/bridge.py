"""The child process of `agent.py`: plays `codex app-server` for a test that decides what it says.

Run by runnerd like the real program. Bytes from its standard input go to the test's socket, bytes from the socket go to
its standard output. It imports no code of the project, because a Codex would not either.
"""

import os
import signal
import socket
import sys
import threading


def main(*, address: str, sandbox_exit: int, stubborn: bool) -> None:
    if sys.argv[1] == "sandbox":
        sys.exit(sandbox_exit)
    stubborn = stubborn and not os.environ["CODEX_HOME"].endswith(".making")  # a template's start ends cleanly
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    link.sendall(b"%d\n" % os.getpid())
    threading.Thread(target=_speak, args=(link,), daemon=True).start()
    while data := os.read(0, 65536):
        link.sendall(data)
    if stubborn:
        threading.Event().wait()
    os._exit(0)


def _speak(link: socket.socket) -> None:
    """Standard output may block as long as nobody reads it: so does the real program's."""
    while data := link.recv(65536):
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]
    os._exit(0)
