"""What ``planloom run`` prints: for programs as it is, for people with nothing hidden."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest


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
