"""Whether the process that wrote something down still runs: a number means something on its own machine only."""

from __future__ import annotations

import os
import platform

__all__ = ["is_gone", "this_machine"]


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
