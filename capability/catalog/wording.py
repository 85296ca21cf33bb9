"""Sentences that several tool descriptions share, so that a model reads the same rule in the same words everywhere."""

KEY = (
    "Give every new action its own idempotencyKey, unique across all tools of this run. If an answer was lost, repeat "
    "the same key with the same input: the first result comes back as `duplicate` and nothing happens twice. The same "
    "key with other input is refused; a key whose call was refused may be used again."
)
STAYS = "The task's status does not change."
