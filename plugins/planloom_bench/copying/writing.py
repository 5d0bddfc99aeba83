"""A benchmark on the disk. All files bear one time and one mode, so that neither tells which of them were edited."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from planloom_bench._key import Key, KeyEntry

from .texts import CopiedFile

__all__ = ["FILES_NAME", "FILE_TIME", "KEY_NAME", "write_benchmark", "write_tree"]

# Midnight on 1 January 1980 in UTC, the earliest that every file system and archive can hold.
FILE_TIME = 315_532_800
_MODE, _FOLDER_MODE = 0o644, 0o755
KEY_NAME = "answer_key.json"
FILES_NAME = "files.json"


def write_benchmark(folder: Path, files: Iterable[CopiedFile], key: Key, manifest: Mapping[str, Any]) -> None:
    """Write ``audited/``, ``hidden/`` and ``manifest.json`` below a folder.

    ``hidden/`` holds the key, and the hash of every file clean and audited, by which a copy can be checked.
    """
    files = tuple(files)
    write_tree(folder / "audited", {file.path: file.audited_data for file in files})
    key_rows = {"format": 1, "entries": [_row(entry) for entry in key.entries]}
    hidden = {KEY_NAME: _json(key_rows), FILES_NAME: _json({"format": 1, "files": _hashes(files)})}
    write_tree(folder / "hidden", hidden)
    write_tree(folder, {"manifest.json": _json(manifest)})


def write_tree(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files below a folder, all with the same time and mode, and their folders too."""
    for path, data in contents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(_MODE)
        os.utime(target, (FILE_TIME, FILE_TIME))
    folders = {folder, *(parent for path in contents for parent in (folder / path).parents if folder in parent.parents)}
    for made in folders:
        made.chmod(_FOLDER_MODE)
        os.utime(made, (FILE_TIME, FILE_TIME))


def _row(entry: KeyEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "path": entry.path,
        "line": entry.line,
        "function": entry.function,
        "kind": entry.kind,
        "before": entry.before,
        "after": entry.after,
        "examples": {"failed": entry.examples_failed, "total": entry.examples_total},
    }


def _hashes(files: Iterable[CopiedFile]) -> dict[str, dict[str, str]]:
    return {file.path: {"clean": _sha256(file.clean_data), "audited": _sha256(file.audited_data)} for file in files}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
