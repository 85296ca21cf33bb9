"""The proof of everything that is hash-chained: the mock company's ledger, authorization records and session events."""

from __future__ import annotations

from collections.abc import Iterator

from capability import authorizations
from evidence import record
from mockcore import history
from mockcore.chain import Chain


def chains(*, company_id: str | None = None) -> Iterator[Chain]:
    """Yield every chain, or those of one company: its ledger, its authorization records, its sessions' events."""
    sessions = None if company_id is None else history.session_ids(company_id=company_id)
    yield from history.list_chains(company_id=company_id)
    yield from authorizations.list_chains(company_id=company_id)
    yield from record.list_chains(session_ids=sessions)
