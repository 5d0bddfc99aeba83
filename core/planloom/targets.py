"""What a run works on, as its record keeps it: a path of odd bytes has a readable form, and itself beside that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

__all__ = ["target_facts", "target_of"]


def target_of(facts: Mapping[str, Any]) -> str:
    """Return the path that a run's work was opened from; its name in the record may be a readable form of it."""
    return os.fsdecode(bytes.fromhex(facts["target_bytes"])) if "target_bytes" in facts else str(facts["target"])


def target_facts(path: str, shown: str) -> dict[str, Any]:
    """Return what a run keeps to open its work again, where a path's readable form is not the path."""
    return {} if path == shown else {"target_bytes": os.fsencode(path).hex()}
