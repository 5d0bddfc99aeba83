"""A working folder with a configuration that leads to a scripted server, and ``planloom`` run in it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import attrs
import pytest
from tests.here import planloom_here

from planloom.testing.folders import Folder
from planloom.testing.loopback import Script, echo, serving

ONE = 'result = agent("is it so?")\n'


@attrs.frozen
class Ended:
    """How a command ended."""

    code: int | str | None
    output: str
    remarks: str


class Shell(Folder):
    """A folder whose commands are also run in this process, which takes a tenth of the time, or by a real shell."""

    def here(self, *arguments: str, **environment: str | None) -> Ended:
        ended = planloom_here(self.path, *arguments, env=environment)
        return _fit(Ended(ended.returncode, ended.stdout, ended.stderr))

    def line(self, line: str, **environment: str | None) -> Ended:
        """Run a line of bash, in which ``planloom`` is this one; a variable that is ``None`` is taken away."""
        kept = {**os.environ, **environment}
        done = subprocess.run(
            ["bash", "-c", f'planloom() {{ {shlex.quote(sys.executable)} -m planloom "$@"; }}\n{line}'],
            cwd=self.path,
            env={name: value for name, value in kept.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return _fit(Ended(done.returncode, done.stdout, done.stderr))


def _fit(ended: Ended) -> Ended:
    """Whatever happened, no traceback reaches a person."""
    for said in (ended.output, ended.remarks):
        assert "Traceback" not in said
        assert "a fault of planloom itself" not in said
    return ended


@pytest.fixture
def shell_with(tmp_path: Path) -> Iterator[Callable[..., Shell]]:
    """Make a folder with a plan (``agent("is it so?")``) and a server (which repeats the question)."""
    with ExitStack() as stack:

        def make(script: Script = echo, plan: str = ONE) -> Shell:
            shell = Shell(tmp_path, stack.enter_context(serving(script)), plan)
            stack.callback(shell.end)
            return shell

        yield make


@pytest.fixture
def shell(shell_with: Callable[..., Shell]) -> Shell:
    return shell_with()
