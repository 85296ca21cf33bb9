"""`manage.py smoke_cleanroom`: two real Codex turns over the public routes, judged by named assertions."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cleanroom.smoke.journey import travel
from cleanroom.smoke.judge import as_table, summarize
from cleanroom.smoke.server import ServerDidNotStart, own_directory, own_server


class Command(BaseCommand):
    help = "Drive the clean room as a browser would, and print what was promised and what was seen."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py smoke_cleanroom --json"
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--url", default="", help="a server that runs already; else one is started and removed")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            summary = asyncio.run(smoke(url=options["url"]))
        except ServerDidNotStart as error:
            raise CommandError(str(error)) from None
        except asyncio.CancelledError:
            raise CommandError("stopped before the end") from None
        printed = json.dumps(summary, indent=2, ensure_ascii=False) if options["json"] else as_table(summary)
        self.stdout.write(printed)
        if not summary["passed"]:
            sys.exit(1)


async def smoke(*, url: str) -> dict[str, Any]:
    """Run the journey against a server that is there, or against one of our own. Raises `ServerDidNotStart`."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if url:
        return summarize(await travel(url))
    with own_directory("smoke") as var:
        async with own_server(var=var) as address:
            return summarize(await travel(address))
