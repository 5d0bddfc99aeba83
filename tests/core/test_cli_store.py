"""``planloom store`` as a person uses it."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.here import Ended, planloom_here

from planloom.stores import Store
from planloom.testing.store_samples import LONG_TEXT, a_question, a_reply, a_run, a_thread, events_of, grant
from planloom_sqlite import open_store


def planloom(folder: Path, *arguments: str, code: int = 0) -> Ended:
    """Run a command that ends with a code."""
    done = planloom_here(folder, "store", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


async def _fill(store: Store) -> None:
    await store.open_budget("job", 5_000_000)
    await store.settle(await grant(store, a_question(1, LONG_TEXT), 200_000), a_reply("an answer", 100_000))
    await store.mark_uncertain(await grant(store, a_question(2), 200_000))
    await store.save_run(a_run(1, status="completed"))
    await store.save_threads([a_thread(1)])
    await store.append_events("run-1", events_of("run.created", "run.ended"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a store that holds one run."""

    async def scenario() -> None:
        store = open_store(tmp_path / ".planloom" / "store.db")
        await _fill(store)
        await store.close()

    asyncio.run(scenario())
    return tmp_path


def _damage(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / ".planloom" / "store.db")
    connection.executescript(statement)
    connection.close()


def test_check_says_that_a_store_is_whole(folder: Path) -> None:
    assert "is whole" in planloom(folder, "check").stdout


def test_check_prints_each_fault_on_a_line_and_ends_with_1(folder: Path) -> None:
    _damage(folder, "UPDATE reply SET body = x'00'; UPDATE budget SET spent = 0")
    done = planloom(folder, "check", code=1)
    assert done.stdout.splitlines() == [
        "reply 1 does not fit its hash",
        "budget `job` says 0 micro-credits are spent, and its calls add up to 100000",
    ]
    assert "2 faults in" in done.stderr


def test_check_of_no_store_says_so_and_makes_none(tmp_path: Path) -> None:
    assert "there is no store at" in planloom(tmp_path, "check", code=1).stderr
    assert list(tmp_path.iterdir()) == []


def test_stats_show_content_and_money(folder: Path) -> None:
    shown = planloom(folder, "stats").stdout
    assert re.search(r"replies +1 ", shown)
    assert re.search(r"A run +5\.0 +0\.1 +0\.0 +0\.2 +run-1", shown)
    assert "1 call of unknown outcome stays charged at its worst price" in shown


def test_stats_as_json_give_money_in_credits(folder: Path) -> None:
    stats = json.loads(planloom(folder, "stats", "--json").stdout)
    assert stats["budgets"]["job"] == {
        "cap": 5.0,
        "spent": 0.1,
        "reserved": 0.0,
        "uncertain": 0.2,
        "runs": [{"run": "run-1", "title": "A run"}],
    }
    assert {weight["kind"]: weight["count"] for weight in stats["weights"]}["threads"] == 1


def test_money_whose_runs_were_pruned_stays_and_says_so(folder: Path) -> None:
    planloom(folder, "prune", "--status", "completed", "--yes")
    shown = planloom(folder, "stats").stdout
    assert re.search(r"\(pruned\) +5\.0 +0\.1 +0\.0 +0\.2 +none kept \(job\)", shown)


def test_prune_shows_what_would_go_until_it_is_told_yes(folder: Path) -> None:
    choice = ("prune", "--status", "completed", "--answers")
    shown = planloom(folder, *choice)
    assert shown.stdout.startswith("run-1\n1 run would go: 1 thread, 2 events, ")
    assert "say --yes" in shown.stderr
    gone = planloom(folder, *choice, "--yes").stdout
    assert gone == shown.stdout.replace("would go", "went")
    assert planloom(folder, *choice).stdout.startswith("0 runs would go")
    assert "is whole" in planloom(folder, "check").stdout


def test_prune_wants_to_hear_which_runs(folder: Path) -> None:
    assert "--older-than DAYS" in planloom(folder, "prune", "--yes", code=2).stderr


def test_an_export_is_a_record_a_line_for_its_owner_alone(folder: Path) -> None:
    printed = planloom(folder, "export").stdout
    kinds = [json.loads(line)["kind"] for line in printed.splitlines()]
    assert kinds == [
        "budget",
        "run",
        "thread",
        "event",
        "event",
        "call",
        "call",
        "part",
        "question",
        "question",
        "reply",
    ]
    planloom(folder, "export", "--out", "all.jsonl")
    assert (folder / "all.jsonl").read_text() == printed
    assert (folder / "all.jsonl").stat().st_mode & 0o077 == 0
    planloom(folder, "export", "--kind", "call", "--out", "all.jsonl", code=2)
    assert (folder / "all.jsonl").read_text() == printed


def test_whoever_stops_reading_an_export_ends_it_quietly(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "planloom", "store", "export"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
