"""What to do about each thing a person can ask of the issue: a generator each, calls out, results in, words last.

A plan knows nothing of where it is in a turn: it is run from its start for every request, and is handed the results
that the conversation already holds. So it must be a pure function of its clause, its memory and those results.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any

from cleanroom.rehearsal.documents import PAPERS, choose, said_name
from cleanroom.rehearsal.phrasing import capital, subject_of
from cleanroom.rehearsal.prose import (
    as_json,
    as_quote,
    describe_task,
    reference,
    refused,
    revision_note,
    status_sentence,
)
from cleanroom.rehearsal.reply import Call, Memory, Plan, Said, one
from cleanroom.rehearsal.words import Clause, one_sentence, shortened, slug

NO_TITLE_WORDS = (
    "a an the my our your this that me us some short brief long quick simple small new first good proper write draft "
    "create make start add of for as and with"
)
PLAN_STEPS = 4  # of a plan whose writer has not said how many
MAX_PLAN_STEPS = 20

SECTION = re.compile(
    r"\badd(?:ing)?\s+(?:\w+\s+){0,3}?(?:section|chapter|paragraph)\s+(?:(?:about|on|for|called|named|titled)\s+)"
    r"(?P<topic>[^.:;?!\n]+?)(?:\s+to\s+(?:the|my|our|your)\b[^.:;\n]*)?(?:\s*:\s*(?P<words>.+))?\s*[.?!]?\s*$",
    re.IGNORECASE | re.DOTALL,
)


def learn_task(memory: Memory, result_value: Mapping[str, Any]) -> Mapping[str, Any]:
    task = result_value.get("activeTask") or {}
    memory.task = task if isinstance(task, Mapping) else {}
    return memory.task


def read_issue(clause: Clause, memory: Memory) -> Plan:
    context = yield from one(Call(name="get_task_context"))
    if not context.ok:
        return Said(text=refused(context))
    words = describe_task(learn_task(memory, context.value))
    actor = context.value.get("actor")
    if isinstance(actor, Mapping) and actor.get("name"):
        words += f" I work on it as {actor['name']}, {actor.get('role', 'no role')}."
    return Said(text=f"I read the issue. {words}")


def take_stock(clause: Clause, memory: Memory) -> Plan:
    """Three reads in one response: the issue, its comments and its documents."""
    context, history, documents = yield (
        Call(name="get_task_context"),
        Call(name="get_task_history", arguments={"limit": 20}),
        Call(name="list_documents"),
    )
    parts = [describe_task(learn_task(memory, context.value)) if context.ok else refused(context)]
    parts.append(say_comments(history.value.get("comments")) if history.ok else refused(history))
    parts.append(say_documents(documents.value.get("documents")) if documents.ok else refused(documents))
    return Said(text="\n\n".join(parts))


def read_history(clause: Clause, memory: Memory) -> Plan:
    history = yield from one(Call(name="get_task_history", arguments={"limit": 20}))
    return Said(text=say_comments(history.value.get("comments")) if history.ok else refused(history))


def say_comments(comments: Any) -> str:
    bodies = [str(comment.get("body", "")) for comment in comments or [] if isinstance(comment, Mapping)]
    if not bodies:
        return "No comment is recorded on the issue yet."
    listed = "\n".join(f"{number}. {shortened(body)}" for number, body in enumerate(bodies, 1))
    return f"{len(bodies)} comment{'s are' if len(bodies) > 1 else ' is'} recorded on the issue:\n\n{listed}"


def record_status(clause: Clause, memory: Memory) -> Plan:
    """Record one sentence: the person's own words, the board's answer, a command's output, or what the issue says."""
    body = status_words(clause, memory)
    if not body and memory.task is None:
        context = yield from one(Call(name="get_task_context"))
        if not context.ok:
            return Said(text=refused(context))
        learn_task(memory, context.value)
    body = body or status_sentence(memory.task or {})
    recorded = yield from one(Call(name="report_progress", arguments={"body": body}))
    if not recorded.ok:
        return Said(text=refused(recorded))
    return Said(text=f"I recorded this status{revision_note(recorded)}:\n\n{as_quote(body)}")


