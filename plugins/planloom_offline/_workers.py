"""Where jobs run: small ones here at once, large ones in processes that are started when the first large one comes.

Parsing holds the interpreter's lock, so threads would neither use a second core nor leave the event loop in peace.
The processes are our own rather than ``concurrent.futures``': those import the caller's main module again and get
the terminal's Ctrl-C. These stand in a session of their own, never put the working folder on their path (it may be
the code under audit), and end when their input does, so that they cannot outlive a parent that is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from planloom.clients import PermanentError, TransientError

from ._child import LENGTH_BYTES, frame
from ._jobs import JOBS, RuleFailed, rules_of
from .rules import Rule

INLINE_CHARS = 30_000
"""Up to here a job holds the event loop for about 40 ms, a fifth of what starting a process takes."""
CLOSE_S = 1.0


def core_count() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Runs jobs with one set of rules. Owns its processes; used on one event loop."""

    def __init__(self, rules: Sequence[Rule], *, timeout_s: float, size: int | None = None) -> None:
        self._rules = rules
        self._timeout_s = timeout_s
        self._free = asyncio.Semaphore(size or core_count())
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that run."""
        return tuple(process.pid for process in self._all)

    async def run(self, job: str, text: str) -> dict[str, Any]:
        """Return a job's answer.

        :raises PermanentError: a rule failed on this text.
        :raises TransientError: the process died or took longer than the time allowed.
        """
        if len(text) <= INLINE_CHARS and not self._starts_programs(job, text):
            try:
                return JOBS[job](text, self._rules)
            except RuleFailed as error:
                raise PermanentError(str(error), error_class="bad_request") from error
        async with self._free:
            return await self._in_process(f"{job}\n{text}".encode("utf-8", "surrogatepass"))

    async def close(self) -> None:
        """End the processes and remove what they left on disk."""
        processes, self._idle, self._all = self._all, [], set()
        await asyncio.gather(*(_end(process) for process in processes))
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _starts_programs(self, job: str, text: str) -> bool:
        rules = rules_of(job, self._rules)
        return any(rule.slow is not None and rule.slow(text) for rule in rules)

    async def _in_process(self, request: bytes) -> dict[str, Any]:
        process = self._idle.pop() if self._idle else await self._start()
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = json.loads(await _exchange(process, request))
        except BaseException as error:
            # What is left in its pipes would be taken for the next answer.
            self._all.discard(process)
            await asyncio.shield(_kill(process))
            if isinstance(error, TimeoutError):
                raise TransientError(
                    f"the offline analysis of one shard took longer than {self._timeout_s:g} s; use smaller shards",
                    error_class="timeout",
                ) from error
            if isinstance(error, asyncio.IncompleteReadError | OSError):
                raise TransientError(
                    "the process of the offline analysis died; it is started again with the next question",
                    error_class="server",
                ) from error
            raise
        self._idle.append(process)
        if "failed" in answer:
            raise PermanentError(answer["failed"], error_class="bad_request")
        value: dict[str, Any] = answer["value"]
        return value

    async def _start(self) -> Process:
        if self._scratch is None:
            # A process that is killed cannot remove its files; its temporary folder lies in this one.
            self._scratch = tempfile.TemporaryDirectory(prefix="planloom-offline-", ignore_cleanup_errors=True)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            f"{__package__}._child",
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**os.environ, "TMPDIR": self._scratch.name},
            start_new_session=True,
        )
        self._all.add(process)
        assert process.stdin is not None
        process.stdin.write(frame(pickle.dumps(tuple(self._rules))))
        return process


async def _exchange(process: Process, request: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(frame(request))
    await process.stdin.drain()
    head = await process.stdout.readexactly(LENGTH_BYTES)
    return await process.stdout.readexactly(int.from_bytes(head, "big"))


async def _end(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(CLOSE_S):
            await process.wait()
    except TimeoutError:
        await _kill(process)


async def _kill(process: Process) -> None:
    """End a process and what it started: it leads a group of its own."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
