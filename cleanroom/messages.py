"""What a board user may send: one rule for size and emptiness, the same bytes that the page counts. Pure."""

from __future__ import annotations

import unicodedata

from mockcore.refusal import Refusal

INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
BLANK_MARKS = frozenset({"\u034f", *(chr(code) for code in range(0xFE00, 0xFE10))})  # marks that show nothing alone


class MessageEmpty(Refusal):
    """A message needs at least one visible character."""

    code = "message_empty"


class MessageTooLarge(Refusal):
    """The message is longer than it may be."""

    code = "message_too_large"

    def __init__(self, *, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"The message has {size_bytes} bytes of UTF-8; at most {limit_bytes} are accepted.")


def checked(text: str, *, limit_bytes: int) -> str:
    """Return the text as it will be sent: unchanged, but for lone surrogates, which no encoding can carry.

    The bound is counted on the text as sent, before anything else, so browser and server always agree.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    size = len(text.encode())
    if size > limit_bytes:
        raise MessageTooLarge(size_bytes=size, limit_bytes=limit_bytes)
    if all(char in BLANK_MARKS or unicodedata.category(char) in INVISIBLE for char in text):
        raise MessageEmpty
    return text
