"""Deliverables: metadata only, no bytes."""

from __future__ import annotations

from mockcore.commands import RegisterDeliverable
from mockcore.handlers.scene import Scene, text_in, whole_number_in
from mockcore.models import Artifact, WorkProduct
from mockcore.refusal import Refusal
from mockcore.vocabulary import WorkProductType

MAX_BYTES = 2**53 - 1  # the largest whole number every JSON reader keeps exactly


class ArtifactInvalid(Refusal):
    """An artifact's size is a whole number of bytes, not negative."""

    code = "artifact_invalid"


def register_deliverable(scene: Scene, command: RegisterDeliverable) -> None:
    """Record an artifact and the work product that shows it."""
    work = scene.work
    size = whole_number_in(command.byte_size, name="byteSize", at_most=MAX_BYTES, refusal=ArtifactInvalid)
    artifact = Artifact(
        filename=text_in(command.filename, name="filename"),
        content_type=text_in(command.content_type, name="contentType"),
        byte_size=size,
        sha256=text_in(command.sha256, name="sha256"),
        content_ref=text_in(command.content_ref, name="contentRef"),
        task=scene.task,
        created_at=work.now,
    )
    product = WorkProduct(
        type=WorkProductType.ARTIFACT.value,
        title=text_in(command.title, name="title"),
        metadata={
            "filename": command.filename,
            "contentType": command.content_type,
            "byteSize": size,
            "contentRef": command.content_ref,
        },
        task=scene.task,
        created_at=work.now,
    )
    artifact.public_id = work.next_id("artifact")
    work.add(artifact)
    product.public_id, product.artifact = work.next_id("work-product"), artifact
    work.add(product)
