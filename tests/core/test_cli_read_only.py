"""Commands in a folder where nothing can be written: one that is mounted read-only, or closed to this user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.here import Ended, FolderHere

from planloom.testing.folders import Folder
from planloom.testing.loopback import echo, serving

PLAN = 'result = [agent("a"), agent("b")]\n'
ROOT = Path(__file__).parents[2]
_MOUNTED = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"'
Command = Callable[..., Ended]


def _prefix(how: str) -> list[str]:
    """Return what a command begins with where the working folder cannot be written."""
    if how == "closed":
        # Root may write anything, by this right.
        return ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("this user may mount nothing")
    return ["unshare", "-m", "sh", "-c", _MOUNTED, "sh"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Give a folder with one run of two workers, for all tests: none can change it. Not below pytest's own, whose
    parents are closed to other users."""
    with tempfile.TemporaryDirectory() as name, serving(echo) as server:
        made: Folder = FolderHere(Path(name), server, PLAN)
        made.path.chmod(0o755)
        code, _, remarks = made.run("run", "job.plan", "--title", "kept")
        assert code == 0, remarks
        yield made.path


@pytest.fixture(scope="module", params=["mounted", "closed"])
def planloom(folder: Path, request: pytest.FixtureRequest) -> Iterator[Command]:
    """Give what runs a command in the folder, where nothing can be written any more, in one process for all of them."""
    prefix = _prefix(request.param)
    if request.param == "closed":
        for path in (folder / "store.db", folder):
            path.chmod(path.stat().st_mode & ~0o222)
    with subprocess.Popen(
        [*prefix, sys.executable, "-m", "tests.core.read_only_process"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run(*arguments: str) -> Ended:
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps(arguments), file=process.stdin, flush=True)
            ended = Ended(*json.loads(process.stdout.readline()))
            assert "Traceback" not in ended.stderr
            return ended

        yield run
    folder.chmod(0o755)


def _only_run(planloom: Command) -> str:
    return planloom("runs").stdout.splitlines()[1].split()[0]


def test_runs_are_listed_shown_replayed_and_followed(planloom: Command) -> None:
    run = _only_run(planloom)
    assert run.startswith("kept-")
    assert "ok: a" in planloom("show", run).stdout
    replayed = planloom("replay", run)
    assert (replayed.returncode, "from 2 stored answers; nothing was asked" in replayed.stderr) == (0, True)
    followed = planloom("follow", run)
    assert (followed.returncode, f"{run} | completed" in followed.stdout) == (0, True)


def test_a_run_is_exported_to_a_folder_that_can_be_written(planloom: Command) -> None:
    run = _only_run(planloom)
    refused = planloom("export", run)
    assert (refused.returncode, "name another folder with --out" in refused.stderr) == (2, True)
    with tempfile.TemporaryDirectory() as out:
        os.chmod(out, 0o777)
        assert planloom("export", run, "--out", f"{out}/it").returncode == 0
        assert "ok: a" in Path(out, "it", "transcripts.jsonl").read_text()


def test_the_store_is_weighed_checked_and_exported(planloom: Command) -> None:
    assert "replies" in planloom("store", "stats").stdout
    assert "is whole" in planloom("store", "check").stdout
    assert '"kind":"reply"' in planloom("store", "export").stdout
    assert "1 run would go" in planloom("store", "prune", "--status", "completed").stdout


@pytest.mark.parametrize(
    "arguments",
    [("run", "job.plan"), ("run", "job.plan", "--detach"), ("store", "prune", "--status", "completed", "--yes")],
)
def test_what_would_write_says_where_it_cannot_and_what_to_do(
    folder: Path, planloom: Command, arguments: tuple[str, ...]
) -> None:
    done = planloom(*arguments)
    assert done.returncode == 1
    assert f"the store {folder / 'store.db'} cannot be written (" in done.stderr
    assert "make the file and its folder writable, or name another place with --store" in done.stderr


def test_a_run_goes_on_with_a_store_in_another_place(planloom: Command) -> None:
    with tempfile.TemporaryDirectory() as other:
        os.chmod(other, 0o777)
        done = planloom("run", "job.plan", "--store", f"{other}/store.db")
        assert done.returncode == 0, done.stderr


def test_where_there_is_no_store_it_is_said_that_none_can_be_made(planloom: Command) -> None:
    done = planloom("run", "job.plan", "--store", ".planloom/store.db")
    assert done.returncode == 1
    assert "the folder .planloom for the store cannot be made (" in done.stderr
    assert "name another place with --store" in done.stderr


def test_where_there_is_no_store_there_are_no_runs_to_look_at(planloom: Command) -> None:
    done = planloom("runs", "--store", ".planloom/store.db")
    assert (done.returncode, done.stdout[:12]) == (0, "no runs yet;")
