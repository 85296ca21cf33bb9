"""Documents: every write is a numbered revision on top of the one the writer had read."""

from __future__ import annotations

from mockcore.commands import WriteDocument
from mockcore.handlers import interactions
from mockcore.handlers.scene import Scene, text_in
from mockcore.models import Document, DocumentRevision
from mockcore.models.base import public_part, uid_of
from mockcore.refusal import Refusal
from mockcore.vocabulary import Expiry

MAX_KEY_CHARS = 120  # the tool's bound, and what a unique index can hold


class DocumentRevisionConflict(Refusal):
    """The document has moved on since the base revision was read."""

    code = "document_revision_conflict"


def write_document(scene: Scene, command: WriteDocument) -> None:
    """Create a document, or add a revision to it; the title is replaced. The body may be blank.

    Raises `DocumentRevisionConflict` unless the base is the latest revision, or null for a new key. Open questions
    about the revision that is no longer the latest expire (design section 4, `stale_target`).
    """
    key = text_in(command.key, name="key", at_most=MAX_KEY_CHARS)
    title = text_in(command.title, name="title")
    found = scene.work.find(Document, task_id=scene.task.uid, key=key)
    if not found:
        _create(scene, command, key=key, title=title)
        return
    document = found[0]
    latest = public_part(document.latest_revision_id)
    if command.base_revision_id != latest:
        raise DocumentRevisionConflict(f"the latest revision of {key} is {latest}, not {command.base_revision_id}")
    _revise(scene, command, document=document, title=title)


def _create(scene: Scene, command: WriteDocument, *, key: str, title: str) -> None:
    if command.base_revision_id is not None:
        raise DocumentRevisionConflict(f"there is no document {key} yet, so its base revision must be null")
    work = scene.work
    document_id, revision_id = work.next_id("document"), work.next_id("revision")
    document = Document(public_id=document_id, task=scene.task, key=key, title=title)
    document.latest_revision_id = uid_of(work.company.pk, revision_id)
    work.add(document)
    _add_revision(scene, command, document=document, public_id=revision_id, number=1)


def _revise(scene: Scene, command: WriteDocument, *, document: Document, title: str) -> None:
    work = scene.work
    base = work.get(DocumentRevision, public_part(document.latest_revision_id) or "")
    assert base is not None  # a foreign key holds it
    added = _add_revision(
        scene, command, document=document, public_id=work.next_id("revision"), number=base.revision + 1
    )
    document.latest_revision_id, document.title = added.uid, title
    superseded_by = {"kind": "revision", "id": added.public_id, "documentKey": document.key, "revision": added.revision}
    about_base = {"target_revision_id": base.uid}
    interactions.expire_pending(scene, Expiry.STALE_TARGET, about=about_base, supersededBy=superseded_by)


def _add_revision(
    scene: Scene, command: WriteDocument, *, document: Document, public_id: str, number: int
) -> DocumentRevision:
    return scene.work.add(
        DocumentRevision(
            public_id=public_id,
            document=document,
            revision=number,
            body=command.body,
            change_summary=command.change_summary,
            created_at=scene.work.now,
        )
    )
