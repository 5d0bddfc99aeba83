"""Phases of a run: whose workers they count, when they begin and end."""

from __future__ import annotations

from collections import Counter

from planloom.loom import Loom
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, echo

from .plays import Play, events


def test_a_workers_phase_is_that_of_the_task_that_called_it(play: Play) -> None:
    source = """
def one(name):
    phase(name)
    agent(f"{name} first")
    agent(f"{name} second")
    return name

result = parallel([lambda name=name: one(name) for name in ["red", "green", "blue"]])
"""

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert Counter(thread.phase for thread in loom.store.threads(outcome.run_id)) == {
            "red": 2, "green": 2, "blue": 2
        }  # fmt: skip
        for thread in loom.store.threads(outcome.run_id):
            question = loom.store.question(thread.fingerprints[0])
            assert question is not None
            assert question.messages[0].text.startswith(thread.phase)

    play(lambda request: echo(request).after(0.02), scenario)


def test_a_phase_that_several_tasks_are_in_ends_with_the_last_of_them(play: Play) -> None:
    source = """
def one(name):
    phase("first")
    agent(f"{name} first")
    phase("then")
    return agent(f"{name} then")

result = parallel([lambda name=name: one(name) for name in ["quick", "slow"]])
"""

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stream = events(loom, await run_plan(loom, source))
        about = [(e.type, e.data.get("agents")) for e in stream if e.data.get("phase") == "first"]
        assert about[-2:] == [("run.agent_ended", None), ("run.phase_ended", 2)]
        assert [kind for kind, _ in about].count("run.phase_ended") == 1

    play(lambda request: echo(request).after(0.2 if request.question == "slow first" else 0), scenario)


def test_a_worker_may_name_its_own_phase(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'phase("A")\nagent("1")\nagent("2", phase="B")\nagent("3")\nresult = 1\n')
        assert [thread.phase for thread in loom.store.threads(outcome.run_id)] == ["A", "B", "A"]
        assert {phase["name"]: phase["done"] for phase in outcome.phases} == {"A": 2, "B": 1}

    play(echo, scenario)


def test_a_phase_that_is_closed_leaves_later_workers_without_one(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'phase("A")\nagent("1")\nphase(None)\nagent("2")\nresult = 1\n')
        assert [thread.phase for thread in loom.store.threads(outcome.run_id)] == ["A", ""]
        started = [event.data["phase"] for event in events(loom, outcome) if event.type == "run.phase_started"]
        assert started == ["A"]

    play(echo, scenario)
