"""Serializing a company and restoring it, a small and a large one in turn, alone in this process."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from cleanroom.bench.histories import long_history, timed
from mockcore import copies

SMALL_BYTES, LARGE_BYTES = 100_000, 1_000_000  # of text in its comments; its state is a little more
COMMENT_BYTES = 1_000  # as long in both, so that the large one has ten times as many rows


@dataclass(kw_only=True)
class Copies:
    """Nanoseconds a byte of each serializing and restoring, and how many bytes the two states have."""

    small_bytes: int
    large_bytes: int
    small_serialize: list[float] = field(default_factory=list)
    large_serialize: list[float] = field(default_factory=list)
    small_restore: list[float] = field(default_factory=list)
    large_restore: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measure_copies(*, rounds: int) -> Copies:
    """Serialize and restore a state of 100 KB and one of 1 MB, in turn."""
    small, large = (_company_of(size) for size in (SMALL_BYTES, LARGE_BYTES))
    sizes = [len(copies.serialize(company_id=one).body) for one in (small, large)]
    times = Copies(small_bytes=sizes[0], large_bytes=sizes[1])
    for number in range(rounds):
        for company_id, size, serialized, restored in (
            (small, sizes[0], times.small_serialize, times.small_restore),
            (large, sizes[1], times.large_serialize, times.large_restore),
        ):
            body = copies.serialize(company_id=company_id).body
            serialized.append(_a_byte(lambda one=company_id: copies.serialize(company_id=one), size))
            new_id = f"{company_id}-copy-{number}"
            restored.append(_a_byte(lambda b=body, n=new_id: copies.restore(b, company_id=n), size))
    return times


def _company_of(state_bytes: int) -> str:
    comments = state_bytes // COMMENT_BYTES
    return long_history(revisions=2, comments=comments, comment_bytes=COMMENT_BYTES)


def _a_byte(work: Any, size: int) -> float:
    return timed(work) * 1_000_000 / size
