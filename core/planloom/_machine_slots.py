"""The slots of an endpoint that all processes of a person on one machine share.

One empty file in the person's state folder holds a lock a slot: byte ranges far beyond its end, a region for each
endpoint by the hash of its address. The kernel frees them when a process ends, however it ends, and nothing is left to
clean up. A process that must wait says so with a shared lock; one that has slots looks for it after a call and then
gives the slot up, so that a process alone keeps its slots and two share them.

A process that is suspended keeps its slots, and cannot give them up. So that no other waits for it for ever, a process
that got none for as long as a call may last asks one question at a time without.

On Linux the locks belong to the open file. Elsewhere they belong to the process, so that two looms of one process count
as one. Where there is no such folder or the file system has no locks, each process counts for itself.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import struct
import sys
from collections import deque
from pathlib import Path

__all__ = ["MachineSlots", "SlotFile", "open_slot_file", "state_folder"]

_log = logging.getLogger("planloom")

_REGION = 1 << 20
_WANTED = _REGION - 1
MOST_SHARED = 4_096
_LOOK_EVERY_S = 0.01
_LONGEST_CALL_S = 600.0
_WITHOUT_SLOT = -1
_TAKEN = (errno.EAGAIN, errno.EACCES)
_FLOCK = "hhqqixxxx"  # struct flock of 64-bit Linux: type, whence, start, length, process


def state_folder() -> Path:
    """Return the person's state folder for planloom.

    :raises RuntimeError: the person has no home.
    """
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "planloom"


class SlotFile:
    """An open file whose bytes are locked one by one; see :func:`open_slot_file`."""

    def __init__(self, path: Path) -> None:
        import fcntl

        self._fcntl = fcntl
        self._of_file = getattr(fcntl, "F_OFD_SETLK", None) if sys.maxsize > 2**32 else None
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def lock(self, byte: int, *, shared: bool = False) -> bool:
        """Lock a byte; return whether nobody else had it."""
        try:
            if self._of_file is not None:
                self._set(self._fcntl.F_RDLCK if shared else self._fcntl.F_WRLCK, byte)
            else:
                kind = self._fcntl.LOCK_SH if shared else self._fcntl.LOCK_EX
                self._fcntl.lockf(self._fd, kind | self._fcntl.LOCK_NB, 1, byte)
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise
        return True

    def unlock(self, byte: int) -> None:
        """Give a byte back."""
        if self._of_file is not None:
            self._set(self._fcntl.F_UNLCK, byte)
        else:
            self._fcntl.lockf(self._fd, self._fcntl.LOCK_UN, 1, byte)

    def _set(self, kind: int, byte: int) -> None:
        assert self._of_file is not None
        self._fcntl.fcntl(self._fd, self._of_file, struct.pack(_FLOCK, kind, os.SEEK_SET, byte, 1, 0))

    def close(self) -> None:
        """Give everything back."""
        os.close(self._fd)


def open_slot_file(folder: Path | None = None) -> SlotFile | str:
    """Return the open file of a state folder, the person's own by default, or why there is none."""
    try:
        folder = state_folder() if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        file = SlotFile(folder / "slots")
    except (OSError, RuntimeError, ImportError) as error:
        return f"calls in flight are not counted across processes: {error}"
    try:
        file.lock(0)
        file.unlock(0)
    except OSError as error:
        file.close()
        return f"calls in flight are not counted across processes: {folder} has no file locks ({error})"
    return file


class MachineSlots:
    """One process's hold on the slots of one endpoint.

    :param address: of the endpoint. :param limit: how many there are.
    """

    def __init__(self, file: SlotFile, address: str, limit: int) -> None:
        self._file: SlotFile | None = file
        self._first = int.from_bytes(hashlib.sha256(address.encode()).digest()[:5], "big") * _REGION
        self._unlocked = deque(range(min(limit, MOST_SHARED)))
        self._spare: list[int] = []
        self._used: list[int] = []
        self._waiting = False
        self._refused_since: float | None = None
        self._looked_at = -_LOOK_EVERY_S
        self._contended = False

    def take(self, now: float) -> bool:
        """Take a slot; return whether one was free on this machine. Who is told no is expected to ask again soon.

        :param now: seconds of any clock.
        """
        if self._file is None:
            return True
        try:
            if self._spare and self._is_wanted(self._file, now):
                self._unlock_spare(self._file)
                return False
            if not self._spare and not self._lock_one(self._file):
                return self._take_without(now)
        except OSError as error:
            self._do_without(error)
            return True
        self._refused_since = None
        self._used.append(self._spare.pop())
        return True

    def _take_without(self, now: float) -> bool:
        if self._refused_since is None or any(slot != _WITHOUT_SLOT for slot in self._used):
            self._refused_since = now
        if self._used or now - self._refused_since < _LONGEST_CALL_S:
            return False
        self._used.append(_WITHOUT_SLOT)
        return True

    def refused_s(self, now: float) -> float:
        """Return for how many seconds this process has wanted a slot and had none, since others hold them all."""
        return 0.0 if self._refused_since is None else now - self._refused_since

    def put_down(self) -> None:
        """Say that a slot is no longer used; it stays with this process until :meth:`give_spare`."""
        slot = self._used.pop() if self._used else _WITHOUT_SLOT
        if slot != _WITHOUT_SLOT:
            self._spare.append(slot)

    def give_spare(self, *, waiting: bool) -> None:
        """Give back what is not used.

        :param waiting: somebody here waits for a slot.
        """
        if not waiting:
            self._refused_since = None
        if self._file is None:
            return
        try:
            self._unlock_spare(self._file)
            if not waiting:
                self._wait(self._file, waiting=False)
        except OSError as error:
            self._do_without(error)

    def _lock_one(self, file: SlotFile) -> bool:
        for _ in range(len(self._unlocked)):
            slot = self._unlocked.popleft()
            if file.lock(self._first + slot):
                self._spare.append(slot)
                self._wait(file, waiting=False)
                return True
            self._unlocked.append(slot)
        self._wait(file, waiting=True)
        return False

    def _unlock_spare(self, file: SlotFile) -> None:
        while self._spare:
            slot = self._spare.pop()
            file.unlock(self._first + slot)
            self._unlocked.append(slot)

    def _wait(self, file: SlotFile, *, waiting: bool) -> None:
        if waiting and not self._waiting:
            self._waiting = file.lock(self._first + _WANTED, shared=True)
        elif not waiting and self._waiting:
            file.unlock(self._first + _WANTED)
            self._waiting = False

    def _is_wanted(self, file: SlotFile, now: float) -> bool:
        """Return whether another process waits; looked up a hundred times a second at most."""
        if self._waiting:
            return True
        if now - self._looked_at >= _LOOK_EVERY_S:
            self._looked_at = now
            self._contended = not file.lock(self._first + _WANTED)
            if not self._contended:
                file.unlock(self._first + _WANTED)
        return self._contended

    def _do_without(self, error: OSError) -> None:
        _log.info("calls in flight are no longer counted across processes: %s", error)
        self._file = None
