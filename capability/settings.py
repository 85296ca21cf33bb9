"""Every setting of the project, read once from the environment, failing at start by the variable's name.

A number promised by the user's documents is a setting with that default; `limits` in `cleanroom` reads them from here.
"""

from __future__ import annotations

import hashlib
import io
import ipaddress
import logging
import re
import secrets
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
HOUSES = ("mockcore", "capability", "evidence", "cleanroom")
env = environ.Env()

COMMENTED = re.compile(r"""^((?:export )?\w+=(?:'[^'\n]*'|"[^"\n]*"|[^'"\n]*?))[ \t]+#.*$""", re.MULTILINE)


YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def without_comments(text: str) -> str:
    """Return the text of an environment file without the comments behind its values.

    Not django-environ's `parse_comments`: that also cuts `a#b`, a sign that keys and addresses may hold.
    """
    return COMMENTED.sub(r"\1", text)


def read_env_file(path: Path) -> None:
    """Take the defaults of a file when there is one; what the environment holds already wins."""
    if path.is_file():
        environ.Env.read_env(io.StringIO(without_comments(path.read_text(encoding="utf-8"))), overwrite=False)


read_env_file(BASE_DIR / ".env")


def env_int(name: str, default: int, *, at_least: int = 1, at_most: int) -> int:
    """Read a whole number; a value that is none, or out of bounds, stops the start and names the variable."""
    try:
        value = env.int(name, default=default)
    except (ValueError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(f"{name} must be a whole number") from error
    if not at_least <= value <= at_most:
        raise ImproperlyConfigured(f"{name} must be between {at_least} and {at_most}, not {value}")
    return int(value)


def env_path(name: str, default: Path) -> Path:
    """Read a directory or file path; relative ones start at the project."""
    value = env.str(name, default=str(default))
    if not value.strip():
        raise ImproperlyConfigured(f"{name} must not be blank")
    return (BASE_DIR / Path(value.strip()).expanduser()).absolute()


def env_directory(name: str, default: Path) -> Path:
    """Read a directory's path and make it."""
    path = env_path(name, default)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name} is no directory that can be made: {error.strerror}") from error
    return path


def env_program(name: str, default: Path) -> str:
    """Read a program: a name to be found on PATH, or a path, which starts at the project when it is relative."""
    value = str(env.str(name, default=str(default))).strip()
    return str(env_path(name, default)) if "/" in value else value


def env_flag(name: str) -> bool:
    """Read yes or no; no is the default."""
    value = str(env.str(name, default="")).strip().lower()
    if value not in {"", *YES, *NO}:
        raise ImproperlyConfigured(f"{name} must be true or false")
    return value in YES


def env_log_level(name: str, default: str) -> str:
    """Read the name of one of Python's log levels."""
    value = str(env.str(name, default=default)).strip().upper()
    if value not in logging.getLevelNamesMapping():
        raise ImproperlyConfigured(f"{name} must be one of DEBUG, INFO, WARNING, ERROR and CRITICAL")
    return value


def env_loopback(name: str, default: str) -> str:
    """Read a host to bind. Only loopback addresses are accepted: nothing here is made to face a network."""
    value = str(env.str(name, default=default))
    try:
        loopback = ipaddress.ip_address(value).is_loopback
    except ValueError:
        loopback = value == "localhost"
    if not loopback:
        raise ImproperlyConfigured(f"{name} must be a loopback address, not {value}")
    return value


def env_url(name: str) -> str:
    """Read an optional http or https address."""
    value = str(env.str(name, default="")).rstrip("/")
    if value and not value.startswith(("http://", "https://")):
        raise ImproperlyConfigured(f"{name} must start with http:// or https://")
    return value


def secret_key(path: Path) -> str:
    """Return the stored key of this checkout, made on first use and readable by its owner only."""
    given = str(env.str("DJANGO_SECRET_KEY", default=""))
    if given:
        if len(given) < 32:
            raise ImproperlyConfigured("DJANGO_SECRET_KEY must have at least 32 characters")
        return given
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        made.touch(mode=0o600)
        made.write_text(secrets.token_urlsafe(48))
        try:
            path.hardlink_to(made)  # the first of several starting processes wins
        except FileExistsError:
            pass
        made.unlink()
    return path.read_text().strip()


# ---------------------------------------------------------------- where things are
VAR_DIR = env_directory("CAPABILITY_VAR_DIR", BASE_DIR / "var")
RUNS_DIR = VAR_DIR / "runs"  # one directory per live session: workspace and CODEX_HOME
CODEX_TEMPLATES_DIR = VAR_DIR / "codex-homes"  # one template per Codex version and configuration
NODE_MODULES = env_path("CAPABILITY_NODE_MODULES", BASE_DIR / "node_modules")

HOST = env_loopback("HOST", "127.0.0.1")
PORT = env_int("PORT", 4184, at_least=0, at_most=65535)

# ---------------------------------------------------------------- the agent and its model
CODEX_BIN = env_program("CODEX_BIN", NODE_MODULES / ".bin" / "codex")
CODEX_LOGIN_HOME = env_path("CODEX_HOME", Path("~/.codex"))  # whose auth.json a session links to
MODEL_URL = env_url("CAPABILITY_MODEL_URL")  # a Responses-compatible endpoint; empty means Codex's own provider
MODEL_NAME = env.str("CAPABILITY_MODEL", default="")
MODEL_LABEL = env.str("CAPABILITY_MODEL_LABEL", default="")  # what the header calls the model

