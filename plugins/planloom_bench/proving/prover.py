"""The host's side of proofs: a process to send jobs to, started anew whenever it is lost.

The process sees an environment of its own: nothing of the host's but the search path, the import path and the time zone
of everybody, so that no secret leaks into a library and no setting into a result.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Protocol

from .inside import jobs
from .inside.jobs import Job, Outcome, outcome_from, to_line
from .inside.server import WALL_FACTOR, ending

__all__ = ["ForkingProver", "FreshProver", "Prover", "open_prover", "sandbox_lacks"]

_LAUNCH = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
folder, scratch, role = sys.argv[1:]
spec = spec_from_file_location("planloom_proofs", folder + "/__init__.py", submodule_search_locations=[folder])
module = sys.modules["planloom_proofs"] = module_from_spec(spec)
spec.loader.exec_module(module)
from planloom_proofs import server
getattr(server, role)(scratch)
"""
_INSIDE = str(Path(__file__).parent / "inside")
_START_S = 30.0
_GRACE_S = 5.0
_KEPT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_FIXED = {
    "COLUMNS": "80",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "TZ": "UTC",
}


class Prover(Protocol):
    """Something that proves; used by one thread at a time, and closed after use."""

    def prove(self, job: Job) -> Outcome:
        """How the job went; one that takes the prover down is ``lost``."""
        ...

    def close(self) -> None:
        """End the process and remove its folder."""
        ...


def open_prover() -> Prover:
    """The fast prover where processes can be forked, else the plain one."""
    return ForkingProver() if hasattr(os, "fork") else FreshProver()


def sandbox_lacks() -> tuple[str, ...]:
    """What this system does not hold code beside Python from, in a few words each; Python code is held everywhere."""
    process = _Process("tell")
    try:
        return tuple(json.loads(process.line(_START_S)))
    finally:
        process.close()


class ForkingProver:
    """Keeps one server, which forks a child for each job. It owns the server and the server's folder."""

    def __init__(self) -> None:
        self._process: _Process | None = None
        self._closed = False
        # Held while a job is under way, so that no pipe is closed under its reader.
        self._asking = threading.Lock()

    def prove(self, job: Job) -> Outcome:
        """How the job went; the server is started when there is none."""
        with self._asking:
            try:
                return outcome_from(self._server().ask(job))
            except (OSError, ValueError) as error:
                self._drop()
                return Outcome(jobs.LOST, detail=str(error))

    def close(self) -> None:
        """End the server for good; from another thread too, where a proof under way is then lost."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._asking:
            self._drop()

    def _server(self) -> _Process:
        if self._process is None:
            self._process = _Process("serve")
        if self._closed:
            raise ConnectionError("the prover is closed")
        return self._process

    def _drop(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> ForkingProver:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class FreshProver:
    """Starts an interpreter for each job: slow, and nothing of an earlier job can be in it."""

    def prove(self, job: Job) -> Outcome:
        """How the job went in an interpreter of its own."""
        process = _Process("serve_one")
        try:
            return outcome_from(process.ask(job))._replace(compiled=(), imported=())
        except TimeoutError as error:
            return Outcome(jobs.TIMED_OUT, detail=str(error))
        except (OSError, ValueError):
            return process.ending()
        finally:
            process.close()

    def close(self) -> None:
        """Nothing is kept."""


class _Process:
    """One interpreter with a folder of its own, and the pipes to it."""

    def __init__(self, role: str) -> None:
        self._scratch = tempfile.mkdtemp(prefix="planloom-proof-")
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, on our own program
                [sys.executable, "-B", "-P", "-c", _LAUNCH, _INSIDE, self._scratch, role],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd=self._scratch,
                env=_environment(self._scratch),
                bufsize=0,
            )
        except OSError:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise

    def ask(self, job: Job) -> bytes:
        """The line that answers a job.

        :raises TimeoutError: none came in time.
        :raises ConnectionError: the process has ended.
        """
        stdin = self._process.stdin
        assert stdin is not None, "opened as a pipe"
        rest = memoryview(to_line(job))
        while rest:
            rest = rest[stdin.write(rest) :]
        return self.line(WALL_FACTOR * job.limit_s + _START_S)

    def line(self, timeout_s: float) -> bytes:
        """The next line of its answers.

        :raises TimeoutError: none came in time.
        :raises ConnectionError: the process has ended.
        """
        stdout, until, line = self._process.stdout, time.monotonic() + timeout_s, b""
        assert stdout is not None, "opened as a pipe"
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError(f"no answer within {timeout_s:g} s")
                piece = stdout.read(1 << 16)
                if not piece:
                    raise ConnectionError("the process of proofs has ended")
                line += piece
        return line

    def ending(self) -> Outcome:
        """What became of a process that has closed its answers."""
        try:
            return ending(self._process.wait(_GRACE_S))
        except subprocess.TimeoutExpired:
            return Outcome(jobs.TIMED_OUT, detail="closed its answer and went on")

    def kill(self) -> None:
        """Kill the process with its group; whoever waits for an answer learns that there is none."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process, and remove its folder."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _environment(scratch: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | _FIXED | {"HOME": scratch, "TMPDIR": scratch}
