"""How browser files are collected: compressed once for each build, all but the admin's, which nobody waits for."""

from __future__ import annotations

from typing import Any

from whitenoise.storage import CompressedStaticFilesStorage


class CollectedFiles(CompressedStaticFilesStorage):  # type: ignore[misc] # whitenoise has no types
    """Compress what the chat page loads. The admin's large scripts would take most of the first start's time."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Any:
        loaded = {path: where for path, where in paths.items() if path.startswith("cleanroom/") or is_module(path)}
        return super().post_process(loaded, dry_run=dry_run, **options)


def is_module(path: str) -> bool:
    """Say whether a file of a package is one that a browser imports."""
    return path.startswith("vendor/") and path.endswith((".mjs", ".module.js"))
