"""Where a forked company's ledger before its fork stands: with the companies it was forked from. Reads only.

A fork copies no row of audit, decisions and idempotency records, so it takes no longer in a long history. Its own rows
go on counting where the parent's stood, and `chains[...]["after"]` of each table says up to which number the rows are
the parent's. Rows of a ledger are never changed or removed, so both may read them. Decision:
`mockcore/decisions/0008-a-fork-refers-to-its-parent.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mockcore.models import Company, LedgerRow

SHARED = ("audit", "decisions", "idempotency")  # the chains of the tables that a fork goes on with


@dataclass(frozen=True, kw_only=True)
class Span:
    """The rows of one company that belong to a lineage: up to number `upto`, or all."""

    company_id: str
    upto: int | None

    def of(self, model: type[LedgerRow]) -> Any:
        """Return the span's rows of a table, a query in no order."""
        found = model.objects.filter(company_id=self.company_id)
        return found if self.upto is None else found.filter(number__lte=self.upto)


def inherited(company: Company, model: type[LedgerRow]) -> list[Span]:
    """Return the spans before the company's own rows, nearest ancestor first; one query for each."""
    spans = []
    while company.parent_id is not None:
        upto = company.chains[model.CHAIN]["after"]
        company = Company.objects.get(pk=company.parent_id)
        spans.append(Span(company_id=company.pk, upto=upto))
    return spans


def spans(company: Company, model: type[LedgerRow]) -> list[Span]:
    """Return every span of a company's lineage, oldest first; its own is the last."""
    return [*reversed(inherited(company, model)), Span(company_id=company.pk, upto=None)]


def rows_of(company: Company, model: type[LedgerRow], **where: Any) -> Iterator[Any]:
    """Yield the rows of a company's lineage that fit, oldest first."""
    for span in spans(company, model):
        yield from span.of(model).filter(**where).order_by("number").iterator()


def page(*, company_id: str, model: type[LedgerRow], after: int, limit: int) -> list[Any]:
    """Return up to `limit` rows numbered above `after`, oldest first; none of a company that is not there."""
    company = Company.objects.filter(pk=company_id).first()
    found: list[Any] = []
    for span in [] if company is None else spans(company, model):
        found += span.of(model).filter(number__gt=after).order_by("number")[: limit - len(found)]
    return found
