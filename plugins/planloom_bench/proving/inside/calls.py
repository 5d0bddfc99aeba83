"""System calls that code beside Python is refused on Linux, by a filter that the kernel runs before each of them.

Landlock and namespaces are newer than many kernels and switched off on others; a filter needs neither. It sees numbers
and no paths, so it holds what can be told by these: no process is started, no program run, no other process touched, no
socket leads out, and no way around other layers is opened. Threads and sockets within the process are free.

The program is one of classic BPF, 8 bytes an instruction: code, jumps if true and if false, operand (linux/filter.h).
Numbers of calls are those of the kernel's tables for x86_64 and for aarch64; other machines go without.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

__all__ = ["refuse_calls"]

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
_THREAD, _WITHIN_MACHINE = 0x00010000, 1
_SET_NO_NEW_PRIVILEGES, _SET_FILTER = 38, 22
# Calls of a second table that x86_64 kernels may hold begin here.
_SECOND_TABLE = 0x40000000

_NEVER = (
    *("fork", "vfork", "execve", "execveat", "ptrace", "process_vm_writev", "pidfd_send_signal", "unshare", "setns"),
    *("mount", "umount2", "pivot_root", "chroot", "bpf", "io_uring_setup", "open_by_handle_at"),
)
_COMMON = {"clone3": 435, "pidfd_send_signal": 424, "io_uring_setup": 425}
_TABLES = {
    "x86_64": (
        0xC000003E,
        {"clone": 56, "socket": 41, "kill": 62, "tgkill": 234, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322}
        | {"ptrace": 101, "process_vm_writev": 311, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166}
        | {"pivot_root": 155, "chroot": 161, "bpf": 321, "open_by_handle_at": 304},
    ),
    "aarch64": (
        0xC00000B7,
        {"clone": 220, "socket": 198, "kill": 129, "tgkill": 131, "execve": 221, "execveat": 281, "ptrace": 117}
        | {"process_vm_writev": 271, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41}
        | {"chroot": 51, "bpf": 280, "open_by_handle_at": 265},
    ),
}


def refuse_calls() -> bool:
    """Refuse this process and its threads what the module says, for good; false where the system has no such filter."""
    machine = platform.machine()
    if not sys.platform.startswith("linux") or machine not in _TABLES or struct.calcsize("P") != 8:
        return False
    mark, numbers = _TABLES[machine]
    return install(program(mark, numbers | _COMMON, os.getpid()))


def program(mark: int, numbers: dict[str, int], me: int) -> bytes:
    """The filter, for one machine and the process ``me``."""
    steps = [(_LOAD, 0, 0, _MACHINE_AT), *_unless(_EQUAL, mark, _REFUSE), (_LOAD, 0, 0, _NUMBER_AT)]
    steps += _if(_AT_LEAST, _SECOND_TABLE, _REFUSE)
    steps += [step for name in _NEVER if name in numbers for step in _if(_EQUAL, numbers[name], _REFUSE)]
    # Whoever starts threads tries the new call first, and takes the old one where there is none.
    steps += _if(_EQUAL, numbers["clone3"], _UNKNOWN)
    for name, test, operand in (
        ("clone", _ANY_BIT, _THREAD),
        ("socket", _EQUAL, _WITHIN_MACHINE),
        ("kill", _EQUAL, me),
        ("tgkill", _EQUAL, me),
    ):
        allowed = [(_LOAD, 0, 0, _FIRST_ARGUMENT_AT), *_unless(test, operand, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
        steps += [(_EQUAL, 0, len(allowed), numbers[name]), *allowed]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(map(packed, steps))


def packed(step: tuple[int, int, int, int]) -> bytes:
    """One instruction as the kernel reads it."""
    return struct.pack("=HBBI", *step)


def _if(test: int, operand: int, answer: int) -> list[tuple[int, int, int, int]]:
    return [(test, 0, 1, operand), (_RETURN, 0, 0, answer)]


def _unless(test: int, operand: int, answer: int) -> list[tuple[int, int, int, int]]:
    return [(test, 1, 0, operand), (_RETURN, 0, 0, answer)]


def install(filter_program: bytes) -> bool:
    """Put a filter before every call of this process, for good."""
    steps = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = struct.pack("@HP", len(filter_program) // 8, ctypes.addressof(steps))
    library = ctypes.CDLL(None)
    one, none = ctypes.c_long(1), ctypes.c_long(0)
    if library.prctl(ctypes.c_long(_SET_NO_NEW_PRIVILEGES), one, none, none, none) != 0:
        return False
    return bool(library.prctl(ctypes.c_long(_SET_FILTER), ctypes.c_long(2), header, none, none) == 0)
