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
    yield from authorizations.list_chains(company_id=company_id, named=_named_records(company_id))
    yield from record.list_chains(session_ids=sessions)


def _named_records(company_id: str | None) -> dict[str, int]:
    """Return the number of the newest authorization record that other ledgers name, for each company that has one.

    A revision names the record of the call that made it; a session's events name those of reads and refusals as well.
    """
    named = {
        owner: authorizations.number_of(record_id)
        for owner, record_id in history.named_authorizations(company_id=company_id).items()
    }
    for owner, session_id in history.sessions(company_id=company_id):
        number = authorizations.number_of(record.newest_authorization(session_id=session_id))
        named[owner] = max(named.get(owner, 0), number)
    return {owner: number for owner, number in named.items() if number}
