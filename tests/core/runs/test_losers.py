"""Calls in flight of workers that lost a race: how long they may go on, and what the run says and pays meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from planloom.listeners import Listener
from planloom.loom import Loom, RunControl
from planloom.stores import Event
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, echo

from .plays import Play

RACED = 'first = race([lambda: agent("hangs"), lambda: agent("fast")])\nresult = [first, agent("after")]\n'


def hanging(request: Received) -> Any:
    return echo(request).after(60.0 if request.question == "hangs" else 0.0)


def test_a_race_is_over_with_its_winner_while_a_losers_call_goes_on(play: Play) -> None:
    source = 'first = race([lambda: agent("slow"), lambda: agent("fast")])\nresult = [first, agent("after")]\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        reserved = []

        def hear(run: str, event: Event) -> None:
            if event.type == "run.agent_started" and event.data["thread"].endswith("t003"):
                reserved.append(loom.store.money(run)["reserved"])

        outcome = await run_plan(loom, source, listeners=(Listener(name="money", on_event=hear),))
        assert (outcome.status, outcome.result) == ("completed", ["ok: fast", "ok: after"])
        assert reserved == [400_000]  # for the loser, and for itself
        assert loom.store.money(outcome.run_id) == {"calls": 3, "spent": 600_000, "uncertain": 0, "reserved": 0}

    play(lambda request: echo(request).after(1.5 if request.question == "slow" else 0), scenario)


def test_a_run_says_what_it_waits_for_when_a_losers_call_hangs_and_one_cancel_ends_it_whole(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        control = RunControl()
        said: list[str] = []

        def hear(run: str, event: Event) -> None:
            if event.type == "run.log":
                said.append(event.data["message"])
                control.cancel()

        listeners = (Listener(name="hears", on_event=hear),)
        outcome = await run_plan(loom, RACED, control=control, listeners=listeners)
        assert (outcome.status, outcome.exit_code, outcome.result) == ("completed", 0, ["ok: fast", "ok: after"])
        assert said == [
            "the plan has ended, and the run waits up to 30 s for 1 call in flight whose workers were cancelled, to "
            "keep what is paid for; to end it now press Ctrl-C or cancel it, which leaves what they cost uncertain",
            "1 call in flight is cut off now; what of it was sent and is not answered stays charged, since the "
            "provider may bill it",
        ]
        assert loom.store.money(outcome.run_id) == {"calls": 3, "spent": 400_000, "uncertain": 200_000, "reserved": 0}

    play(hanging, scenario)


def test_a_losers_call_that_hangs_is_cut_off_while_the_run_goes_on(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planloom._call.DRAIN_S", 0.3)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        uncertain = {}

        def hear(run: str, event: Event) -> None:
            if event.type == "run.agent_ended":
                uncertain[event.data["label"]] = loom.store.money(run)["uncertain"]

        source = f'{RACED}result.append(agent("slow", label="slow"))\n'
        outcome = await run_plan(loom, source, listeners=(Listener(name="hears", on_event=hear),))
        assert (outcome.status, outcome.holes, outcome.result[2:]) == ("completed", 0, ["ok: slow"])
        assert uncertain == {"worker": 0, "slow": 200_000}
        assert loom.store.money(outcome.run_id) == {"calls": 4, "spent": 600_000, "uncertain": 200_000, "reserved": 0}

    play(lambda request: echo(request).after(1.5) if request.question == "slow" else hanging(request), scenario)


@pytest.mark.parametrize(
    ("after", "left"),
    [("agent('after')", 9.4), ("agent('slow')", 9.6), ("[agent('after'), agent('slow')]", 9.4)],
    ids=["forgotten", "waited for again", "had from the ledger"],
)
def test_what_a_losers_answer_cost_is_gone_from_the_budget_once_however_it_is_asked_for_again(
    play: Play, after: str, left: float
) -> None:
    source = f'first = race([lambda: agent("slow"), lambda: agent("fast")])\nsecond = {after}\nresult = budget()\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source, cap=10)
        assert (outcome.status, outcome.result) == ("completed", left)
        assert server.total == (2 if left == 9.6 else 3)

    delays = {"slow": 0.5, "after": 1.5}
    play(lambda request: echo(request).after(delays.get(request.question, 0.0)), scenario)


def test_a_loser_whose_answer_comes_with_the_winners_is_gone_from_the_budget_too(play: Play) -> None:
    source = (
        "pairs = [race([lambda: agent(f'left {n}'), lambda: agent(f'right {n}')]) for n in range(10)]\n"
        "result = budget()\n"
    )

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source, cap=10)
        money = loom.store.money(outcome.run_id)
        assert money["uncertain"] == money["reserved"] == 0
        assert outcome.result == 10 - money["spent"] / 1_000_000

    play(echo, scenario)


def test_an_answer_that_a_loser_wanted_mended_is_gone_from_the_budget_too(play: Play) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    source = (
        f"first = race([lambda: agent('mended', schema={schema}), lambda: agent('fast')])\n"
        "second = agent('after')\nresult = budget()\n"
    )

    def answer(request: Received) -> Any:
        if len(request.json["messages"]) > 1:  # the repair turn
            return echo(request).hanging()
        return echo(request).after({"fast": 0.6, "after": 0.3}.get(request.question, 0.0))

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        control = RunControl()

        def hear(run: str, event: Event) -> None:
            if event.type == "run.log":
                control.cancel()

        listeners = (Listener(name="hears", on_event=hear),)
        outcome = await run_plan(loom, source, cap=10, control=control, listeners=listeners)
        # Two answers that were had, one that was to be mended, and its repair in flight at its worst price.
        assert outcome.result == 9.2

    play(answer, scenario)