# ---------------------------------------------------------------- bounds (source: clean-room seed, "Bounds")
CLEANROOM_MAX_TURNS = env_int("CLEANROOM_MAX_TURNS", 24, at_most=1000)
CLEANROOM_MAX_MESSAGE_BYTES = env_int("CLEANROOM_MAX_MESSAGE_BYTES", 8192, at_most=16_384)
CLEANROOM_MAX_ROOMS = env_int("CLEANROOM_MAX_ROOMS", 4, at_most=64)
CLEANROOM_TURN_TIMEOUT_S = env_int("CLEANROOM_TURN_TIMEOUT_S", 120, at_most=3600)
CLEANROOM_COOKIE_DAYS = env_int("CLEANROOM_COOKIE_DAYS", 30, at_most=400)  # browsers keep none for longer
CLEANROOM_OPEN_TIMEOUT_S = env_int("CLEANROOM_OPEN_TIMEOUT_S", 10, at_most=120)
CLEANROOM_IDLE_MINUTES = env_int("CLEANROOM_IDLE_MINUTES", 15, at_most=1440)
KEPT_BODY_BYTES = 1024 * 1024  # of a request; more is read and dropped, and the view sees that it was too large
API_MAX_BODY_BYTES = env_int("API_MAX_BODY_BYTES", 65_536, at_most=KEPT_BODY_BYTES - 1)  # one byte shows that it was
STREAM_HEARTBEAT_S = env_int("STREAM_HEARTBEAT_S", 15, at_most=120)

# ---------------------------------------------------------------- Django
DEBUG = env_flag("DJANGO_DEBUG")
SECRET_KEY = secret_key(VAR_DIR / "secret-key")
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]  # the API checks the exact Host and port itself
ROOT_URLCONF = "capability.urls"
ASGI_APPLICATION = "capability.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

MOCKCORE_REDACTOR = "capability.redaction.redact"  # the mock company knows no other house; it masks what it stores
INSTALLED_APPS = [
    "whitenoise.runserver_nostatic",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "mockcore",
    "capability",
    "evidence",
    "cleanroom",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "capability.http.pages.ContentPolicy",
    "capability.http.plain.PlainText",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]


def databases() -> dict[str, Any]:
    """SQLite in a file unless DATABASE_URL names another server. Source: design section 3."""
    url = env.str("DATABASE_URL", default="")
    config: dict[str, Any]
    if not url:
        config = {"ENGINE": "mockcore.sqlite", "NAME": str(VAR_DIR / "capability.sqlite3")}
    else:
        try:
            config = environ.Env.db_url_config(url)
        except Exception as error:
            raise ImproperlyConfigured("DATABASE_URL is not a database address") from error
        if "ENGINE" not in config:
            raise ImproperlyConfigured("DATABASE_URL is not a database address")
        if config["ENGINE"] == "django.db.backends.sqlite3":
            config["ENGINE"] = "mockcore.sqlite"
    if config["ENGINE"] == "mockcore.sqlite":
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
        }
        config["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}  # hosts and threads share it, so it is a file
    config["CONN_MAX_AGE"] = None  # threads are kept, and each keeps its connection: a new one costs 1 ms and more
    config["CONN_HEALTH_CHECKS"] = (
        config["ENGINE"] != "mockcore.sqlite"
    )  # a server that was started again is met with a new connection
    return {"default": config}


DATABASES = databases()
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

AUTH_PASSWORD_VALIDATORS: list[dict[str, str]] = []  # the only account is made by `manage.py operator`, at random
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_NAME = "capability_operator"  # as served, the port is added
CSRF_COOKIE_NAME = "capability_operator_csrf"
SESSION_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_SAMESITE = "Strict"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["capability.http.wire.StrictJSONParser"],
    "EXCEPTION_HANDLER": "capability.http.errors.answer",
    "UNAUTHENTICATED_USER": None,
}

# ---------------------------------------------------------------- static files: no build, every file immutable
# Source of the choice: design section 3 ("Browser") and `cleanroom/decisions/`.
VENDOR = {
    "preact": "preact/dist",
    "preact-hooks": "preact/hooks/dist",
    "htm": "htm/dist",
    "signals-core": "@preact/signals-core/dist",
    "signals": "@preact/signals/dist",
    "markdown-it": "markdown-it/dist/browser",
    "dompurify": "dompurify/dist",
}


def build_id() -> str:
    """A short hash over our browser modules and the npm lock: the path of every static file."""
    digest = hashlib.sha256()
    lock = BASE_DIR / "package-lock.json"
    sources = sorted(path for house in HOUSES for path in (BASE_DIR / house / "static").glob("**/*"))
    for path in [lock, *sources]:
        if path.is_file():
            digest.update(path.relative_to(BASE_DIR).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


BUILD_ID = build_id()
STATIC_URL = f"/static/{BUILD_ID}/"
STATIC_ROOT = VAR_DIR / "static" / BUILD_ID
STATICFILES_DIRS = [
    (f"vendor/{name}", str(NODE_MODULES / folder))
    for name, folder in VENDOR.items()
    if (NODE_MODULES / folder).is_dir()
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "capability.http.static.CollectedFiles"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATIC_COLLECTED = STATIC_ROOT / ".collected"  # written when every file of this build is there, compressed
WHITENOISE_USE_FINDERS = not STATIC_COLLECTED.exists()


def WHITENOISE_IMMUTABLE_FILE_TEST(path: str, url: str) -> bool:  # noqa: N802
    return True


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "refusal": {"()": "capability.logs.RefusalFilter"},
        "redact": {"()": "capability.logs.RedactingFilter"},
    },
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["refusal", "redact"]}},
    "root": {"handlers": ["stderr"], "level": env_log_level("LOG_LEVEL", "WARNING")},
    "loggers": {"django.request": {"level": "ERROR"}, "daphne": {"level": "WARNING"}},
}
