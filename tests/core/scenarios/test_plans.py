"""Plans that go wrong in the ways that plans do: what becomes of the run, its holes, its exit code, what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from planloom.testing.loopback import Received, Served, completion, json_answer

if TYPE_CHECKING:
    from .conftest import Shell

MakeShell = Callable[..., "Shell"]
pytestmark = pytest.mark.command


def some_bad(request: Received) -> Served:
    """Refuse what is asked in a bad way, after a while where that is to be late; repeat the rest."""
    if "bad" in request.question:
        refusal = json_answer({"error": {"message": "refused"}}, status=400)
        return refusal.after(0.5 if "late" in request.question else 0.0)
    return completion(f"ok: {request.question}")


@attrs.frozen
class Right:
    """What should become of a plan.

    :ivar said: what stands in the remarks. :ivar result: as printed, parsed where it is JSON.
    """

    plan: str
    code: int
    requests: int
    result: Any = None
    said: tuple[str, ...] = ()


PLANS = {
    "a race that nobody wins": Right(
        'result = race([lambda: agent("bad 1"), lambda: agent("bad 2")])\n', 3, 2, None, ("with 2 holes",)
    ),
    "a race that only breaks": Right(
        'x = [1]\nresult = race([lambda: x[len(x)], lambda: x[len(x) + 1]]) or "none won"\n',
        3,
        0,
        "none won",
        ("with 2 holes", "IndexError"),
    ),
    "a race of nobody": Right('result = race([]) or "nobody"\n', 0, 0, "nobody"),
    "a race whose loser fails": Right(
        'result = race([lambda: agent("bad, late"), lambda: agent("b")])\n', 0, 2, "ok: b"
    ),
    "tasks that lose a worker inside of tasks": Right(
        "def inner(n):\n"
        '    return parallel([lambda: agent(f"bad {n}"), lambda: agent(f"good {n}")])\n'
        "result = parallel([lambda n=n: inner(n) for n in range(3)])\n",
        3,
        6,
        [[None, f"ok: good {n}"] for n in range(3)],
        ("with 3 holes",),
    ),
    "a stage that loses a worker": Right(
        'result = pipeline(["a", "bad", "c"], lambda x: agent(x), lambda found, x: agent(f"{found}!"))\n',
        3,
        5,
        ["ok: ok: a!", None, "ok: ok: c!"],
        ("with 1 hole",),
    ),
    "a saved plan that is not there": Right(
        'result = plan("no_such")\n', 6, 0, None, ("PL104", "no saved plan is named `no_such`")
    ),
    "a saved plan whose name is worked out, and is not there": Right(
        'result = plan("no_" + "such")\n', 6, 0, None, ("no saved plan is named `no_such`", "fixed")
    ),
    "a saved plan of a kit whose name is worked out, without a target": Right(
        'result = plan("fi" + "xed")\n', 2, 0, None, ("words of the kit audit", "--target PATH")
    ),
    "a saved plan of a kit, without a target": Right(
        'result = plan("fixed")\n', 2, 0, None, ("job.plan uses words of the kit audit", "--target PATH")
    ),
    "texts that fill the memory": Right(
        'x = "a" * 1000000 * 40\nresult = [len(x + str(i)) for i in range(10)]\n',
        6,
        0,
        None,
        ("rehearsal: line 2: the limit on memory was hit: ", " of 256 MB; it counts all that is ever made"),
    ),
    "a function that calls itself": Right("def f(n):\n    return f(n)\nresult = f(0)\n", 6, 0, None, ("PL110",)),
    "a loop that nothing bounds": Right("while True:\n    agent('q')\nresult = 1\n", 6, 0, None, ("PL031",)),
    "a loop of a million": Right(
        'for i in range(1000000):\n    agent(f"q{i}")\nresult = 1\n',
        6,
        0,
        None,
        ("the plan would stop at the budget of 150.0 credits",),
    ),
    "a result that is a function": Right("result = lambda: 1\n", 6, 0, None, ("the result holds a function",)),
    "a result that holds itself": Right("a = []\na.append(a)\nresult = a\n", 6, 0, None, ("limit on nesting",)),
    "no result": Right("x = 1\n", 6, 0, None, ("PL109",)),
    "nothing to say": Right('result = agent("")\n', 6, 0, None, ("agent() needs a prompt or data",)),
    "data that JSON has no form for": Right(
        'result = agent("q", data={1: 2})\n', 6, 0, None, ("the key 1, which is no text",)
    ),
    "a role that nobody configured": Right('result = agent("q", model="judge")\n', 2, 0, None, ("judge",)),
    "a schema that refers elsewhere": Right(
        'result = agent("q", schema={"$ref": "file:///etc/passwd"})\n', 6, 0, None, ("which is not in it",)
    ),
    "a plan of no worker": Right("result = [1, {'a': None}]\n", 0, 0, [1, {"a": None}]),
    "an argument that was not given": Right('result = args["q"]\n', 6, 0, None, ("--arg q=VALUE",)),
    "a failed worker that is used as text": Right("result = f\"{agent('bad')}\"\n", 3, 1, "None", ("with 1 hole",)),
}


@pytest.mark.parametrize("right", PLANS.values(), ids=PLANS.keys())
def test_a_plan_that_goes_wrong_ends_as_it_should(shell_with: MakeShell, right: Right) -> None:
    shell = shell_with(some_bad, right.plan)
    ended = shell.here("run", "job.plan")
    assert (ended.code, shell.server.total) == (right.code, right.requests), ended.remarks
    for text in right.said:
        assert text in ended.remarks + ended.output
    if right.code in (0, 3):
        told = ended.output.strip()
        assert (json.loads(told) if told[:1] in ("[", "{") else told or None) == right.result


def test_a_runaway_that_no_rehearsal_foresaw_is_ended_and_keeps_what_it_has(shell_with: MakeShell) -> None:
    # The rehearsal's made-up answer is never this one.
    plan = 'many = 100 if agent("how many") == "ok: how many" else 2\n' + (
        'result = [agent(f"q{i}") for i in range(many)]\n'
    )
    shell = shell_with(some_bad, plan)
    shell.configure(**{"in_flight = 8": "in_flight = 8\nworkers = 20"})
    ended = shell.here("run", "job.plan")
    assert (ended.code, shell.server.total) == (9, 20)
    assert "twice the limit of 20 a run" in ended.remarks
    assert shell.here("resume", shell.newest().id, "--workers", "200").code == 0
    assert shell.server.total == 101
    assert set(shell.server.asked.values()) == {1}


def test_a_saved_plan_that_an_argument_names_needs_no_target_where_it_works_on_none(shell_with: MakeShell) -> None:
    refuse = {"bad"}
    shell = shell_with(
        lambda request: some_bad(request) if refuse else completion("yes"), 'result = plan(args["name"])\n'
    )
    (shell.path / "plans").mkdir()
    (shell.path / "plans" / "own.plan").write_text('result = agent("bad")\n')
    assert shell.here("run", "job.plan", "--arg", "name=own").code == 3
    refuse.clear()
    ended = shell.here("resume", shell.newest().id)
    assert (ended.code, ended.output.strip()) == (0, "yes"), ended.remarks


VALUES = [
    "text",
    "",
    "é\U0001f600\n",
    0,
    -1,
    2**53 - 1,
    1.5,
    -0.0,
    1e300,
    True,
    False,
    None,
    [],
    {},
    [1, [2, {"a": None}]],
]


@pytest.mark.parametrize("value", VALUES, ids=ascii)
def test_an_argument_keeps_its_type_also_when_the_run_goes_on(shell_with: MakeShell, value: Any) -> None:
    refuse = {"bad"}

    def script(request: Received) -> Served:
        return some_bad(request) if refuse else completion("yes")

    shell = shell_with(script, 'agent("bad")\nresult = {"v": args["v"], "text": to_json(args["v"])}\n')
    assert shell.here("run", "job.plan", "--arg", f"v={json.dumps(value)}").code == 3
    refuse.clear()
    ended = shell.here("resume", shell.newest().id)
    assert ended.code == 0, ended.remarks
    told = json.loads(ended.output)
    assert (told["v"], type(told["v"])) == (value, type(value))
    assert json.loads(told["text"]) == value


# Each of 18 parts brings 20 findings, and each is checked alone.
ONE_BY_ONE = """
FOUND = {"type": "object", "required": ["bugs"], "properties": {
    "bugs": {"type": "array", "minItems": 20, "maxItems": 20, "items": {"type": "integer"}}}}
