"""Door: rows that are only ever added. Every house's ledgers are made of them; it knows no ledger.

Only what discards a tenant that nobody ever saw goes past this, with `_raw_delete`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models


class AppendOnly(TypeError):
    """A row of a ledger is never changed and never removed. A bug in the caller."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    """Rows can be added and read, through whatever manager."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly(AppendOnly.__doc__)

    update = bulk_update = delete = update_or_create = _refuse

    def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> Any:
        """Add rows; never in place of others."""
        if kwargs.get("update_conflicts"):
            raise AppendOnly(AppendOnly.__doc__)
        return super().bulk_create(objs, *args, **kwargs)


class AppendOnlyRow(models.Model):
    """A row that is never changed and never removed once it is stored.

    The base manager is named too: it is the one that Django itself and related rows use.
    """

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly(AppendOnly.__doc__)
        super().save(*args, **{**kwargs, "force_insert": True})  # a key that is taken is refused, not overwritten

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly(AppendOnly.__doc__)
