"""The fork server: loads the standard library once, then forks a child for each proof and waits for its answer.

The child is the leader of a session of its own. Whether it answers, dies or hangs, its whole group is killed before the
next one begins, and so is whatever left the group: orphans become children of the server.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import sys
import time

from . import jobs, kernel
from .jobs import Job, Outcome, job_from, outcome_from, to_line
from .loading import Compiled, compile_file
from .proof import confine, hold, prove, silence

# How many times the processor limit a proof may take by the clock: on a busy machine it still gets its share.
WALL_FACTOR = 5
_LOOK_EVERY_S = 0.05
# Rarely enough to cost nothing; a disk takes some hundred megabytes in this time.
_WEIGH_EVERY_S = 0.25
MOST_FILES = 10_000
MOST_BYTES = 256 << 20
_ANSWER_BYTES = 1 << 20
_SWEEPS = 200
_GRACE_S = 5


def serve(scratch: str) -> None:
    """Answer jobs, a line each, until standard input ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    silence()
    kernel.adopt_orphans()
    kernel.leave_network()
    compiled: Compiled = {}
    try:
        while line := requests.readline():
            gc.collect()
            gc.freeze()
            outcome = _forked(job_from(line), compiled, os.path.join(scratch, "proof"))
            _learn(outcome, compiled)
            answers.write(to_line(outcome._replace(compiled=(), imported=())))
    finally:
        # The host removes it too, but may have been killed, and then the answer finds nobody either.
        shutil.rmtree(scratch, ignore_errors=True)


def serve_one(scratch: str) -> None:
    """Answer the one job on standard input in this very process."""
    job = job_from(sys.stdin.buffer.readline())
    answers = os.dup(1)
    silence()
    os.mkdir(os.path.join(scratch, "proof"))
    _answer(job, {}, os.path.join(scratch, "proof"), answers)


def tell(scratch: str) -> None:
    """Say, as a list on a line, what this system does not hold code beside Python from."""
    answers = os.dup(1)
    silence()
    lacks = hold(scratch, _GRACE_S, has_left_network=kernel.leave_network())
    os.write(answers, json.dumps(lacks).encode() + b"\n")


def _learn(outcome: Outcome, compiled: Compiled) -> None:
    """Hold what a proof had to compile or import, so that the next one is born with it."""
    for path in outcome.compiled:
        # What does not compile shows itself to whoever imports it.
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
            compiled[path] = compile_file(path)
    for name in outcome.imported:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _forked(job: Job, compiled: Compiled, folder: str) -> Outcome:
    os.mkdir(folder)
    reading, writing = os.pipe()
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        _child(job, compiled, folder, writing, server)
    os.close(writing)
    try:
        return _awaited(job, pid, reading, folder)
    finally:
        os.close(reading)
        _end(pid)
        shutil.rmtree(folder, onerror=_make_removable)


def _child(job: Job, compiled: Compiled, folder: str, writing: int, server: int) -> None:
    try:
        kernel.die_with_parent(server)
        os.setsid()
        # Where no system call ties it to the server, time does.
        signal.alarm(int(WALL_FACTOR * job.limit_s) + _GRACE_S)
        silence()
        # All but the way to answer: the server's own pipes are nothing for a library to find.
        os.closerange(3, writing)
        os.closerange(writing + 1, kernel.OPEN_FILES)
        _answer(job, compiled, folder, writing)
    finally:
        os._exit(1)


def _answer(job: Job, compiled: Compiled, folder: str, answers: int) -> None:
    """Prove, answer and end the process, past everything that the library has put up for its end."""
    outcome = prove(job, compiled, confine(folder, job.limit_s))
    rest = to_line(outcome)
    while rest:
        rest = rest[os.write(answers, rest) :]
    os._exit(0)


def _awaited(job: Job, pid: int, reading: int, folder: str) -> Outcome:
    """The child's answer, or what became of it."""
    answer, began = b"", time.monotonic()
    look_at = began + _WEIGH_EVERY_S
    while not answer.endswith(b"\n"):
        if _is_overdue(job, pid, time.monotonic() - began) or len(answer) > _ANSWER_BYTES:
            return Outcome(jobs.TIMED_OUT, detail=f"limit {job.limit_s:g} s")
        if time.monotonic() > look_at:
            if _is_flooding(folder):
                return Outcome(jobs.FLOODED, detail=f"more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes")
            look_at = time.monotonic() + _WEIGH_EVERY_S
        # Asked before reading, so that what a child wrote before it ended is read.
        status = _ended(pid)
        if select.select([reading], [], [], _LOOK_EVERY_S if status is None else 0)[0]:
            piece = os.read(reading, 1 << 16)
            answer += piece
            if piece:
                continue
            time.sleep(_LOOK_EVERY_S if status is None else 0)
        if status is not None:
            return ending(status)
    try:
        return outcome_from(answer)
    except ValueError:
        return Outcome(jobs.ENDED, detail="an answer that is none")


def _is_flooding(folder: str) -> bool:
    """Whether a proof has written more than any example needs; each of its files alone is limited by the system."""
    files = size_bytes = 0
    for at, _, names in os.walk(folder):
        for name in names:
            files += 1
            with contextlib.suppress(OSError):
                size_bytes += os.lstat(os.path.join(at, name)).st_size
            if files > MOST_FILES or size_bytes > MOST_BYTES:
                return True
    return False


def _is_overdue(job: Job, pid: int, seconds: float) -> bool:
    if seconds < job.limit_s:
        return False
    return seconds > WALL_FACTOR * job.limit_s or _cpu_s(pid, seconds) > job.limit_s


def _cpu_s(pid: int, otherwise: float) -> float:
    """Processor seconds of another process, where its clock can be read (Linux: clock_getcpuclockid(3))."""
    if not sys.platform.startswith("linux"):
        return otherwise
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def _ended(pid: int) -> int | None:
    """The exit code of a child that has ended, the negative number of the signal that ended it, None before."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def ending(code: int) -> Outcome:
    """The outcome of a process that ended without an answer, by its exit code or the negative number of its signal."""
    if code >= 0:
        return Outcome(jobs.ENDED, detail=f"exit code {code}")
    if code == -signal.SIGXCPU:
        return Outcome(jobs.TIMED_OUT, detail="used its processor time")
    names = {number.value: number.name for number in signal.Signals}
    return Outcome(jobs.KILLED, detail=names.get(-code, f"signal {-code}"))


def _end(pid: int) -> None:
    """Kill the child with its group, and everything else that has become a child of the server."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)
    for _ in range(_SWEEPS):
        if not _has_children():
            return
        for orphan in _children():
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
        time.sleep(0.001)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _has_children() -> bool:
    """Whether a child is left, after one that has ended is waited for."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _make_removable(function: object, path: str, error: object) -> None:
    """Remove what the proof has closed to everybody."""
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