def status_words(clause: Clause, memory: Memory) -> str:
    if clause.verbatim:
        return clause.verbatim
    asked_for = clause.text.lower()
    if memory.answer and any(word in asked_for for word in ("answer", "choice", "decision", "reply", " it")):
        asked = f" to “{memory.question}”" if memory.question else ""
        return one_sentence(f"The board's answer{asked}: {memory.answer}")
    if memory.command_output is not None and any(word in asked_for for word in ("output", "result", "printed")):
        return one_sentence(f"The command printed: {memory.command_output or 'nothing'}")
    return clause.sentence


def answer_status(clause: Clause, memory: Memory) -> Plan:
    body = clause.sentence or status_sentence(memory.task or {})
    answered = yield from one(Call(name="answer_status_question", arguments={"body": body}))
    if not answered.ok:
        return Said(text=refused(answered))
    return Said(text=f"I answered on the issue{revision_note(answered)}:\n\n{as_quote(body)}")


# ---------------------------------------------------------------- documents
def list_documents(clause: Clause, memory: Memory) -> Plan:
    listed = yield from one(Call(name="list_documents"))
    return Said(text=say_documents(listed.value.get("documents")) if listed.ok else refused(listed))


def say_documents(documents: Any) -> str:
    known = [document for document in documents or [] if isinstance(document, Mapping)]
    if not known:
        return "The issue has no document yet."
    lines = [f"- “{d.get('title')}” (`{d.get('key')}`), revision {d.get('revisionCount', 1)}" for d in known]
    return f"The issue has {len(known)} document{'s' if len(known) > 1 else ''}:\n\n" + "\n".join(lines)


def read_document(clause: Clause, memory: Memory) -> Plan:
    found = yield from find_document(clause)
    if isinstance(found, Said):
        return found
    read = yield from one(Call(name="read_document", arguments={"key": str(found.get("key"))}))
    if not read.ok:
        return Said(text=refused(read))
    body = revision_body(read.value)
    return Said(text=f"“{found.get('title')}” says:\n\n{as_quote(shortened(body, limit=2000))}")


def write_document(clause: Clause, memory: Memory) -> Plan:
    """List first, so that a document which exists gets a revision on top of its newest one."""
    listed = yield from one(Call(name="list_documents"))
    if not listed.ok:
        return Said(text=refused(listed))
    title = clause.name or document_title(clause)
    old = next((d for d in documents_of(listed.value) if d.get("key") == slug(title)), None)
    body = clause.exact
    if not body and memory.task is None:
        context = yield from one(Call(name="get_task_context"))
        if not context.ok:
            return Said(text=refused(context))
        learn_task(memory, context.value)
    body = body or document_body(clause, memory.task or {})
    memory.document_title = title
    return (yield from save_document(old, title=title, body=f"{body}\n", why="written"))


def document_body(clause: Clause, task: Mapping[str, Any]) -> str:
    """Return a text for a document that the person left to us: a plan of the issue, or what the issue says."""
    identifier, title = str(task.get("identifier", "This issue")), str(task.get("title", "the issue"))
    about = topic_of(clause)
    if document_word(clause) != "plan":
        return (f"About {about}. " if about else "") + describe_task(task)
    steps = plan_steps(about or f"“{title}”", identifier, count=clause.count_of("step") or PLAN_STEPS)
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"How to get {identifier} “{title}” done:\n\n{listed}"


