"""Phases of a run that goes on: they open and close as they did at first, though its known answers take no time."""

from __future__ import annotations

from typing import Any

import pytest

from planloom.former import read_former
from planloom.listeners import Listener
from planloom.loom import Loom, Outcome, RunControl
from planloom.stores import Event
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, completion, echo

from .plays import Play, events

LINE = """
def find(item):
    phase("Find")
    return agent(f"find {item}")

def judge(found):
    phase("Check")
    return agent(f"check {found}")

def tell(checked):
    phase("Tell")
    return agent(f"tell {checked}")

result = pipeline(list(range(6)), find, judge, tell)
"""

ASKING_TWO = """
def both(item):
    phase("Pairs")
    pair = parallel([lambda n=n: one(item, n) for n in range(2)])
    phase("Sum")
    return agent(f"sum {pair}")

def one(item, n):
    phase("One")
    agent(f"one {item} {n}")
    phase("Other")
    return agent(f"other {item} {n}")

result = pipeline(list(range(4)), both)
"""

LAST = 'agent("last", label="last")\n'


def phases_of(stream: list[Event]) -> list[str]:
    """Return which phases began and ended, in order."""
    signs = {"run.phase_started": "+", "run.phase_ended": "-"}
    return [signs[event.type] + event.data["phase"] for event in stream if event.type in signs]


def last_start(loom: Loom, outcome: Outcome) -> list[Event]:
    stream = events(loom, outcome)
    return stream[max(place for place, event in enumerate(stream) if event.type == "run.resumed") :]


async def first_start(loom: Loom, source: str) -> Outcome:
    """Run a plan until its last worker asks, and cancel it there."""
    control = RunControl()

    def hear(run: str, event: Event) -> None:
        if event.type == "run.agent_started" and event.data["label"] == "last":
            control.cancel()
            control.cancel()

    return await run_plan(loom, source, control=control, listeners=(Listener(name="ends", on_event=hear),))


async def go_on(loom: Loom, source: str, before: Outcome, **options: Any) -> Outcome:
    row = loom.store.run(before.run_id)
    assert row is not None
    return await run_plan(loom, source, former=read_former(loom.store, row), **options)


def slow_tail(request: Received) -> Any:
    """Answer after a while, so that all items are in a phase together; the one after the plan's line never."""
    return completion("late").hanging() if request.question == "last" else echo(request).after(0.02)


@pytest.mark.parametrize(
    ("source", "names"),
    [(LINE, ["Find", "Check", "Tell"]), (ASKING_TWO, ["Pairs", "One", "Other", "Sum"])],
    ids=["stages", "tasks in a stage"],
)
def test_each_phase_of_a_line_that_is_known_begins_and_ends_once(play: Play, source: str, names: list[str]) -> None:
    async def begins(loom: Loom, server: LoopbackServer) -> None:
        first = await first_start(loom, source + LAST)
        assert first.status == "cancelled"
        assert sorted(phases_of(events(loom, first))) == sorted(sign + name for sign in "+-" for name in names)

    async def goes_on(loom: Loom, server: LoopbackServer) -> None:
        (row,) = loom.store.runs()
        outcome = await run_plan(loom, source + LAST, former=read_former(loom.store, row))
        assert (outcome.status, server.total) == ("completed", 1)
        told = phases_of(last_start(loom, outcome))
        assert [sign for sign in told if sign[0] == "+"] == [f"+{name}" for name in names]
        assert sorted(told) == sorted(sign + name for sign in "+-" for name in names)
        assert all(told.index(f"+{name}") < told.index(f"-{name}") for name in names)

    play(slow_tail, begins)
    play(echo, goes_on)


def test_a_phase_that_a_line_left_is_over_before_the_next_one_is(play: Play) -> None:
    async def begins(loom: Loom, server: LoopbackServer) -> None:
        assert phases_of(events(loom, await first_start(loom, LINE + LAST))) == [
            "+Find", "+Check", "-Find", "+Tell", "-Check", "-Tell",
        ]  # fmt: skip

    async def goes_on(loom: Loom, server: LoopbackServer) -> None:
        (row,) = loom.store.runs()
        outcome = await run_plan(loom, LINE + LAST, former=read_former(loom.store, row))
        assert phases_of(last_start(loom, outcome)) == ["+Find", "+Check", "+Tell", "-Find", "-Check", "-Tell"]

    delays = {f"find {item}": 0.05 * item for item in range(6)}
    play(lambda request: slow_tail(request).after(delays.get(request.question, 0.3)), begins)
    play(echo, goes_on)


def test_a_line_of_which_half_is_known_has_each_phase_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stopped = await run_plan(loom, LINE, cap=1.4)
        assert (stopped.status, server.total) == ("paused", 7)
        outcome = await go_on(loom, LINE, stopped, cap=10)
        assert (outcome.status, server.total) == ("completed", 18)
        told = phases_of(last_start(loom, outcome))
        assert sorted(told) == sorted(sign + name for sign in "+-" for name in ["Find", "Check", "Tell"])

    play(lambda request: echo(request).after(0.02), scenario)


def test_a_line_whose_answers_are_all_in_the_ledger_has_each_phase_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, LINE)
        again = await run_plan(loom, LINE)
        assert (again.asked, again.reused) == (0, 18)
        assert sorted(phases_of(events(loom, again))) == sorted(
            sign + name for sign in "+-" for name in ["Find", "Check", "Tell"]
        )

    play(lambda request: echo(request).after(0.02), scenario)


def test_phases_of_steps_that_follow_one_another_end_before_the_next_begins(play: Play) -> None:
    source = (
        'for n in range(2):\n    phase("A")\n    agent(f"a {n}")\n    phase("B")\n    agent(f"b {n}")\nresult = 1\n'
    )

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert phases_of(events(loom, outcome)) == ["+A", "-A", "+B", "-B", "+A", "-A", "+B", "-B"]

    play(echo, scenario)
