"""What the kernel holds, where it can: limits everywhere, and on Linux a network of its own and a closed file system.

Each layer is tried and goes without where the system refuses it. Landlock (Linux 5.13) needs no privileges: it takes
away writing outside one folder, running programs, TCP, and signals to processes outside. A network namespace needs
root or user namespaces. What is open already stays open, and reading is not restricted.

Where the kernel filters system calls, `calls` holds most of this without either.

Numbers are from the kernel's headers landlock.h, sched.h and prctl.h.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from typing import Any

MEMORY_BYTES = 2 << 30
FILE_BYTES = 16 << 20
OPEN_FILES = 256

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVILEGES = 1, 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _REFER, _TRUNCATE = 1 << 0, 1 << 1, 1 << 13, 1 << 14
# Removing and making folders, files, devices, sockets, pipes and links.
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_TCP = 0b11
_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11


def limit(cpu_s: float) -> None:
    """Limit this process for good: processor seconds, memory, size of files, open files, no core dump."""
    _limit(resource.RLIMIT_CPU, int(cpu_s) + 2, int(cpu_s) + 3)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(what: int, most: int, at_last: int | None = None) -> None:
    # Some systems know a limit and do not let it be set.
    with suppress(OSError, ValueError):
        resource.setrlimit(what, (most, most if at_last is None else at_last))


def adopt_orphans() -> bool:
    """Make processes whose parents end children of this one, so that they can be found and ended."""
    return _on_linux("prctl", _SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Be killed when the process that started this one ends, as it may have done already."""
    _on_linux("prctl", _SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def leave_network() -> bool:
    """Put this process and its children into a network of their own, which has no way out; false where refused."""
    if _on_linux("unshare", _NEW_NETWORK):
        return True
    return _works_in_a_child() and _unshare_as_user()


def _works_in_a_child() -> bool:
    """A try-out: a user namespace that can be entered and not furnished would leave this process as nobody."""
    if not sys.platform.startswith("linux"):
        return False
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _unshare_as_user() else 1)
    return os.waitpid(pid, 0)[1] == 0


def _unshare_as_user() -> bool:
    user, group = os.getuid(), os.getgid()
    if not _on_linux("unshare", _NEW_NETWORK | _NEW_USER):
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    except OSError:
        return False
    return True


def close_file_system(folder: str) -> bool:
    """Let this process write below ``folder`` alone, and run no program; false where the kernel has no Landlock."""
    version = _syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    writing = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("=QQQ", writing | _EXECUTE, _TCP, _SIGNALS_AND_ABSTRACT_SOCKETS)
    size_bytes = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _syscall(_CREATE_RULESET, attributes, size_bytes, 0)
    if ruleset < 0:
        return False
    _allow(ruleset, folder, writing)
    _allow(ruleset, os.devnull, _WRITE_FILE | (writing & _TRUNCATE))
    closed = _on_linux("prctl", _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and _syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return closed


def _allow(ruleset: int, path: str, rights: int) -> None:
    below = os.open(path, os.O_PATH | os.O_CLOEXEC)
    _syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, below), 0)
    os.close(below)


def _syscall(number: int, *arguments: Any) -> int:
    if not sys.platform.startswith("linux"):
        return -1
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *(_wide(argument) for argument in arguments)))


def _wide(argument: Any) -> Any:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _on_linux(name: str, *arguments: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    function = getattr(ctypes.CDLL(None), name)
    return bool(function(*(_wide(argument) for argument in arguments)) == 0)
