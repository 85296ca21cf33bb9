"""Every promised behaviour: its id, one sentence, and where it was promised.

Tests carry the id. `tests/test_requirements.py` fails when a promise has no proof.
"""

from __future__ import annotations

from typing import Final

REQUIREMENTS: Final[dict[str, tuple[str, str]]] = {
    "turn.one-ending": ("A turn ends exactly once; the first ending wins.", "design section 6"),
    "message.size": ("A message of 8,192 bytes of UTF-8 is accepted, one of 8,193 refused by name.", "seed, Bounds"),
    "guard.measured": ("The network guard counts connections that leave the machine.", "design section 6"),
    "rehearsal.rules": (
        "The rehearsal model reads each intent from plain words and calls the tool it names.",
        "issue 2, rehearsal model",
    ),
    "rehearsal.honest": (
        "Whatever is typed, the rehearsal model answers, and says that it is rules.",
        "issue 2, rehearsal model",
    ),
    "rehearsal.wire": (
        "Real Codex runs turns with tool calls against the rehearsal model.",
        "issue 2, rehearsal model",
    ),
    "rehearsal.same-key": (
        "A model asked again after a crash repeats the idempotency key of the same call.",
        "design section 4",
    ),
    "smoke.assertions": ("The smoke run prints every named assertion and fails when one is false.", "reference B 1.13"),
    "bench.bars": ("The bench measures opening, a tool turn and a tool call against raw parts.", "design section 11"),
    "record.append-only": ("A stored event is never changed or removed.", "design section 7"),
    "record.numbered": (
        "Events of a session are numbered 1, 2, 3 without a gap, also by writers at once.",
        "design section 7",
    ),
    "record.redacted": ("A payload is redacted before it is stored.", "style section 7, three laws"),
    "record.together": ("An event commits with the command it tells of, or not at all.", "design section 4"),
    "record.read.cursor": ("A read after cursor N returns N+1 and on, oldest first.", "style section 6"),
    "record.closed": ("A closed log is unknown to readers; its rows stay.", "design section 7"),
    "record.vocabulary": ("Only the 65 event types of PRP v1 are recorded.", "reference B section 6.1"),
    "stream.no-gap": ("A follower that comes, leaves and returns sees every event once, in order.", "design section 7"),
    "stream.bounded-frames": (
        "Every frame stays below 256 KiB, whatever an event holds.",
        "design section 3, Live push",
    ),
    "stream.turn-end": (
        "A turn ends in exactly one settled or error frame, and no frame reaches past it.",
        "style section 2",
    ),
    "stream.text-rate": ("Streamed text is merged to at most 30 frames a second.", "design section 11, frame cost"),
    "stream.heartbeat": ("A quiet stream sends a heartbeat with its cursor.", "design section 12, Heartbeats"),
    "stream.closed": (
        "A follower of a closed log gets what is left, then closed with the code.",
        "issue 2, sessions and API",
    ),
    "stream.admission": (
        "The socket requires the exact Host, our Origin and the owner's cookie.",
        "issue 2, sessions and API",
    ),
    "stream.slow-follower": ("A follower that cannot keep up is dropped with a code.", "design section 12, Heartbeats"),
    "thread.snapshot-plus-frames": (
        "An old snapshot plus later frames equals a fresh snapshot.",
        "style section 7, three laws",
    ),
    "thread.replay-equals-live": (
        "A replay of the log equals what was seen live, byte for byte.",
        "style section 7, three laws",
    ),
    "thread.no-secret": (
        "A planted secret appears in no frame, snapshot or stored event.",
        "style section 7, three laws",
    ),
    "thread.named-fields": ("Only fields named by the view leave it.", "reference B section 1.10"),
    "thread.composer": ("The composer's state follows from the view, first rule first.", "reference B section 1.11"),
    "thread.network-guard": ("The control plane section carries the network guard's row.", "seed, Real-API block"),
    "runnerd.passes-bytes": (
        "runnerd passes bytes both ways unchanged, whatever their size, in bounded memory.",
        "design section 6",
    ),
    "runnerd.no-orphan": (
        "When the child, its parent or runnerd's input ends, the child and all it started are gone.",
        "design section 6",
    ),
    "runnerd.small": ("runnerd imports no house and no Django and stays below 20 MB.", "design section 6"),
    "runnerd.environment": (
        "The agent's process gets the allowlisted environment and nothing else.",
        "reference B section 2.13",
    ),
    "driver.wire.lines": (
        "Lines of any cut up to 16 MiB become messages; noise is bounded, a broken object ends the session.",
        "wire README section 2, rules 1, 4, 22",
    ),
    "driver.events": (
        "Codex's notifications become PRP v1 events without reasoning, output, paths or provider text.",
        "reference B section 5.8",
    ),
    "driver.open.login": (
        "Without a login and a model address opening fails as codex_login_required, with nothing left.",
        "design section 12, Does opening wait?",
    ),
    "driver.request.deadline": ("Every request to Codex has a deadline.", "wire README section 2, rule 9"),
    "driver.sandbox.forbidden": (
        "Where the system forbids the sandbox, a thread has no environment and runs no command.",
        "design section 6",
    ),
    "driver.sandbox.secrets": (
        "A command can read no login and leaves nothing outside the workspace but its session's memories.",
        "issue 2, runnerd and the Codex driver",
    ),
    "driver.sandbox.environment": (
        "A command sees PATH, HOME, LANG and Codex's own names, and no network.",
        "issue 2, runnerd and the Codex driver",
    ),
    "driver.home.template": (
        "Each session's CODEX_HOME is a private copy of a template that is made once.",
        "design section 6",
    ),
    "driver.home.login-link": (
        "The login is a link that only Codex follows, and removing a home never follows links.",
        "design section 6",
    ),
    "driver.failure.final-error": (
        "A final error ends the turn by a stable code, without the provider's text.",
        "wire README section 2, rule 24",
    ),
    "driver.requests.answered": (
        "A request that a clean room does not support is answered at once and named.",
        "issue 2, runnerd and the Codex driver",
    ),
    "driver.tools.binding": ("A tool call is carried out only when thread and turn match.", "reference B section 2.9"),
    "driver.tools.withheld": (
        "A call of a withheld name reaches the host, and its denial the model in the same turn.",
        "design section 12, A call to a withheld operation",
    ),
    "driver.memory.bounded": (
        "A consumer that falls behind makes Codex wait; nothing is lost and memory stays bounded.",
        "design section 6",
    ),
    "driver.death.one-terminal": (
        "The death of Codex or runnerd ends the turn once, then the session, and leaves no process.",
        "issue 2, Shown by 4",
    ),
    "driver.close.bounded": (
        "Closing takes less than five seconds, whatever state Codex is in.",
        "design section 12, turn timeout",
    ),
    "driver.resume.policy": (
        "A resume returns to the same thread with policy and profile sent again.",
        "wire README section 2, rule 15",
    ),
    "driver.threads.apart": (
        "Two sessions never see each other's thread, workspace or home.",
        "wire README section 2, rule 18",
    ),
    "turn.interrupt.before-start": (
        "An interrupt before the turn has an id is delivered once it has.",
        "wire README section 2, rule 8",
    ),
    "turn.interrupt.once": (
        "A turn is interrupted at most once, and never after its end.",
        "wire README section 2, rule 9",
    ),
}
