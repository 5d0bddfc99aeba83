"""What Python code under proof may not do: reach a network, start a process, ask a person, write outside its folder.

An audit hook sees what the interpreter is asked to do before it does it, and cannot be taken out again. Code that is
not Python, in an extension module, goes past it; what the kernel holds is in `kernel`. What was refused is remembered,
so that a file whose own examples need it is left out with that reason.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from typing import Any

NETWORK = "the network"
PROCESSES = "other processes"
PEOPLE = "a person's input"
FILES = "files outside its own folder"

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Where in an event's arguments the paths are that it changes, with the place of their folder's descriptor.
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
}
_ALWAYS = {
    "builtins.input": PEOPLE,
    "os.exec": PROCESSES,
    "os.fork": PROCESSES,
    "os.forkpty": PROCESSES,
    "os.posix_spawn": PROCESSES,
    "os.spawn": PROCESSES,
    "os.system": PROCESSES,
    "pty.spawn": PROCESSES,
    "resource.prlimit": PROCESSES,
    "resource.setrlimit": PROCESSES,
    "socket.bind": NETWORK,
    "socket.connect": NETWORK,
    "socket.getaddrinfo": NETWORK,
    "socket.gethostbyaddr": NETWORK,
    "socket.gethostbyname": NETWORK,
    "socket.sendmsg": NETWORK,
    "socket.sendto": NETWORK,
    "subprocess.Popen": PROCESSES,
}


class Refusals:
    """Refuses; owns the list of what it refused, which only grows."""

    def __init__(self, folder: str) -> None:
        self.refused: set[str] = set()
        self._folder = os.path.realpath(folder) + os.sep
        self._me = os.getpid()
        self._checks: dict[str, Callable[[tuple[Any, ...]], str]] = {
            "open": self._open,
            "os.kill": self._kill,
            "os.killpg": lambda args: PROCESSES,
            # A pair of sockets within the process is how event loops wake up; it leads nowhere.
            "socket.__new__": lambda args: "" if args[1] == socket.AF_UNIX else NETWORK,
        }

    def begin(self) -> None:
        """Refuse from now on, until the process ends."""
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        reason = _ALWAYS.get(event, "")
        if event in self._checks:
            reason = self._checks[event](args)
        elif event in _CHANGES:
            reason = self._change(event, args)
        if reason:
            self.refused.add(reason)
            raise PermissionError(f"a proof may not use {reason} ({event})")

    def _open(self, args: tuple[Any, ...]) -> str:
        path, mode, flags = args
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & _WRITING)
        return FILES if writes and self._is_outside(path, None) else ""

    def _kill(self, args: tuple[Any, ...]) -> str:
        return "" if args[0] == self._me else PROCESSES

    def _change(self, event: str, args: tuple[Any, ...]) -> str:
        for at, folder_at in _CHANGES[event]:
            folder = args[folder_at] if folder_at is not None and folder_at < len(args) else None
            if self._is_outside(args[at], folder):
                return FILES
        return ""

    def _is_outside(self, path: Any, folder: Any) -> bool:
        if isinstance(path, int):
            return False
        try:
            plain = os.fsdecode(path)
        except TypeError:
            return True
        if plain == os.devnull:
            return False
        if isinstance(folder, int) and folder >= 0:
            plain = os.path.join(os.path.realpath(f"/proc/self/fd/{folder}"), plain)
        # The last part is not followed: to remove a link changes the folder that holds it, not what it points at.
        parent, name = os.path.split(plain.rstrip(os.sep))
        there = os.path.join(os.path.realpath(parent or os.curdir), name)
        return not (os.path.realpath(plain) + os.sep).startswith(self._folder) or not there.startswith(self._folder)
