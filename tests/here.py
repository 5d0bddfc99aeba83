"""``planloom`` run in the test's own process, for tests of what a command says and does to its files.

Most of what a command takes is its process, which imports everything anew. Where the process is what is tested (its
signals, its streams, how it dies, what else runs beside it) a test starts one: ``Folder.start``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from planloom.cli import main
from planloom.testing.folders import Folder

__all__ = ["Ended", "FolderHere", "planloom_here"]


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
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, _written(streams["stdout"]), _written(streams["stderr"]))


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
