"""What lies above a working folder: a configuration, or a store, that whoever is in the wrong folder meant.

It is said and never taken over: a configuration names the places that receive keys.
"""

from __future__ import annotations

import os
from pathlib import Path

from .settings import CONFIG_FILE, Settings

__all__ = ["told_of_above"]


def told_of_above(settings: Settings, folder: Path) -> str:
    """Return what a nearest folder above has where this one has no configuration, and how to use it; empty for none.

    :param folder: the working folder.
    """
    if settings.source is not None:
        return ""
    is_named = settings.store_path != Settings().store_path
    for above in folder.absolute().parents:
        there = os.path.relpath(above, folder)
        if os.path.isfile(above / CONFIG_FILE):
            named = os.path.join(there, CONFIG_FILE)
            return f"there is a {CONFIG_FILE} in {there}: run planloom there, or name it with --config {named}"
        if not is_named and os.path.isfile(above / Settings().store_path):
            named = os.path.join(there, Settings().store_path)
            return f"there is a store in {there}: run planloom there, or name it with --store {named}"
    return ""
