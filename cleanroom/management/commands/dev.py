"""`manage.py dev`: the whole product in one process, plus the rehearsal model when it was asked for."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from capability import serve
from cleanroom import agent, operator, startup
from cleanroom.guard import guard
from cleanroom.onlyserver import NoPlace, ServerPresent, only_server_of, shown

REHEARSAL_START_S = 15
REHEARSAL_END_S = 5
AS_ROOT = (
    "Root      this server runs as root, and so do Codex and runnerd. The model's commands have no powers and see no\n"
    "          settings or homes, but whoever finds a way out of their sandbox is root: better use an ordinary account"
)
SESSION_COOKIE, CSRF_COOKIE = settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME
OWN_PLACE = (
    "Give this one a directory, a database and a port of its own: PORT=4190 CAPABILITY_VAR_DIR=var/two make demo"
)
NOT_SERVED = [  # parts of packages that no page asks for
    *("*.map", "*.ts", "*.cts", "*.mts", "*.cjs", "*.cjs.js", "*.umd.*"),
    *("purify.js", "purify.min.js", "rest_framework"),
]


class Command(BaseCommand):
    help = "Serve the chat, the API, the sockets and the admin on a loopback address."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py dev --rehearsal --migrate"
        parser.add_argument("--host", default=settings.HOST)
        parser.add_argument("--port", type=int, default=settings.PORT, help="0 takes a free one")
        parser.add_argument("--rehearsal", action="store_true", help="put the rehearsal model behind Codex")
        parser.add_argument("--pace", type=int, default=None, help="milliseconds between the rehearsal model's words")
        parser.add_argument("--migrate", action="store_true", help="bring the database up to date first")
        parser.add_argument("--prepare", action="store_true", help="that, and collect and compress the browser's files")
        parser.add_argument("--exit-with-parent", action="store_true", help="stop when standard input is closed")

    def handle(self, *args: Any, **options: Any) -> None:
        guard.install()
        try:
            with only_server_of(Path(settings.VAR_DIR)):
                listener = serve.listen(host=options["host"], port=options["port"])
                self._prepare(options)
                self._serve(options, listener)
        except serve.CannotListen as error:
            raise CommandError(str(error)) from None
        except ServerPresent as error:
            raise CommandError(f"{error} {OWN_PLACE}") from None
        except NoPlace as error:
            raise CommandError(str(error)) from None
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {str(error).strip().splitlines()[0]}") from None

    def _prepare(self, options: dict[str, Any]) -> None:
        if options["migrate"] or options["prepare"]:
            call_command("migrate", verbosity=0, interactive=False)
        elif MigrationExecutor(connection).migration_plan(MigrationExecutor(connection).loader.graph.leaf_nodes()):
            raise CommandError("The database is not up to date. Add --migrate, or run `make demo`.")
        if options["prepare"]:
            collect_static()
        if not shutil.which(settings.CODEX_BIN):
            self.stdout.write(
                f"Codex     not found at {shown(Path(settings.CODEX_BIN))}: run `make demo`, or set CODEX_BIN"
            )
        if not Path(settings.NODE_MODULES, "preact").is_dir():
            self.stdout.write("Browser   modules are missing: run `make demo`, or `npm install --no-save`")

    def _serve(self, options: dict[str, Any], listener: socket.socket) -> None:
        password = operator.ensure_operator()
        rehearsal = start_rehearsal(pace=options["pace"]) if options["rehearsal"] else None
        cut = startup.settle_cut_rooms()
        if options["exit_with_parent"]:
            threading.Thread(target=_stop_at_end_of_input, daemon=True).start()

        def ready(host: str, port: int) -> None:
            name_cookies(port)
            self._say(host, port, password, cut)

        try:
            serve.serve(
                host=options["host"],
                listener=listener,
                application="capability.asgi:application",
                on_ready=ready,
                on_stop=startup.close_all,
            )
        finally:
            if rehearsal is not None:
                end_rehearsal(rehearsal)

    def _say(self, host: str, port: int, password: Path, cut: int) -> None:
        model = agent.model()
        database = settings.DATABASES["default"]
        self.stdout.write(f"Chat      http://{host}:{port}/#/chat")
        self.stdout.write(f"Admin     http://{host}:{port}/admin/  name {operator.NAME}, password in {shown(password)}")
        self.stdout.write(f"Model     {model.label or 'the default of your Codex login'}")
        self.stdout.write(
            f"Database  {shown(Path(str(database['NAME']))) if 'sqlite' in database['ENGINE'] else 'PostgreSQL'}"
        )
        if warning := user_warning(os.geteuid()):
            self.stdout.write(warning)
        if cut:
            self.stdout.write(f"Restarted {cut} turn(s) were cut by the last stop and are marked as failed")
        self.stdout.flush()


def user_warning(user_id: int) -> str:
    """Return what to say of the account that the server runs as; empty when there is nothing to say."""
    return AS_ROOT if user_id == 0 else ""


def name_cookies(port: int) -> None:
    """Give the admin's cookies names of their own: browsers send one host's cookies to all its ports."""
    settings.SESSION_COOKIE_NAME = f"{SESSION_COOKIE}_{port}"
    settings.CSRF_COOKIE_NAME = f"{CSRF_COOKIE}_{port}"


def collect_static() -> None:
    """Collect and compress the browser's files once for each build, and drop those of earlier builds."""
    marker = Path(settings.STATIC_COLLECTED)
    if not marker.exists():
        for earlier in marker.parent.parent.iterdir():
            if earlier != marker.parent:
                shutil.rmtree(earlier, ignore_errors=True)
        call_command("collectstatic", verbosity=0, interactive=False, ignore_patterns=NOT_SERVED)
        marker.touch()
    settings.WHITENOISE_USE_FINDERS = False


def start_rehearsal(*, pace: int | None) -> subprocess.Popen[str]:
    """Start the rehearsal model and put its address behind Codex. It dies with us: its standard input closes."""
    command = [sys.executable, "-m", "cleanroom.rehearsal", "--port", "0"]
    if pace is not None:
        command += ["--pace", str(pace)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=settings.BASE_DIR)
    assert child.stdout is not None
    timer = threading.Timer(REHEARSAL_START_S, child.kill)
    timer.start()
    line = child.stdout.readline()
    timer.cancel()
    address = next((word for word in line.split() if word.startswith("http://")), None)
    if address is None:
        raise CommandError("The rehearsal model did not start.")
    settings.MODEL_URL = address.rstrip("/")
    settings.MODEL_NAME = "rehearsal"
    settings.MODEL_LABEL = agent.REHEARSAL_LABEL
    return child


def end_rehearsal(child: subprocess.Popen[str]) -> None:
    """End the rehearsal model, which may have ended by the same Ctrl-C; it is killed when it takes too long."""
    child.terminate()
    try:
        child.wait(REHEARSAL_END_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _stop_at_end_of_input() -> None:
    while os.read(0, 4096):  # not sys.stdin: its lock, held by a daemon thread, aborts the interpreter as it ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)
