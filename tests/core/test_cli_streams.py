"""What ``planloom run`` prints, for programs as it is, for people with nothing hidden; and what it does without a place
to stand."""

from __future__ import annotations

import errno
import io
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planloom.cli._main import _machine_fault
from planloom.cli._streams import Leaky


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "hostile.plan").write_text('result = args["text"]\n')
    plan, store = str(tmp_path / "hostile.plan"), str(tmp_path / "store.db")
    return [sys.executable, "-m", "planloom", "run", plan, "--store", store, "--arg", 'text="a\\u001b[2Jb"']


def test_a_text_goes_to_a_program_as_it_is(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.stdout == b"a\x1b[2Jb\n", done.stderr


def test_a_text_goes_to_a_terminal_with_its_escape_sequences_named(command: list[str]) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE) as process:
        _, remarks = process.communicate(timeout=60)
    os.close(theirs)
    shown = os.read(ours, 1_000)
    os.close(ours)
    assert shown == "a⟨U+001B⟩[2Jb\r\n".encode(), remarks


def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, command: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *command], cwd=gone, capture_output=True)
    assert done.returncode == 2
    assert done.stderr == (
        b"planloom: the working folder cannot be used (No such file or directory); change to another one\n"
    )


LACKS = [
    (OSError(errno.EMFILE, "Too many open files", "x"), "no more files can be opened (Too many open files); raise the"),
    (OSError(errno.ENOSPC, "No space left on device"), "the output cannot be written: No space left on device; send"),
    (MemoryError(), "there is not enough memory; free some, or audit less at once, and run the same command again"),
]


@pytest.mark.parametrize(("fault", "told"), LACKS)
def test_what_the_machine_lacks_is_no_fault_of_planloom(fault: Exception, told: str) -> None:
    said = _machine_fault(fault)
    assert said is not None
    assert said.startswith(told)


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left", "kept.txt"), ValueError("a fault")])
def test_a_fault_of_planloom_is_not_blamed_on_the_machine(fault: Exception) -> None:
    assert _machine_fault(fault) is None


def test_what_is_told_through_a_stream_may_outlive_it() -> None:
    stream = io.StringIO()
    leaky = Leaky(stream, BrokenPipeError)
    stream.close()
    leaky.close()
    assert leaky.closed


def test_ctrl_c_while_the_command_line_is_imported_ends_it_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "planloom", "runs"]
    done = subprocess.run(command, capture_output=True, timeout=60, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
