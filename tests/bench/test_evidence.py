"""The scripts behind the reference's figures, at sizes that take seconds: what must hold at any size is held here."""

from __future__ import annotations

import pytest
from tests.bench import disk_runtime, first_call, kill_runtime, long_prompts, looking_on, one_cap

pytestmark = pytest.mark.slow


def test_a_run_that_is_killed_again_and_again_asks_nothing_twice_that_was_committed() -> None:
    found = kill_runtime.measure(small=True)
    assert (found["delivered_again"], found["committed_again"], found["faults"]) == (0, 0, [])
    assert found["kills"] == 6
    assert found["delivered"] > 0
    assert found["requests"] - found["questions"] <= found["sent"]


def test_four_processes_come_to_wait_at_one_cap_and_to_their_ends_when_it_is_raised() -> None:
    for price, found in one_cap.measure(small=True).items():
        assert (found["events_over"], found["samples_over"], found["samples_wrong"], found["faults"]) == (0, 0, 0, [])
        assert (found["completed"], found["answers"], found["asked_twice"]) == (4, found["workers"], 0)
        assert found["samples"] > 10
        assert found["left_at_cap"] == 0 if price == "flat" else 0 <= found["left_at_cap"] < found["worst"]


def test_a_long_run_that_stopped_goes_on_with_what_is_missing_under_the_eyes_of_a_follower() -> None:
    found = disk_runtime.measure("disk", small=True)
    assert (found["status"], found["answers"], found["asked"]) == (["paused", "completed"], 1_010, [910, 100])
    assert found["followed"] == found["events"]
    assert found["events"] - found["events_stopped"] == disk_runtime.EVENTS_ADDED
    assert found["wal_mb"] < disk_runtime.WAL_MB


def test_every_long_prompt_of_shared_shards_is_answered() -> None:
    found = long_prompts.measure(small=True)
    assert (found["status"], found["answers"]) == ("completed", 42)


def test_a_run_that_was_killed_at_half_can_be_looked_at() -> None:
    assert set(looking_on.measure(small=True)["killed"]) == {"runs", "show", "follow"}


def test_the_time_to_the_first_call_is_split_into_what_it_goes_into() -> None:
    for name, found in first_call.measure(small=True).items():
        parts = {"Python itself", "imports", "plugins", "settings", "store", "all else", "connecting, sending"}
        parts |= {"checking"} if "plan" in name or name == "run" else set()
        parts |= {"reading"} if "audit" in name else set()
        assert set(found["split_s"]) == parts
        assert all(wall_s >= 0 for wall_s, _ in found["split_s"].values())
