"""Processes: whether the one that wrote something down still runs, and one that does nothing but run plans."""

from __future__ import annotations

import gc
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["is_gone", "seldom_collected", "this_machine"]


def this_machine() -> str:
    """Return what tells where a process number means something: the host, and the namespace of its processes."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        namespace = ""
    return f"{platform.node()} {namespace}".strip()


def is_gone(machine: str, pid: int) -> bool:
    """Return whether a process certainly runs no more. A number that another process has taken over tells nothing."""
    if machine != this_machine() or os.name == "nt":  # there, sending a process the signal 0 would end it
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Search for garbage in circles seldom: for a process that does nothing but run plans.

    What was imported is left out of the search, and many workers live long at once, so that most searches find nothing
    and cost a run a tenth of its processor time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(250_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
