"""Plans that ask much and servers that answer, for the tests of runs that go on and are played again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planloom.testing.folders import Folder
from planloom.testing.loopback import Received, echo, json_answer

MakeFolder = Callable[..., Folder]

# The rehearsal, which makes up another answer, foresees three workers.
MORE_THAN_FORESEEN = """
many = 29 if agent("how many") == "ok: how many" else 2
result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])
"""

MANY = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"question {{i}}") for i in range({count})])\n'


def slow_echo(request: Received) -> Any:
    return echo(request).after(0.05)


def refused() -> Any:
    return json_answer({"error": {"message": "content refused"}}, status=400)


def paid_of(folder: Folder, run: str) -> Any:
    return folder.store(lambda store: store.money(run)["spent"])
