"""Starting: a command imports what it needs, and is listed without being imported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

import planloom_audit
import planloom_bench
import planloom_code
import planloom_offline
import planloom_sqlite
from planloom.cli import late_command
from planloom.cli._about import explain
from planloom.late import late_names
from planloom.plugins import load_plugins

HEAVY = (
    "aiohttp",
    "asyncio",
    "difflib",
    "jinja2",
    "jsonschema",
    "lark",
    "pathspec",
    "planlang._interp",
    "planloom.front_door",
    "pygments",
    "rich",
    "sqlite3",
)
PLAN = Path(__file__).parents[2] / "plugins" / "planloom_audit" / "plans" / "fixed.plan"
LATE = [command for command in load_plugins().all("command", click.Command).values() if hasattr(command, "real")]


def heavy_after(code: str, *arguments: str) -> str:
    """Return the heavy modules that a fresh process has imported after running some code."""
    code += f"; import sys; print('imported', sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_loading_the_plugins_imports_nothing_that_only_some_commands_need() -> None:
    assert heavy_after("from planloom.plugins import load_plugins; load_plugins()") == "imported []"


def test_checking_a_plan_imports_nothing_that_runs_or_shows_one() -> None:
    code = "from planloom.cli._main import _run; _run(['check', __import__('sys').argv[1]])"
    assert heavy_after(code, str(PLAN)) == "imported []"


@pytest.mark.parametrize("client", ["openai", "anthropic"])
def test_a_client_that_is_asked_nothing_imports_no_http_client(client: str) -> None:
    code = (
        f"from planloom_{client} import open_client; from planloom.clients import Endpoint; "
        f"open_client(Endpoint(name='main', client='{client}', url='http://127.0.0.1:1/v1'))"
    )
    assert not {"aiohttp"} & set(re.findall(r"\w+", heavy_after(code)))


@pytest.mark.parametrize("command", LATE, ids=lambda command: str(command.name))
def test_a_late_command_is_listed_as_the_command_says_it_itself(command: click.Command) -> None:
    real = command.real  # type: ignore[attr-defined]  # LATE holds those that have one
    assert (command.name, command.get_short_help_str(200)) == (real.name, real.get_short_help_str(200))


LATE_EXPLAIN = late_command("explain", "Print a page.", "planloom.cli._about:explain")


def output(command: click.Command, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command, arguments, prog_name="explain")
    return done.exit_code, done.output


def test_a_late_command_runs_inside_a_group() -> None:
    group = click.Group(commands={"explain": LATE_EXPLAIN})
    assert output(group, "explain", "PL031") == output(explain, "PL031")


@pytest.mark.parametrize("arguments", [("PL031",), ("--help",), ("PL031", "and more")])
def test_a_late_command_by_itself_does_and_says_what_the_command_does(arguments: tuple[str, ...]) -> None:
    assert output(LATE_EXPLAIN, *arguments) == output(explain, *arguments)


def test_a_late_command_is_described_as_the_command_itself() -> None:
    context = click.Context(LATE_EXPLAIN, info_name="explain")
    assert LATE_EXPLAIN.to_info_dict(context) == explain.to_info_dict(context)
    assert LATE_EXPLAIN.get_help(context) == explain.get_help(context)


@pytest.mark.parametrize("package", [planloom_audit, planloom_bench, planloom_code, planloom_offline, planloom_sqlite])
def test_every_name_that_a_plugin_offers_late_is_there(package: ModuleType) -> None:
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


def test_a_name_that_a_package_does_not_offer_is_missing_as_usual() -> None:
    with pytest.raises(AttributeError, match="module 'pack' has no attribute 'nothing'"):
        late_names("pack", {})("nothing")
