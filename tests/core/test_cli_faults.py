"""What a person is told when something is not as it should be: one sentence, what to do, and the exit code."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.here import planloom_here

from planloom.testing.loopback import Served, completion, json_answer, serving

ENDPOINT = '[endpoints.main]\nclient = "openai"\nurl = "URL"\n'
WORKER = '[roles.worker]\nendpoint = "main"\nmodel = "m-1"\nprice = { call = 0.2 }\n'
STORE = '[store]\npath = "store.db"\n'
CONFIG = ENDPOINT + WORKER + STORE
ONE = 'result = agent("is it so?")\n'
MANY = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(300)])\n'


class Shell:
    """A working folder, and ``planloom`` run in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> None:
        """Write a file of the folder."""
        (self.path / name).write_text(text)

    def run(self, *arguments: str) -> str:
        """Run a command in a process of its own; return its exit code and what it said on standard error."""
        done = subprocess.run(
            [sys.executable, "-m", "planloom", *arguments],
            cwd=self.path,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return self._told(done.returncode, done.stdout, done.stderr)

    def run_here(self, *arguments: str) -> str:
        """Do the same in this process, which takes a tenth of the time."""
        ended = planloom_here(self.path, *arguments)
        return self._told(ended.returncode, ended.stdout, ended.stderr)

    def _told(self, code: object, output: str, remarks: str) -> str:
        """Make places equal."""
        said = re.sub(r"127\.0\.0\.1(:|', )\d+", "SERVER", remarks.replace(str(self.path), "FOLDER"))
        said = re.sub(r"formats up to \d+", "formats up to LATEST", said)
        said = re.sub(r"\bjob-[0-9a-f]{6}\b", "job-ID", re.sub(r"\| \d+\.\d s", "| SECONDS", said))
        assert "Traceback" not in said + output
        return f"exit code {code}\n{_last_words(said)}"


def _last_words(said: str) -> str:
    """Leave the rehearsal's table out; it is not what went wrong."""
    lines = [line.rstrip() for line in said.splitlines()]
    begins = next((n for n, line in enumerate(lines) if line.startswith("planloom:") or " | " in line), 0)
    return "\n".join(lines[begins:])


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("COLUMNS", "200")
    return Shell(tmp_path)


@contextmanager
def configured(shell: Shell, plan: str, answer: Served, config: str = CONFIG) -> Iterator[None]:
    """Serve an answer, and write a plan and a configuration that leads there."""
    with serving(answer) as server:
        shell.write("job.plan", plan)
        shell.write("planloom.toml", config.replace("URL", server.url))
        yield


COMMANDS: dict[str, tuple[str, ...]] = {
    "an unknown command": ("adit", "."),
    "an unknown option": ("runs", "--limt", "3"),
    "a plan that is not there": ("run", "gone.plan"),
    "a folder for a plan": ("run", "."),
    "a configuration that is not there": ("runs", "--config", "gone.toml"),
    "an amount that is no number": ("run", "gone.plan", "--cap", "much"),
    "an argument without a name": ("run", "ok.plan", "--arg", "7"),
    "an argument that no record can hold": ("run", "ok.plan", "--arg", "n=123456789012345678901234567890"),
    "arguments from a file that is no JSON": ("run", "ok.plan", "--args-file", "ok.plan"),
    "an unknown run": ("show", "no-such-run"),
    "an unknown prompt": ("prompts", "audit.scna"),
    "an unknown code": ("explain", "PL999"),
    "a folder that is not there": ("audit", "gone"),
    "an empty folder": ("audit", "empty"),
    "a folder without source files": ("audit", "texts"),
    "a store in a folder's place": ("runs", "--store", "empty"),
    "a store in a file's place": ("runs", "--store", "ok.plan"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_that_cannot_be_done_says_why(
    shell: Shell, snapshot: SnapshotAssertion, arguments: tuple[str, ...]
) -> None:
    shell.write("ok.plan", ONE)
    (shell.path / "empty").mkdir()
    (shell.path / "texts").mkdir()
    shell.write("texts/readme.txt", "no code here\n")
    assert shell.run_here(*arguments) == snapshot


def test_arguments_that_are_nested_too_deeply_are_a_fault_of_the_file(shell: Shell) -> None:
    shell.write("ok.plan", ONE)
    shell.write("deep.json", f'{{"a": {"[" * 100_000}{"]" * 100_000}}}')
    assert "cannot read arguments from deep.json" in shell.run_here("run", "ok.plan", "--args-file", "deep.json")


PLANS: dict[str, bytes] = {
    "not UTF-8": b"result = '\xff'\n",
    "too long": b"#" * 1_000_001,
    "not a plan": b"while True:\n    pass\n",
    "a misspelled word": b"result = agnet('x')\n",
    "an unknown role": b"result = agent('x', model='jugde')\n",
    "fails in rehearsal": b"result = agent('x')['key']\n",
}


@pytest.mark.parametrize("content", PLANS.values(), ids=PLANS.keys())
def test_a_plan_that_cannot_be_run_is_refused_before_anything_is_spent(
    shell: Shell, snapshot: SnapshotAssertion, content: bytes
) -> None:
    (shell.path / "job.plan").write_bytes(content)
    assert shell.run_here("run", "job.plan") == snapshot


SETTINGS: dict[str, str] = {
    "a misspelled table": "[budgte]\ncap = 1\n",
    "a price missing": ENDPOINT + '[roles.worker]\nendpoint = "main"\nmodel = "m-1"\n',
    "a role that is not configured": ENDPOINT + WORKER.replace("worker", "lead"),
    "a key that is not set": CONFIG.replace('url = "URL"', 'url = "URL"\nkey_env = "NO_SUCH_KEY"'),
    "a gate that is not installed": CONFIG + '[gate]\npolicy = "lenient"\n',
    "a store that is not installed": CONFIG.replace("path", 'kind = "postgres"\npath'),
    "no address": ENDPOINT.replace("URL", "") + WORKER,
}


@pytest.mark.parametrize("config", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_configuration_that_cannot_be_used_is_told_before_anything_is_asked(
    shell: Shell, snapshot: SnapshotAssertion, config: str
) -> None:
    with configured(shell, ONE, completion("yes"), config):
        assert shell.run_here("run", "job.plan") == snapshot


def refused(status: int) -> Served:
    return json_answer({"error": {"message": "no such luck"}}, status=status)


SERVERS: dict[str, Served] = {
    "the key is refused": refused(401),
    "the model is unknown": json_answer(
        {"error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}}, status=404
    ),
    "the question is refused": refused(400),
}


@pytest.mark.parametrize("answer", SERVERS.values(), ids=SERVERS.keys())
def test_a_server_that_refuses_is_told_with_what_to_do(
    shell: Shell, snapshot: SnapshotAssertion, answer: Served
) -> None:
    with configured(shell, ONE, answer):
        assert shell.run_here("run", "job.plan") == snapshot


def test_an_account_that_is_used_up_stops_a_run_that_is_not_to_wait(shell: Shell, snapshot: SnapshotAssertion) -> None:
    with configured(shell, ONE, refused(402), CONFIG + '[limits]\nat_quota = "stop"\n'):
        assert shell.run_here("run", "job.plan") == snapshot


@pytest.mark.slow
def test_a_server_that_is_down_leaves_holes_and_says_so(shell: Shell, snapshot: SnapshotAssertion) -> None:
    with configured(shell, ONE, completion("yes")):
        pass
    assert shell.run("run", "job.plan") == snapshot


def test_a_job_that_cannot_afford_its_first_call_says_what_it_needs(shell: Shell, snapshot: SnapshotAssertion) -> None:
    with configured(shell, ONE, completion("yes")):
        assert shell.run_here("run", "job.plan", "--cap", "0.1") == snapshot


def test_a_plan_that_needs_approval_is_held_where_nobody_can_be_asked(
    shell: Shell, snapshot: SnapshotAssertion
) -> None:
    with configured(shell, MANY, completion("yes")):
        assert shell.run_here("run", "job.plan") == snapshot


def test_a_store_of_a_newer_planloom_is_refused(shell: Shell, snapshot: SnapshotAssertion) -> None:
    with configured(shell, ONE, completion("yes")):
        shell.run_here("runs")
        with closing(sqlite3.connect(shell.path / "store.db")) as connection:
            connection.execute("PRAGMA user_version = 999")
        assert shell.run_here("run", "job.plan") == snapshot


@pytest.mark.slow
def test_a_store_that_another_process_keeps_locked_is_refused(shell: Shell, snapshot: SnapshotAssertion) -> None:
    with configured(shell, ONE, completion("yes")):
        shell.run_here("runs")
        with closing(sqlite3.connect(shell.path / "store.db", isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            assert shell.run_here("run", "job.plan") == snapshot


def test_without_a_command_help_is_shown(shell: Shell) -> None:
    assert shell.run().startswith("exit code 2")


@pytest.mark.parametrize("path", ["empty", "texts"])
def test_no_source_files_is_an_exit_code_of_its_own(shell: Shell, path: str) -> None:
    (shell.path / "empty").mkdir()
    (shell.path / "texts").mkdir()
    assert shell.run_here("audit", path).startswith("exit code 7")
