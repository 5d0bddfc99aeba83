"""How tests of whole runs are written: a scenario with a loom and its server, and what the server says."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from planloom.loom import Loom, Outcome
from planloom.stores import Event
from planloom.testing.loopback import LoopbackServer, Received, Script, echo, json_answer

Scenario = Callable[[Loom, LoopbackServer], Coroutine[Any, Any, None]]

Play = Callable[..., None]


def refusing(*texts: str) -> Script:
    """Answer every question but these, which are refused for good."""

    def script(request: Received) -> Any:
        if request.question in texts:
            return json_answer({"error": {"message": "content refused"}}, status=400)
        return echo(request)

    return script


def events(loom: Loom, outcome: Outcome) -> list[Event]:
    return loom.store.events(outcome.run_id)


ONE = 'phase("Look")\nresult = agent("is it so?", label="looker")\n'
