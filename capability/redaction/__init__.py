"""The one redactor: used before storing and again before sending. Pure Python; knows no house and no framework.

One mask, `[REDACTED]`, for every surface. What it knows: names that promise a secret (`names`), keys by their shape
(`shapes`), values by what stands before them (`fields`, `headers`). `redact` takes JSON values, `redact_text` one text,
`StreamRedactor` a text that arrives in pieces; `find_protected` scans a tool's input. Sources: reference A section
2.12, design section 5, cases T12 to T15.
"""

from capability.redaction.rules import known_secrets
from capability.redaction.stream import StreamRedactor
from capability.redaction.texts import MASK, redact_text
from capability.redaction.values import find_protected, preview, redact

__all__ = ["MASK", "StreamRedactor", "find_protected", "preview", "redact", "redact_text", "register_secret"]


def register_secret(value: str) -> None:
    """Mask `value` on every surface from now on: for secrets that this process holds, whatever they look like."""
    known_secrets.add(value)
