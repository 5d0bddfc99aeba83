"""A plan whose answers come to more than its limits allow keeps them, and goes on under higher limits."""

from __future__ import annotations

import json

import pytest

from planloom.testing.loopback import Received, Served, completion

from .asking import MakeFolder

LONG_ANSWERS = """
answers = parallel([lambda i=i: agent(f"question {i}") for i in range(20)])
found = []
for answer in answers:
    found.extend((answer or "").split("; "))
result = len(found)
"""
FINDINGS = "; ".join(f"finding {number}" for number in range(400))


def long_answer(_: Received) -> Served:
    return completion(FINDINGS)


@pytest.mark.parametrize(
    ("lower", "hit"),
    [
        ("plan_memory_mb = 1", "the limit on memory was hit: 1 of 1 MB"),
        ("plan_steps = 3000", "of 3,000 steps"),
    ],
    ids=["memory", "steps"],
)
def test_a_plan_that_hit_a_limit_goes_on_under_a_higher_one_and_asks_nothing_twice(
    folder_with: MakeFolder, lower: str, hit: str
) -> None:
    folder = folder_with(long_answer, LONG_ANSWERS)
    folder.configure(**{"in_flight = 8": f"in_flight = 8\n{lower}"})
    code, _, remarks = folder.run("run", "job.plan")
    run, said = folder.newest().id, " ".join(remarks.split())
    assert (code, folder.server.total) == (1, 20), remarks
    assert hit in said
    assert f"or raise `limits.{lower.split()[0]}` in the configuration" in said
    assert f"`planloom resume {run}` then goes on, and asks nothing twice" in said
    folder.configure()
    code, output, _ = folder.run("resume", run)
    assert (code, json.loads(output), folder.server.total) == (0, 8_000, 20)


def test_a_rehearsal_that_hits_a_limit_names_what_raises_it_and_is_played_again_when_it_was_raised(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(long_answer, 'q = agent("q")\nresult = len([q for n in range(2000)])\n')
    folder.configure(**{"in_flight = 8": "in_flight = 8\nplan_steps = 1000"})
    code, _, remarks = folder.run("rehearse", "job.plan")
    assert code == 6
    assert "or raise `limits.plan_steps` in the configuration" in " ".join(remarks.split())
    folder.configure(**{"in_flight = 8": "in_flight = 8\nplan_steps = 100000"})
    assert folder.run("rehearse", "job.plan")[0] == 0
