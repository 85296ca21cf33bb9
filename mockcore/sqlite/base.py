"""SQLite with one fair writer per process: a write waits its turn in the order of asking; readers never wait.

SQLite has one writer anyway, but lets waiters starve (measured: up to seven seconds with eight threads). Standing in
the backend, the gate orders every `atomic()` and every single write of the process, the admin's and the login's too,
and stays visible to the transactions that Django's tests hold open. A second process still relies on the busy timeout.
Decision: `mockcore/decisions/0002-one-fair-writer.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

from mockcore.sqlite.gate import gate_of

READS = ("SELECT", "PRAGMA", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK")


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._holds_gate = False
        self.execute_wrappers.append(self._gate_statement)

    def _enter_gate(self) -> None:
        if self._holds_gate:
            return
        timeout_s = float(self.settings_dict["OPTIONS"].get("timeout", 5.0))
        if not gate_of(str(self.settings_dict["NAME"])).enter(timeout_s=timeout_s):
            raise OperationalError(f"database is locked: no turn to write within {timeout_s:g} s")
        self._holds_gate = True

    def _leave_gate(self) -> None:
        if self._holds_gate:
            self._holds_gate = False
            gate_of(str(self.settings_dict["NAME"])).leave()

    def _start_transaction_under_autocommit(self) -> None:
        self._enter_gate()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave_gate()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # the stubs leave these methods out
        self._leave_gate()  # a failed commit keeps the gate: Django rolls back next

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave_gate()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._leave_gate()

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]
        if autocommit:
            self._leave_gate()  # sqlite3 commits what was open

    def _gate_statement(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Gate a write outside `atomic()`. With autocommit off it opens a transaction, so the gate is kept."""
        if self._holds_gate or sql.lstrip()[:9].upper().startswith(READS):
            return execute(sql, params, many, context)
        self._enter_gate()
        try:
            return execute(sql, params, many, context)
        finally:
            if self.autocommit:
                self._leave_gate()
