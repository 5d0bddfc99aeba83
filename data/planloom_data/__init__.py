"""Files that ship with planloom: schemas, and the shelf with its benchmark.

The shelf is a small library of ordinary functions whose doctests all pass. Its benchmark is the same library without
the doctests and with bugs planted; the key to them lies beside it, for scorers alone.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["schema", "shelf_benchmark", "shelf_library"]


def shelf_library() -> Path:
    """The folder that holds the clean package ``shelf``."""
    return _shelf() / "library"


def shelf_benchmark() -> Path:
    """The folder of the shelf's benchmark: ``audited/``, ``hidden/answer_key.json`` and ``manifest.json``."""
    return _shelf() / "benchmark"


def schema(name: str) -> str:
    """The text of the JSON schema with this name, such as ``answer_key``.

    :raises FileNotFoundError: there is no such schema.
    """
    return (files("planloom_data") / "schemas" / f"{name}.json").read_text(encoding="utf-8")


def _shelf() -> Path:
    return Path(str(files("planloom_data") / "shelf"))
