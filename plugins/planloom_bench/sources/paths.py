"""Paths that others chose, kept inside one folder."""

from __future__ import annotations

from pathlib import Path

from planloom_bench._errors import BadSource

__all__ = ["is_folder", "place_below"]


def is_folder(path: Path) -> bool:
    """Whether a folder is there, as far as this user may know.

    :raises BadSource: the system does not say.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise BadSource(f"{path} cannot be read ({error.strerror}); give a folder that you may read") from error


def place_below(folder: Path, path: str) -> Path:
    """The place of a relative path with forward slashes below a folder.

    :raises BadSource: it would lie elsewhere.
    """
    parts = path.split("/")
    if "\\" in path or "\0" in path or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        raise BadSource(f"the path {path!r} leads out of the library's folder; nothing was taken from this source")
    return folder.joinpath(*parts)
