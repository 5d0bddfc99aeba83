"""A run that is cancelled while it stops for a reason of its own."""

from __future__ import annotations

from typing import Any

from planloom import RunStopped
from planloom.listeners import Listener
from planloom.loom import Loom, RunControl
from planloom.status import status_line
from planloom.stores import Event
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, echo

from .plays import Play


def test_nobody_is_told_that_a_run_is_being_cancelled_which_has_stopped(play: Play) -> None:
    control, said = RunControl(), []

    def hear(run: str, event: Event) -> None:
        if event.type == "run.agent_ended" and control.abort.reason is None:
            control.abort.set(RunStopped("the account is used up"))
            control.cancel()
        said.append(event.data.get("message", ""))

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        source = 'parallel([lambda: agent("quick"), lambda: agent("slow")])\nresult = agent("then")\n'
        outcome = await run_plan(loom, source, control=control, listeners=(Listener(name="stops", on_event=hear),))
        row = loom.store.run(outcome.run_id)
        assert row is not None
        assert any("up to 30 s to end" in text for text in said)
        assert row.status == "paused"
        assert "BEING CANCELLED" not in status_line(loom.store, row)

    def script(request: Received) -> Any:
        return echo(request).after(0.5 if request.question == "slow" else 0.0)

    play(script, scenario)
