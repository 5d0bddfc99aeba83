"""Which cap of the store counts: the word that was said last, in the configuration or with ``planloom store cap``."""

from __future__ import annotations

import json

import pytest

from planloom.testing.folders import Folder
from planloom.testing.loopback import echo

from .asking import MakeFolder

SEES = 'left = budget()\nagent(args["q"])\nresult = left\n'
PRICES_WHAT_IS_LEFT = 'result = parallel([lambda i=i: agent(f"{i}") for i in range(int(budget() * 5))])\n'


def configure_cap(folder: Folder, cap: str) -> None:
    folder.configure(**{'path = "store.db"': f'path = "store.db"\ncap = {cap}'})


def rehearsed_workers(folder: Folder) -> int:
    """Return how many workers a rehearsal of a plan that spends all it sees has."""
    (folder.path / "spends.plan").write_text(PRICES_WHAT_IS_LEFT)
    return int(json.loads(folder.run("rehearse", "spends.plan", "--json")[1])["agents"])


def seen_by_a_run(folder: Folder, question: str) -> float:
    code, output, remarks = folder.run("run", "job.plan", "--arg", f"q={question}", "--yes")
    assert code == 0, remarks
    return float(output)


@pytest.fixture
def folder(folder_with: MakeFolder) -> Folder:
    made = folder_with(echo, SEES)
    configure_cap(made, "10")
    return made


def test_a_cap_that_was_changed_in_the_configuration_is_seen_by_rehearsal_run_and_question_alike(
    folder: Folder,
) -> None:
    assert seen_by_a_run(folder, "a") == 10.0
    assert rehearsed_workers(folder) == 49
    configure_cap(folder, "3")
    assert rehearsed_workers(folder) == 14
    assert "together may spend 3.0 credits: 0.2 are spent, 0.0 reserved, 2.8 free" in folder.run("store", "cap")[1]
    assert seen_by_a_run(folder, "b") == 2.8
    configure_cap(folder, "6")
    assert rehearsed_workers(folder) == 28
    assert seen_by_a_run(folder, "c") == 5.6


def test_a_cap_that_a_person_set_since_the_configuration_said_its_own_is_seen_by_all_too(folder: Folder) -> None:
    assert seen_by_a_run(folder, "a") == 10.0
    folder.run("store", "cap", "3")
    assert rehearsed_workers(folder) == 14
    assert seen_by_a_run(folder, "b") == 2.8
    configure_cap(folder, "6")
    assert rehearsed_workers(folder) == 28
    assert "together may spend 6.0 credits" in folder.run("store", "cap")[1]


def test_a_cap_that_a_person_took_away_stays_away_until_the_configuration_says_another(folder: Folder) -> None:
    assert seen_by_a_run(folder, "a") == 10.0
    assert "has no cap of its own" in folder.run("store", "cap", "none")[1]
    assert "has no cap of its own" in folder.run("store", "cap")[1]
    assert seen_by_a_run(folder, "b") == 150.0
    configure_cap(folder, "2")
    assert rehearsed_workers(folder) == 8


def test_a_cap_that_is_no_longer_configured_stays_the_stores(folder: Folder) -> None:
    assert seen_by_a_run(folder, "a") == 10.0
    folder.configure()
    assert rehearsed_workers(folder) == 49
    assert seen_by_a_run(folder, "b") == 9.8


def test_looking_at_a_cap_that_is_about_to_count_changes_nothing(folder: Folder) -> None:
    assert seen_by_a_run(folder, "a") == 10.0
    configure_cap(folder, "3")
    rehearsed_workers(folder)
    folder.run("store", "cap")
    books = folder.store(lambda store: store.store_books())
    assert books is not None
    assert books.cap == 10_000_000
