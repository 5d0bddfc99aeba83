"""The commands take their steps through the Python API, and wait for no part of it that they do not need."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import planloom
from planloom.testing.folders import Folder
from planloom.testing.loopback import echo, serving

WHAT_DRIVES_AND_STORES = {"planloom.loom", "planloom._execution", "planloom.resuming", "planloom.replaying"}
WHAT_RUNS_PLANS = ("jsonschema", "planlang._interp", "planloom.front_door", "planloom.jobs", "planloom.loom")


@pytest.mark.parametrize("module", ["_plans", "_resume", "_runs", "_steer", "running"])
def test_a_command_about_runs_takes_what_it_does_with_them_from_the_api(module: str) -> None:
    path = import_module(f"planloom.cli.{module}").__file__
    assert path is not None
    nodes = [node for node in ast.walk(ast.parse(Path(path).read_text())) if isinstance(node, ast.ImportFrom)]
    taken = {(node.module, alias.name) for node in nodes for alias in node.names}
    assert {source for source, _ in taken} & WHAT_DRIVES_AND_STORES == set()
    assert ("planloom.stores", "Store") not in taken
    assert ("planloom.api", "open_with") in taken


@pytest.mark.parametrize("command", ["runs", "show", "follow"])
def test_a_command_that_only_looks_at_runs_imports_nothing_that_runs_one(tmp_path: Path, command: str) -> None:
    with serving(echo) as server:
        folder = Folder(tmp_path, server, 'result = agent("a")\n')

        async def make() -> str:
            async with planloom.open(tmp_path) as loom:
                run = await loom.start('result = agent("a")\n')
                await run
                return run.id

        run = asyncio.run(make())
        arguments = [command] if command == "runs" else [command, run]
        code = (
            f"import sys; from planloom.cli._main import _run; assert _run({arguments}) == 0; "
            f"print('imported', sorted(set({WHAT_RUNS_PLANS}) & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=folder.path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr, done.stdout.splitlines()[-1]) == (0, "", "imported []")