def plan_steps(goal: str, identifier: str, *, count: int) -> list[str]:
    """Return so many steps, 1 to `MAX_PLAN_STEPS`: what can be left out is left out, and work can be cut finer."""
    count = min(max(1, count), MAX_PLAN_STEPS)
    agree = f"Agree with the board on what “done” means for {goal}."
    begin = f"Do the smallest part of {goal} that can be shown, and record a status on {identifier}."
    more = f"Do the next part of {goal}, and record a status on {identifier}."
    check = "Check what was done against step 1, and ask the board for a review."
    finish = f"Finish {identifier} with a summary of the result."
    few = {1: [begin], 2: [begin, finish], 3: [agree, begin, finish]}
    return few.get(count) or [agree, begin, *[more] * (count - PLAN_STEPS), check, finish]


def revise_document(clause: Clause, memory: Memory) -> Plan:
    """Read the newest revision, add the person's words to its end, and save it on top."""
    found = yield from find_document(clause)
    if isinstance(found, Said):
        return found
    read = yield from one(Call(name="read_document", arguments={"key": str(found.get("key"))}))
    if not read.ok:
        return Said(text=refused(read))
    title = str(found.get("title", "Notes"))
    added = new_section(clause) or clause.exact or one_sentence(clause.tail) or "Revised."
    replaced = "replace" in clause.text.lower() or "rewrite" in clause.text.lower()
    body = f"{added}\n" if replaced else f"{revision_body(read.value).rstrip()}\n\n{added}\n"
    return (yield from save_document(found, title=title, body=body, why="revised"))


def new_section(clause: Clause) -> str:
    """Return a headed section when the person asks for one: `add a section about risks: we may be late`."""
    match = SECTION.search(clause.text)
    if not match:
        return ""
    heading = capital(match["topic"].strip(" ,"))
    words = match["words"] or "To be filled in: nothing has been said about this yet."
    return f"## {heading}\n\n{words}"


def save_document(
    old: Mapping[str, Any] | None, *, title: str, body: str, why: str
) -> Generator[tuple[Call, ...], Any, Said]:
    key = str(old.get("key")) if old else slug(title)
    arguments: dict[str, Any] = {"key": key, "title": title, "body": body, "changeSummary": f"Document {why} as asked"}
    arguments["baseRevisionId"] = old.get("latestRevisionId") if old else None
    saved = yield from one(Call(name="write_document", arguments=arguments))
    if not saved.ok:
        return Said(text=refused(saved))
    number = int((old or {}).get("revisionCount") or 0) + 1
    verb = "wrote" if number == 1 else "revised"
    return Said(text=f"I {verb} the document “{title}” (`{key}`), now at revision {number}{revision_note(saved)}.")


def find_document(clause: Clause) -> Generator[tuple[Call, ...], Any, Mapping[str, Any] | Said]:
    """Return the document a clause means, or what to say when it is none of the issue's, or not clear which."""
    listed = yield from one(Call(name="list_documents"))
    if not listed.ok:
        return Said(text=refused(listed))
    known = documents_of(listed.value)
    meant = choose(clause, known)
    if len(meant) == 1:
        return meant[0]
    if not known:
        return Said(text="There is no document on this issue yet, so there is nothing to open. Ask me to write one.")
    if not meant:
        return Said(
            text=f"There is no such document as “{said_name(clause)}”, so I changed nothing. {say_documents(known)}"
        )
    return Said(text=f"I do not know which document you mean. {say_documents(known)}")


