"""Which agent stands behind the rooms of this server: read from the settings at the edge, handed to the hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from cleanroom.codex.driver import CodexDriver
from cleanroom.harness import AgentSettings, HarnessDriver

REHEARSAL_LABEL = "Rehearsal model (rules, not a language model)"


@dataclass(frozen=True, kw_only=True)
class Model:
    """What the header calls the model. `rehearsal` only when the operator chose the one that ships."""

    label: str
    rehearsal: bool = False


def model() -> Model:
    """Name the model that the operator chose; the agent reports its exact name once it runs."""
    if settings.MODEL_LABEL == REHEARSAL_LABEL:
        return Model(label=REHEARSAL_LABEL, rehearsal=True)
    return Model(label=settings.MODEL_LABEL or settings.MODEL_NAME)


def codex_driver() -> HarnessDriver:
    """Return a driver for the Codex of the settings."""
    return CodexDriver(
        settings=AgentSettings(
            codex_bin=settings.CODEX_BIN,
            login_home=settings.CODEX_LOGIN_HOME,
            templates_dir=settings.CODEX_TEMPLATES_DIR,
            model_url=settings.MODEL_URL,
            model_name=settings.MODEL_NAME,
        )
    )


make_driver: Callable[[], HarnessDriver] = codex_driver
