"""What a person names and is not what they think: stores on odd paths, devices, folders for configurations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Shell

pytestmark = pytest.mark.command

ODD_PLACES = [
    "a b.db",
    "é\U0001f600.db",
    "100%.db",
    "q?mode=memory.db",
    "h#x.db",
    "new\nline.db",
    "-dash.db",
    "file:x.db",
    "~nobody-of-that-name.db",
    "~nobody-of-that-name/x.db",
    "./a/../b.db",
    "folder/",
    "deep/" * 40 + "x.db",
    "\x1b[31m.db",
    "'q\".db",
    "a;b.db",
    " ",
    os.fsdecode(b"\xff.db"),
]


@pytest.mark.parametrize("place", ODD_PLACES, ids=ascii)
def test_a_store_on_an_odd_path_is_a_store(shell: Shell, place: str) -> None:
    assert shell.here("run", "job.plan", "--store", place).code == 0
    assert "completed" in shell.here("runs", "--store", place).output
    assert shell.here("run", "job.plan", "--store", place).code == 0
    assert shell.here("store", "check", "--store", place).code == 0
    assert shell.server.total == 1
    assert (shell.path / place).is_file()


NO_PLACES = {
    "": "is a folder",
    ".": "is a folder",
    "x" * 300 + ".db": "File name too long",
    "/dev/null": "name another place with --store",
    "/dev/full": "its disk is full",
    "/proc/x.db": "make the file and its folder writable",
    "job.plan": "is not",
    "loop.db": "make the file and its folder writable",
}


@pytest.mark.parametrize(("place", "said"), NO_PLACES.items(), ids=lambda value: ascii(value[:12]))
def test_what_cannot_be_a_store_is_said_before_anything_is_asked(shell: Shell, place: str, said: str) -> None:
    (shell.path / "loop.db").symlink_to("loop.db")
    ended = shell.here("run", "job.plan", "--store", place)
    assert (ended.code, shell.server.total) == (1, 0)
    assert said in ended.remarks


def test_a_home_that_is_written_short_is_the_same_wherever_it_stands(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    shell.configure(**{'"store.db"': '"~/kept.db"'})
    assert shell.here("run", "job.plan").code == 0
    assert "completed" in shell.here("runs", "--store", "~/kept.db").output
    assert (home / "kept.db").is_file()
    assert not (shell.path / "~").exists()


def test_a_detached_run_is_in_the_store_that_was_named_short(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    ended = shell.line("planloom run job.plan --detach --yes --store '~/kept.db'", HOME=str(tmp_path / "home"))
    assert ended.code == 0, ended.remarks
    run = ended.output.strip()
    followed = shell.line(f"planloom follow {run} --store ~/kept.db", HOME=str(tmp_path / "home"))
    assert followed.code == 0, followed.remarks
    assert shell.server.total == 1


ENDLESS = {
    "arguments": ("run", "job.plan", "--args-file", "/dev/zero"),
    "a configuration": ("runs", "--config", "/dev/zero"),
    "a plan": ("run", "/dev/zero"),
    "a plan to check": ("check", "/dev/zero"),
}


@pytest.mark.parametrize("arguments", ENDLESS.values(), ids=ENDLESS.keys())
def test_a_device_without_end_is_not_read_to_its_end(shell: Shell, arguments: tuple[str, ...]) -> None:
    ended = shell.here(*arguments)
    assert (ended.code, shell.server.total) == (2, 0)
    assert "/dev/zero" in ended.remarks


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing"])
def test_a_configuration_that_is_no_file_is_not_passed_over(shell: Shell, kind: str) -> None:
    config = shell.path / "planloom.toml"
    config.unlink()
    if kind == "folder":
        config.mkdir()
    elif kind == "pipe":
        os.mkfifo(config)
    else:
        config.symlink_to("gone.toml")
    ended = shell.here("run", "job.plan")
    assert ended.code == 2
    assert "planloom.toml is not a file that can be read" in ended.remarks


def test_arguments_are_read_from_a_pipe(shell: Shell) -> None:
    (shell.path / "job.plan").write_text('result = args["n"]\n')
    ended = shell.line("planloom run job.plan --args-file <(echo '{\"n\": 7}')")
    assert (ended.code, ended.output) == (0, "7\n")


@pytest.mark.parametrize("name", [b"\xff.plan", "é\n\x1b[2J.plan".encode(), b"-.plan"], ids=ascii)
def test_a_plan_may_have_any_name(shell: Shell, name: bytes) -> None:
    plan = os.fsdecode(name)
    (shell.path / "job.plan").rename(shell.path / plan)
    ended = shell.here("run", "--", plan)
    assert ended.code == 0
    assert "\x1b" not in ended.remarks
    assert "completed" in shell.here("runs").output


def test_commands_of_the_store_can_be_run_one_after_the_other_in_one_process(shell: Shell) -> None:
    assert shell.here("run", "job.plan").code == 0
    for _ in range(2):
        assert shell.here("store", "check").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"x": 1, "x": 2}', "the key `x` stands twice in one object of the arguments"),
        ('{"x": {"y": 1, "y": 1}}', "the key `y` stands twice in one object of the arguments"),
        ("[1]", "args.json holds a list; arguments must be one JSON object"),
        ("null", "args.json holds null; arguments must be one JSON object"),
        ('{"\\ud800": 1}', "the argument `⟨U+D800⟩` has no form that can be kept with a run"),
    ],
)
def test_arguments_of_which_nobody_knows_what_is_meant_are_refused(shell: Shell, text: str, said: str) -> None:
    (shell.path / "args.json").write_text(text)
    ended = shell.here("run", "job.plan", "--args-file", "args.json")
    assert (ended.code, said in ended.remarks) == (2, True), ended.remarks
    assert shell.server.total == 0


def test_an_argument_with_a_key_twice_is_refused_on_the_command_line_too(shell: Shell) -> None:
    ended = shell.here("run", "job.plan", "--arg", 'x={"a": 1, "a": 2}')
    assert (ended.code, "the key `a` stands twice" in ended.remarks) == (2, True)