def documents_of(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [document for document in value.get("documents") or [] if isinstance(document, Mapping)]


def revision_body(value: Mapping[str, Any]) -> str:
    revision = value.get("revision")
    return str(revision.get("body", "")) if isinstance(revision, Mapping) else ""


def document_word(clause: Clause) -> str:
    words = [word.strip(".,:;") for word in clause.text.lower().split()]
    return next((word for word in PAPERS if word in words), "notes")


def document_title(clause: Clause) -> str:
    """Return a title for a document without a name: `Project plan`, or `Notes about the risks`."""
    kind = document_word(clause)
    before = re.search(rf"(\w+) {kind}\b", clause.text, re.IGNORECASE)
    adjective = before[1].lower() if before and before[1].lower() not in NO_TITLE_WORDS.split() else ""
    topic = topic_of(clause)
    return f"{adjective} {kind}".strip().capitalize() + (f" about {topic}" if topic and not adjective else "")


def topic_of(clause: Clause) -> str:
    """Return what a document is to be about; empty when that is the issue itself, or not said."""
    topic = clause.about
    return (
        "" if not topic or re.match(r"(?:this|the|our|my|it)\b(?: (?:issue|task|ticket)\b|$)", topic, re.I) else topic
    )


# ---------------------------------------------------------------- dispositions, tasks, wakes, deliverables
def finish_task(clause: Clause, memory: Memory) -> Plan:
    summary = clause.sentence or "The board asked for this issue to be finished, and it is."
    finished = yield from one(Call(name="finish_task", arguments={"summary": summary}))
    if not finished.ok:
        return Said(text=refused(finished))
    return Said(text=f"The issue is done{revision_note(finished)}:\n\n{as_quote(summary)}")


def block_task(clause: Clause, memory: Memory) -> Plan:
    reason = clause.sentence or "The board asked for this issue to be blocked."
    blocked = yield from one(Call(name="block_task", arguments={"reason": reason}))
    if not blocked.ok:
        return Said(text=refused(blocked))
    return Said(text=f"The issue is blocked{revision_note(blocked)}:\n\n{as_quote(reason)}")


def unblock_task(clause: Clause, memory: Memory) -> Plan:
    cleared = yield from one(Call(name="set_dependencies", arguments={"blockedByTaskIds": []}))
    if not cleared.ok:
        return Said(text=refused(cleared))
    return Said(text=f"Nothing blocks the issue any more{revision_note(cleared)}.")


def request_review(clause: Clause, memory: Memory) -> Plan:
    summary = clause.sentence or "Ready for the board to look at."
    asked = yield from one(Call(name="request_review", arguments={"summary": summary}))
    if not asked.ok:
        return Said(text=refused(asked))
    return Said(text=f"I asked for a review{revision_note(asked)}:\n\n{as_quote(summary)}")


def create_task(clause: Clause, memory: Memory) -> Plan:
    title = clause.name or clause.exact or subject_of(clause) or "Follow-up"
    created = yield from one(Call(name="create_task", arguments={"title": shortened(title, limit=300)}))
    if not created.ok:
        return Said(text=refused(created))
    task = created.value.get("task")
    named = (task.get("identifier") if isinstance(task, Mapping) else None) or reference(created, "task")
    return Said(text=f"I created the child task “{title}”{f' (`{named}`)' if named else ''}{revision_note(created)}.")


def schedule_wake(clause: Clause, memory: Memory) -> Plan:
    seconds = min(10_000, max(1, (clause.number or 5) * (60 if "minute" in clause.text.lower() else 1)))
    arguments: dict[str, Any] = {"reason": "manual", "delayTicks": seconds}
    if clause.exact:
        arguments["payload"] = {"note": clause.exact}
    scheduled = yield from one(Call(name="schedule_wake", arguments=arguments))
    if not scheduled.ok:
        return Said(text=refused(scheduled))
    return Said(text=f"I scheduled a wake in {seconds} seconds of the company's time{revision_note(scheduled)}.")


def call_operation(clause: Clause, memory: Memory, *, name: str, arguments: Mapping[str, Any]) -> Plan:
    """Call one tool by its exact name with the arguments given, whether or not it is offered."""
    result = yield from one(Call(name=name, arguments=arguments))
    if not result.ok:
        return Said(text=refused(result))
    shown = as_json(result.value) if result.data else as_quote(shortened(result.output, limit=1500))
    return Said(text=f"I called `{name}`. It answered:\n\n{shown}")


def say_unreadable(clause: Clause, memory: Memory, *, name: str) -> Plan:
    """Call nothing: the arguments that the person gave cannot be read, and none are guessed."""
    yield from ()
    return Said(text=f"I could not read the JSON after `{name}` as an object, so I called nothing.")
