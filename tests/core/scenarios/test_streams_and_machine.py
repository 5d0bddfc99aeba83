"""What the machine does around a run: streams that nobody reads or that are closed, no home, few files, little room, an
odd locale. The run ends as it would have, and its exit code says how."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import pytest

from planloom.testing.loopback import Received, Served, completion, json_answer

if TYPE_CHECKING:
    from .conftest import Shell

MakeShell = Callable[..., "Shell"]
pytestmark = pytest.mark.command
LOST = 'result = [agent("is it so?"), agent("bad")]\n'


def some_bad(request: Received) -> Served:
    if "bad" in request.question:
        return json_answer({"error": {"message": "refused"}}, status=400)
    return completion(f"ok: {request.question}")


UNREAD = {
    "nobody reads the output": "planloom run job.plan | true; exit ${PIPESTATUS[0]}",
    "nobody reads anything": "planloom run job.plan 2>&1 | true; exit ${PIPESTATUS[0]}",
    "the input is closed": "planloom run job.plan <&-",
    "all is closed": "planloom run job.plan <&- >&- 2>&-",
    "the remarks are full": "planloom run job.plan 2>/dev/full",
}


@pytest.mark.parametrize("line", UNREAD.values(), ids=UNREAD.keys())
def test_a_run_ends_as_it_does_whoever_reads_what_it_says(shell_with: MakeShell, line: str) -> None:
    shell = shell_with(some_bad, LOST)
    assert shell.line(line).code == 3
    assert (shell.newest().status, shell.newest().result) == ("completed", ["ok: is it so?", None])
    assert shell.server.total == 2


def test_a_replay_that_nobody_reads_ends_as_it_does(shell: Shell) -> None:
    assert shell.here("run", "job.plan").code == 0
    assert shell.line(f"planloom replay {shell.newest().id} --json | true; exit ${{PIPESTATUS[0]}}").code == 0


def test_an_output_that_is_full_is_said_and_nothing_is_paid_for_twice(shell: Shell) -> None:
    ended = shell.line("planloom run job.plan >/dev/full")
    assert ended.code == 1
    assert "the output cannot be written: No space left on device" in ended.remarks
    assert shell.line("planloom run job.plan").output == "ok: is it so?\n"
    assert shell.server.total == 1


@attrs.frozen
class Around:
    """A machine: a line of bash, and variables."""

    line: str = "planloom run job.plan"
    environment: dict[str, str | None] = attrs.field(factory=dict)


VARIABLES: dict[str, dict[str, str | None]] = {
    "no home": {"HOME": None, "XDG_STATE_HOME": None},
    "a home that is a file": {"HOME": "/dev/null", "XDG_STATE_HOME": "/dev/null"},
    "no column": {"COLUMNS": "0", "TERM": "dumb"},
}


@pytest.mark.parametrize("environment", VARIABLES.values(), ids=VARIABLES.keys())
def test_a_run_needs_little_of_an_environment(shell: Shell, environment: dict[str, str | None]) -> None:
    ended = shell.here("run", "job.plan", **environment)
    assert (ended.code, ended.output) == (0, "ok: is it so?\n"), ended.remarks
    assert shell.server.total == 1


MACHINES = {
    "a locale of ASCII": Around(environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}),
    "no rights for anybody": Around("umask 777; planloom run job.plan"),
    "twenty files": Around("ulimit -n 20; planloom run job.plan"),
}


@pytest.mark.parametrize("around", MACHINES.values(), ids=MACHINES.keys())
def test_a_run_needs_little_of_a_machine(shell: Shell, around: Around) -> None:
    ended = shell.line(around.line, **around.environment)
    assert (ended.code, ended.output) == (0, "ok: is it so?\n"), ended.remarks
    assert shell.server.total == 1


def test_a_store_that_cannot_even_begin_is_said_before_anything_is_asked(shell: Shell) -> None:
    ended = shell.line("ulimit -f 8; planloom run job.plan")
    assert (ended.code, shell.server.total) == (1, 0)
    assert "cannot grow: its disk is full or a size limit is reached" in ended.remarks
