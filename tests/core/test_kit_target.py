"""What a kit is given to work on: the same whole path each time, so that a kit as simple as the how-to's can go on."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

from planloom.api import Planloom, open_with
from planloom.configuration import load_settings
from planloom.plugins import load_plugins
from planloom.testing.folders import CONFIG, Folder
from planloom.testing.loopback import LoopbackServer, Received, echo

from .asking import MakeFolder, refused

ROOT = Path(__file__).parents[2]
ANSWER = "ok: List the TODO comments in this text.\n\n# TODO: mend this"
PLAN = 'result = summarise_todos("# TODO: mend this")\n'

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documents are not beside these tests")


def kit_of_the_how_to() -> str:
    page = (ROOT / "docs/how-to/write-a-kit.md").read_text()
    return str(re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0])


@attrs.define
class Refusing:
    """A server's script that refuses all questions, until it is told to answer."""

    refuses: bool = True

    def __call__(self, request: Received) -> Any:
        return refused() if self.refuses else echo(request)


@pytest.fixture
def script() -> Refusing:
    return Refusing()


@pytest.fixture
def folder(folder_with: MakeFolder, script: Refusing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A folder whose commands have the kit of the how-to, as if it were installed."""
    site = tmp_path / "site"
    info = site / "planloom_todo-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planloom-todo\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[planloom]\ntodo = planloom_todo\n")
    (site / "planloom_todo.py").write_text(kit_of_the_how_to())
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    folder = folder_with(script, PLAN)
    folder.configure(**{"[roles.worker]": "[roles.fast]"})
    return folder


def command(folder: Folder, *arguments: str) -> tuple[int, str, str]:
    """Run a command as a process of its own, which has what is installed; its exit code, output and remarks."""
    return Folder.run(folder, *arguments)


def test_a_run_of_the_how_tos_kit_goes_on_with_the_target_it_was_begun_with(folder: Folder, script: Refusing) -> None:
    code, _, remarks = command(folder, "run", "job.plan", "--target", ".", "--trust-config")
    assert code == 3, remarks
    script.refuses = False
    code, output, remarks = command(folder, "resume", folder.newest().id, "--trust-config")
    assert (code, output.strip()) == (0, ANSWER), remarks


def test_a_detached_run_of_the_how_tos_kit_is_driven(folder: Folder, script: Refusing) -> None:
    script.refuses = False
    code, output, remarks = command(folder, "run", "job.plan", "--target", ".", "--trust-config", "--detach")
    assert (code, output.strip()) == (0, folder.newest().id), remarks
    folder.wait_until(lambda: folder.newest().status == "completed")


def test_a_detached_run_that_cannot_begin_says_once_who_says_so(folder: Folder, script: Refusing) -> None:
    text = (folder.path / "site" / "planloom_todo.py").read_text()
    # A kit whose work is never the same twice.
    unsteady = text.replace("return self.target", "import os; return f'{self.target} {os.getpid()}'")
    (folder.path / "site" / "planloom_todo.py").write_text(unsteady)
    code, _, remarks = command(folder, "run", "job.plan", "--target", ".", "--trust-config", "--detach")
    assert code == 1
    assert remarks.count("planloom: ") == 1, remarks
    assert "planloom: the run cannot go on as it was begun" in remarks


@contextmanager
def in_folder(path: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        yield


def test_from_python_a_kit_is_given_a_whole_path_whatever_was_written(tmp_path: Path) -> None:
    module = ModuleType("planloom_todo")
    exec(kit_of_the_how_to(), module.__dict__)
    registry = load_plugins([("todo", module)])
    script = Refusing()

    async def scenario(loom: Planloom) -> None:
        run = await loom.start(PLAN, target=".")
        assert (await run).holes == 1
        assert run.target == str(tmp_path.resolve())
        proposal = await loom.propose(PLAN, target=".")
        assert proposal.job.works["todo"].digest() == str(tmp_path.resolve())
        script.refuses = False
        assert (await (await loom.resume(run.id))).result == ANSWER

    async def main() -> None:
        async with LoopbackServer(script) as server:
            config = CONFIG.format(url=server.url).replace("[roles.worker]", "[roles.fast]")
            (tmp_path / "planloom.toml").write_text(config)
            settings = load_settings(registry, folder=tmp_path)
            async with open_with(registry, settings) as loom:
                await scenario(loom)

    with in_folder(tmp_path):
        asyncio.run(main())
