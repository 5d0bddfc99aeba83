"""``planloom`` run in the test's own process, for tests of what a command says and does to its files.

Most of what a command takes is its process, which imports everything anew. Where the process is what is tested (its
signals, its streams, how it dies, what else runs beside it) a test starts one: ``Folder.start``.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import attrs
import pytest

from planloom.cli import main
from planloom.testing.folders import Folder

__all__ = ["Ended", "FolderHere", "planloom_here"]


_PATIENCE_S = 120


@attrs.frozen
class Ended:
    """How a command ended: its exit code, what it wrote to standard output, and to standard error."""

    returncode: int
    stdout: str
    stderr: str


def planloom_here(folder: Path, *arguments: object, env: Mapping[str, str | None] | None = None) -> Ended:
    """Run a command in a folder, with nothing to read and without a terminal.

    ``env`` is added to the environment; a variable that is ``None`` is taken away.
    """
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdin", "stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in (env or {}).items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        with _patience(), pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, _written(streams["stdout"]), _written(streams["stderr"]))


@contextmanager
def _patience() -> Iterator[None]:
    """A command that never ends is a test that fails, as that of a process is, and no suite that never ends."""

    def lose(*_: object) -> NoReturn:
        raise TimeoutError(f"the command has not ended after {_PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, lose)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S, _PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


class FolderHere(Folder):
    """A folder whose commands are run in this process, but for those that are started and those that detach."""

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command to its end; its exit code, output and remarks."""
        if "--detach" in arguments:
            # Whoever drives the run is the child of a command that has ended.
            return super().run(*arguments)
        ended = planloom_here(self.path, *arguments)
        return ended.returncode, ended.stdout, ended.stderr
