"""Ctrl-C within a commit on the event loop: who goes on afterwards has everything, and everything once.

Python raises it on the main thread wherever something is called, and a notebook goes on with the same loop.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from planloom.stores import Event, Granted
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, ask_for, grant
from planloom_sqlite import SqliteStore, _lots, _pace, _writer, check_store, open_store

STEPS_OF = ("planloom_sqlite/_writer.py", "planloom_sqlite/_commits.py", "planloom_sqlite/_lots.py")
NOT_INTERRUPTED = {"submit", "abandon", "_resolve_each"}
"""What runs within the task that asks, whose interrupt it then is, and where asyncio itself forgets whom it wakes."""


class Interrupt:
    """Raises one at the n-th call that the store makes on this thread, where Python would: when a function begins, and
    when one in C is back."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        caller = frame.f_back if event == "call" else frame
        if event not in ("call", "c_return") or caller is None:
            return
        code = caller.f_code
        if not code.co_filename.endswith(STEPS_OF) or code.co_name in NOT_INTERRUPTED:
            return
        if (
            frame.f_code.co_flags & inspect.CO_GENERATOR
        ):  # it may be one that is left and closed, where nothing is raised
            return
        self._left -= 1
        if self._left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt


def interrupted(loop: asyncio.AbstractEventLoop, asked: asyncio.Future[Any], at: int) -> bool:
    """Run until something is answered or interrupted; return whether it was interrupted."""
    sys.setprofile(Interrupt(at))
    try:
        loop.run_until_complete(asked)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


async def several_at_once(store: SqliteStore, calls: list[str], number: int) -> tuple[list[Any], list[Any]]:
    """Settle calls, ask new questions and write more events than go into one commit; return what came of each."""
    events = [Event(seq=8 * number + at, t=0.0, type="run.log", data={"at": at}) for at in range(1, 9)]
    settling = (store.settle(call, a_reply(f"{number} {call}")) for call in calls)
    asking = (ask_for(store, a_question(2 * number + at)) for at in range(2))
    writing = (store.append_events("run-1", events[start : start + 4]) for start in (0, 4))
    outcomes: list[Any] = await asyncio.gather(*settling, *asking, *writing)
    return outcomes[:2], outcomes[2:4]


def test_an_interrupt_at_any_step_of_a_commit_on_the_loop_loses_nothing_and_does_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_pace.Pace, "allows", lambda _: True)
    for module in (_lots, _writer):
        monkeypatch.setattr(module, "MOST_ROWS", 1)
    loop = asyncio.new_event_loop()
    do: Callable[..., Any] = loop.run_until_complete
    store = open_store(tmp_path / "store.db")
    do(store.open_budget(JOB, 10**6))
    do(store.save_run(a_run()))
    calls = [do(grant(store, a_question(at))) for at in range(2)]
    versions: list[int] = []
    turns, at, patience = 0, 1, 4
    while patience:
        asked = loop.create_task(several_at_once(store, calls, turns := turns + 1))
        if interrupted(loop, asked, at):
            at, patience = at + 1, 4
        else:  # at the end, or the thread was just at work
            patience -= 1
        # Within the lease, with which what was forgotten is set right.
        settled, granted = do(asyncio.wait_for(asked, 10))
        versions += settled
        assert [type(each) for each in granted] == [Granted] * 2, f"interrupted at call {at}"
        calls = [each.call_id for each in granted]
    assert at > 100
    assert sorted(versions) == list(range(1, 2 * turns + 1))
    assert [event.seq for event in store.events("run-1")] == list(range(9, 8 * turns + 9))
    do(store.close())
    loop.close()
    assert check_store(tmp_path / "store.db") == []
