"""The manifest: where a benchmark comes from and what is in it, without a word on where its bugs are."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from planloom_bench.building.journal import digest_of
from planloom_bench.building.library import Built
from planloom_bench.sources import Source
from planloom_code import count_lines

from .choosing import Chosen
from .texts import CopiedFile
from .writing import FILE_TIME

__all__ = ["digest_of_texts", "manifest_of"]


def manifest_of(
    source: Source, chosen: Chosen, built: Built, files: Sequence[CopiedFile], *, seed: int
) -> dict[str, Any]:
    """The manifest as plain JSON values; the same for the same source, version, seed and Python."""
    return {
        "format": 1,
        "name": source.name,
        "source": {
            "library": source.name,
            "version": source.version,
            "licence": source.licence,
            **source.pins,
            "sha256": digest_of(chosen.files),
        },
        "planted": {"by": f"planloom bench build {version('planloom')}", "seed": seed, "bugs": len(built.entries)},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "kinds": _counted(entry.kind for entry in built.entries),
        "files": len(files),
        "lines": sum(count_lines(file.audited) for file in files),
        "size_bytes": sum(len(file.audited_data) for file in files),
        "file_time": FILE_TIME,
        "not_copied": _counted(left.reason for left in chosen.left_out),
        "left_out": _counted(left.reason for left in built.left_out),
        "counts": dict(built.counts),
        "audited_sha256": digest_of_texts({file.path: file.audited for file in files}),
    }


def digest_of_texts(texts: dict[str, str]) -> str:
    """One hash over the paths and texts of a benchmark."""
    plain = json.dumps(texts, sort_keys=True).encode("utf-8", "surrogatepass")
    return hashlib.sha256(plain).hexdigest()


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(reasons).items()))
