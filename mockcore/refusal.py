"""The base of every anticipated "no". Knows no house and no transport: only a stable code and a sentence."""

from __future__ import annotations

from typing import ClassVar


class Refusal(Exception):
    """The request was understood and is refused; nothing was changed."""

    code: ClassVar[str] = "refused"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or self.code).strip().splitlines()[0])

    @property
    def message(self) -> str:
        return str(self)
