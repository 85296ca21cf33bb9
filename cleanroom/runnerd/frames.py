"""The frames in which runnerd speaks to its parent: one type byte, four length bytes (big endian), then the data.

Frames in place of lines: runnerd never looks for a line end, so it has no line limit that a provider could break.
Facts travel in the same stream as the output and are therefore in order with it. The other way needs no frames: what
the parent writes is the child's input, and the end of it is the order to stop. Source: decision 0001.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct(">cI")
MAX_FRAME_BYTES = 64 * 1024

OUTPUT = b"O"  # the child's standard output
ERROR_OUTPUT = b"E"  # the child's error output
FACT = b"F"  # one JSON object about the process


def header(kind: bytes, size: int) -> bytes:
    """Return the five bytes that precede `size` bytes of data."""
    return HEADER.pack(kind, size)
