"""`python -m cleanroom.runnerd DIRECTORY PROGRAM [ARGUMENT…]`: supervise PROGRAM, started in DIRECTORY.

Frames on standard input and output (`frames.py`). Knows neither Django nor any house, and imports little: its start is
part of the time that a person waits for a room.
"""

from __future__ import annotations

import os
import sys

from cleanroom.runnerd import frames
from cleanroom.runnerd.environment import allowed
from cleanroom.runnerd.supervisor import Supervisor

USAGE = 2


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        sys.stderr.write(__doc__.splitlines()[0] + "\n")
        return USAGE
    directory, *argv = arguments
    try:
        os.chdir(directory)
        supervisor = Supervisor(argv=argv, environment=allowed(os.environ))
    except OSError as error:
        fact = b'{"fact":"failed","errno":%d}' % (error.errno or 0)
        os.write(1, frames.header(frames.FACT, len(fact)) + fact)
        return 1
    return supervisor.run()


sys.exit(main(sys.argv[1:]))
