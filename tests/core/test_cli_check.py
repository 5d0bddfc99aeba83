"""`planloom check` on whatever a path can lead to: a clear answer, no traceback, no hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from planloom.cli import main

GOOD = b"result = 1\n"


def told(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, its output and its remarks."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.out, said.err


def file_of(folder: Path, data: bytes) -> Path:
    path = folder / "some.plan"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "code", "part"),
    [
        pytest.param(GOOD, 0, "no problems", id="a good plan"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, 0, "no problems", id="a byte order mark"),
        pytest.param(b"result = 1\r\n", 0, "no problems", id="Windows line ends"),
        pytest.param(b"", 6, "PL109", id="nothing"),
        pytest.param(b"x = 1\x00\n" + GOOD, 6, "1:6: PL005 U+0000", id="NUL"),
        pytest.param(b"\x7fELF\x02\x01\x01\x00\x00", 6, "PL005", id="a program"),
        pytest.param(b"\x1b[2J\n" + GOOD, 6, "PL005 U+001B", id="a command to the terminal"),
        pytest.param(b"(" * 200_000, 6, "PL001", id="very many brackets"),
    ],
)
def test_every_text_is_answered_with_its_problems(
    data: bytes, code: int, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    got, output, _ = told(capsys, "check", file_of(tmp_path, data))
    assert got == code
    assert part in output
    assert "\x1b" not in output


@pytest.mark.parametrize(
    ("data", "part"),
    [
        pytest.param(b"result = '\xe4'\n", "is not UTF-8 text: byte 10 cannot be read; save it as UTF-8", id="Latin-1"),
        pytest.param("result = 1\n".encode("utf-16"), "is not UTF-8 text: byte 0", id="UTF-16"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "is not UTF-8 text: byte 0", id="a picture"),
    ],
)
def test_bytes_that_are_no_text_are_named_with_their_place(
    data: bytes, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output, remarks = told(capsys, "check", file_of(tmp_path, data))
    assert (code, output) == (2, "")
    assert part in remarks


def test_a_file_of_a_hundred_megabytes_is_refused_by_its_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(tmp_path, b"")
    os.truncate(path, 100_000_000)
    code, _, remarks = told(capsys, "check", path)
    assert code == 2
    assert remarks.endswith("is larger than a megabyte; a plan has at most 32,000 characters\n")


def test_what_is_no_file_is_refused_without_reading_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        code, _, remarks = told(capsys, "check", path)
        assert code == 2
        assert f"{path} is not a file; name a plan file, a saved plan, or `-` for standard input" in remarks


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gone.plan", "x" * 300):
        code, _, remarks = told(capsys, "check", tmp_path / name)
        assert code == 2
        assert "name a plan file, a saved plan, or `-` for standard input" in remarks


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file_of(tmp_path, GOOD)
    path.chmod(0)
    code, _, remarks = told(capsys, "check", path)
    assert code == 2
    assert f"cannot read {path}: Permission denied" in remarks


def from_standard_input(data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "planloom", *arguments]
    return subprocess.run(command, input=data, capture_output=True, timeout=60)


def test_a_plan_is_read_from_standard_input() -> None:
    done = from_standard_input(b"result = foo\n", "check", "-")
    assert done.returncode == 6
    assert done.stdout.startswith(b"standard input:1:10: PL101 nothing is named `foo`")


def test_standard_input_without_end_is_refused_after_a_megabyte() -> None:
    command = [sys.executable, "-m", "planloom", "check", "-"]
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(command, stdin=endless, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"standard input is larger than a megabyte" in done.stderr