scans = parallel([lambda n=n: agent(f"part {n}", schema=FOUND) for n in range(18)])
bugs = [(n, k, bug) for n, scan in enumerate(scans) if scan for k, bug in enumerate(scan["bugs"])]
result = parallel([lambda b=b: agent(f"is it so? {b}") for b in bugs])
"""


def test_a_worker_a_finding_is_priced_before_the_first_request_and_held(shell_with: MakeShell) -> None:
    shell = shell_with(some_bad, ONE_BY_ONE)
    ended = shell.here("run", "job.plan")
    assert (ended.code, shell.server.total) == (4, 0)
    assert "378 workers, 378 calls" in ended.remarks
    assert "75.6 credits" in ended.remarks


TRIVIAL = (
    'long = "Mind this. " * 3000\nresult = parallel([lambda n=n: agent(f"say {n}", system=long) for n in range(20)])\n'
)


def test_workers_that_mostly_read_one_system_text_are_pointed_out_and_priced_as_kept(
    shell_with: MakeShell,
) -> None:
    shell = shell_with(some_bad, TRIVIAL)
    each = shell.here("rehearse", "job.plan", "--json")
    told = json.loads(each.output)
    assert told["tokens"] > 20 * 8_000
    assert any("of the tokens are system texts, which each worker reads anew" in line for line in told["advice"])
    prices = "price = { input = 1.0, output = 1.0"
    shell.configure(**{"price = { call = 0.2": prices})
    fresh = json.loads(shell.here("rehearse", "job.plan", "--json").output)["credits"]["p50"]
    shell.configure(**{"price = { call = 0.2": f"{prices}, cached_input = 0.1"})
    kept = json.loads(shell.here("rehearse", "job.plan", "--json").output)["credits"]["p50"]
    # The first reads it fresh, nineteen at a tenth.
    assert 0.1 < kept / fresh < 0.25
