"""Tasks: order, failures, addresses, the window, aborts and cancels."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import planlang
from planlang import Limits, PlanAborted, PlanFailed, PlanLimitError

THREE = "result = parallel([lambda n=n: scan(n) for n in [3, 1, 2]])\n"


def test_results_come_in_the_order_of_the_thunks(run: Any) -> None:
    source = "result = parallel([lambda n=n: scan(n, pause=0.02 - n / 100) for n in range(3)])\n"
    assert run(source).result == [0, 1, 2]


def test_a_failing_thunk_gives_none_and_its_siblings_go_on(run: Any, host: Any) -> None:
    source = "def bad():\n    return scan(1) / 0\nresult = parallel([lambda: scan(1), bad, lambda: scan(3)])\n"
    assert run(source).result == [1, None, 3]
    ((path, error),) = host.failures
    assert (path, error.kind, error.line) == ("0.1", "ZeroDivisionError", 2)


def test_addresses_are_fixed_by_place_and_the_same_on_every_run(run: Any, host: Any) -> None:
    source = (
        "a = scan(0)\nb = scan(1)\ndef work(n):\n    scan(n)\n    return parallel([lambda: scan(n), lambda: scan(n)])\n"
        "result = parallel([lambda n=n: work(n) for n in [7, 8]])\n"
    )
    run(source)
    first = sorted(host.asked)
    host.asked.clear()
    run(source)
    assert sorted(host.asked) == first
    assert [path for path, _ in first] == [
        "0",
        "1",
        "2.0.0",
        "2.0.1.0.0",
        "2.0.1.1.0",
        "2.1.0",
        "2.1.1.0.0",
        "2.1.1.1.0",
    ]


def test_no_more_tasks_are_open_than_the_window_has_seats(run: Any, host: Any) -> None:
    source = "result = len(parallel([lambda n=n: scan(n, pause=0.001) for n in range(50)]))\n"
    assert run(source, limits=Limits(tasks_in_flight=4)).result == 50
    assert host.most_running == 4


def test_nested_tasks_finish_with_one_seat(run: Any) -> None:
    source = (
        "def work(n):\n    return sum(parallel([lambda i=i: scan(i) for i in range(n)]))\n"
        "result = parallel([lambda n=n: work(n) for n in range(5)])\n"
    )
    assert run(source, limits=Limits(tasks_in_flight=1)).result == [0, 0, 1, 3, 6]


def test_a_hundred_thousand_thunks_run_within_the_default_limits(run: Any) -> None:
    source = "result = len(parallel([lambda s=s: scan(s) for s in shards(100000)]))\n"
    outcome = run(source)
    assert (outcome.result, outcome.tasks) == (100_000, 100_000)


def test_on_an_abort_nothing_new_starts_and_what_runs_is_left_to_end(run: Any, host: Any) -> None:
    source = (
        "result = parallel([lambda: abort(0.01), lambda: scan(1, pause=0.03)]"
        " + [lambda n=n: scan(n) for n in range(2, 9)])\n"
    )
    with pytest.raises(PlanAborted, match="the host ended"):
        run(source, limits=Limits(tasks_in_flight=2))
    assert host.running == 0
    assert len(host.asked) < 8


def test_a_limit_in_one_task_ends_the_whole_plan(run: Any) -> None:
    source = (
        "def spin():\n    for i in range(1000000):\n        pass\n    return 1\n"
        "result = parallel([lambda: scan(1, pause=0.01), spin])\n"
    )
    with pytest.raises(PlanLimitError) as caught:
        run(source, limits=Limits(steps=50_000))
    assert (caught.value.limit, caught.value.line) == ("steps", 2)


def test_cancelling_the_run_cancels_every_task_and_waits_for_it(host: Any) -> None:
    source = "result = parallel([lambda n=n: scan(n, pause=30) for n in range(20)])\n"
    program = planlang.compile(source, host.words())

    async def cancel_in_flight() -> None:
        running = asyncio.create_task(program.run(None, None, host))
        while host.running < 20:
            await asyncio.sleep(0.001)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel_in_flight())
    assert host.running == 0


def test_a_cancel_that_a_word_raises_itself_is_a_failure_of_the_plan(failure: Any) -> None:
    assert failure('result = fail("CancelledError")\n').kind == "CancelledError"


def test_two_runs_of_one_program_do_not_disturb_each_other(host: Any) -> None:
    program = planlang.compile("xs = []\nfor n in range(5):\n    xs.append(scan(n))\nresult = xs\n", host.words())

    async def both() -> tuple[planlang.Outcome, planlang.Outcome]:
        return await asyncio.gather(program.run(None, None, host), program.run(None, None, host))

    assert [outcome.result for outcome in asyncio.run(both())] == [[0, 1, 2, 3, 4]] * 2


def _turns_of_others(source: str, host: Any) -> int:
    """Return how often the event loop came round to another task while a plan ran."""

    async def counted() -> int:
        turns = 0
        running = asyncio.ensure_future(planlang.compile(source, host.words()).run(None, None, host))
        while not running.done():
            turns += 1
            await asyncio.sleep(0)
        assert (await running).result == [[{"n": 0}] * 500] * 20
        return turns

    return asyncio.run(counted())


def test_others_have_their_turns_while_what_many_tasks_brought_is_copied(host: Any) -> None:
    rows = 'rows = [{"n": 0} for n in range(500)]\n'
    one_after_the_other = rows + "result = [same(rows) for n in range(20)]\n"
    at_once = rows + "result = parallel([lambda: rows for n in range(20)])\n"
    assert _turns_of_others(at_once, host) - _turns_of_others(one_after_the_other, host) >= 10


def test_others_have_their_turns_while_very_many_tasks_run_that_never_wait(host: Any) -> None:
    async def counted() -> int:
        turns = 0
        source = "result = len(parallel([lambda n=n: same(n) for n in range(5000)]))\n"
        running = asyncio.ensure_future(planlang.compile(source, host.words()).run(None, None, host))
        while not running.done():
            turns += 1
            await asyncio.sleep(0)
        assert (await running).result == 5_000
        return turns

    assert asyncio.run(counted()) >= 5_000 // 150


@pytest.mark.parametrize(
    "source",
    [
        "x = sum(range(20000))\n" * 20 + "result = scan(x)\n",
        "def f():\n" + "    x = sum(range(20000))\n" * 20 + "    return scan(x)\nresult = f()\n",
        "def long(x):\n    return x + sum(range(20000))\n" + f"result = {'same(' * 20}scan(1){' + long(0))' * 20}\n",
    ],
    ids=["a plan", "a function", "words within words"],
)
def test_others_have_their_turns_between_what_takes_long_and_does_not_wait(
    source: str, host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planlang._interp.meter.YIELD_AFTER_S", 0)

    async def counted() -> int:
        turns = 0
        running = asyncio.ensure_future(planlang.compile(source, host.words()).run(None, None, host))
        while not running.done():
            turns += 1
            await asyncio.sleep(0)
        await running
        return turns

    assert asyncio.run(counted()) >= 18


def test_tasks_that_never_wait_begin_in_their_order(run: Any, host: Any) -> None:
    source = "result = parallel([lambda n=n: same(n) if n % 3 else scan(n) for n in range(30)])\n"
    assert run(source).result == list(range(30))
    assert [n for _, n in host.asked] == list(range(30))


def test_no_task_sees_the_context_variables_that_another_set(run: Any) -> None:
    source = (
        "mark(0)\nnever = parallel([lambda n=n: [mark(n), mark(n)] for n in [1, 2]])\n"
        "waits = parallel([lambda n=n: [mark(n), scan(n), mark(n)] for n in [3, 4]])\n"
        "result = [never, waits, mark(5)]\n"
    )
    assert run(source).result == [[[0, 1], [0, 2]], [[0, 3, 3], [0, 4, 4]], 0]


def test_a_word_that_cancels_its_own_task_cancels_no_other(run: Any) -> None:
    source = (
        "result = parallel([lambda: touch(1), lambda: same(2), lambda: scan(3), lambda: touch(4), lambda: scan(5)])\n"
    )
    assert run(source).result == [1, 2, 3, 4, 5]


def test_a_word_that_cancels_its_task_when_it_has_ended_keeps_no_other_from_beginning(run: Any) -> None:
    source = "result = parallel([lambda n=n: touch_later(n) if n == 50 else same(n) for n in range(500)])\n"
    assert run(source).result == list(range(500))


def test_many_that_compute_before_they_wait_hold_the_loop_no_longer_than_one(run: Any) -> None:
    source = (
        "def ask(n):\n    total = 0\n    for k in range(8000):\n        total += k\n    return scan(n)\n"
        "result = len(parallel([lambda n=n: ask(n) for n in range(300)]))\n"
    )
    assert run(source, limits=Limits(steps=50_000_000, compute_s=0.3)).result == 300


def test_a_cancelled_word_may_wait_while_it_tidies_up(host: Any) -> None:
    program = planlang.compile("result = parallel([tidy, lambda: tidy(), tidy])\n", host.words())

    async def cancel_in_flight() -> None:
        running = asyncio.create_task(program.run(None, None, host))
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancel_in_flight())
    assert host.tidied == 3


def test_a_child_starts_with_a_copy_of_its_parents_scope(run: Any) -> None:
    source = (
        'remember("parent")\ndef work(n):\n    before = remember(n)\n    return [before, remember()]\n'
        "found = parallel([lambda: work(1), lambda: work(2)])\nresult = [found, remember()]\n"
    )
    assert run(source).result == [[["parent", 1], ["parent", 2]], "parent"]


def test_a_host_can_make_tasks_of_its_own_that_call_plan_functions(run: Any, host: Any) -> None:
    source = "result = pipeline([1, 2, 3], lambda v: scan(v + 1), lambda v: v * 10)\n"
    assert run(source).result == [20, 30, 40]
    assert sorted(path for path, _ in host.asked) == ["0.0.0", "0.1.0", "0.2.0"]


def test_something_that_is_no_function_fails_as_a_task(run: Any, host: Any) -> None:
    assert run("things = [1, scan]\nresult = parallel(things)\n").result == [None, None]
    assert [error.kind for _, error in host.failures] == ["TypeError"]


def test_a_waiting_generator_stops_at_the_first_hit(run: Any, host: Any) -> None:
    assert run("result = any(scan(n) > 1 for n in range(9))\n").result is True
    assert [n for _, n in host.asked] == [0, 1, 2]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(scan(n) for n in [1, 2])", 3),
        ("sorted((scan(n) for n in [2, 1]), reverse=True)", [2, 1]),
        ("list(scan(n) for n in [1, 2] if scan(n) > 1)", [2]),
        ("dict((scan(n), n) for n in [1])", {1: 1}),
        ("max(scan(n) for n in [1, 5, 2])", 5),
        ("all(scan(n) for n in [1, 0, 2])", False),
        ('",".join(scan(t) for t in ["a", "b"])', "a,b"),
        ("[scan(n) + m for n in [1, 2] for m in [scan(10)]]", [11, 12]),
        ("{scan(n): scan(n) for n in [1, 2]}", {1: 1, 2: 2}),
        ("scan(1) if scan(0) else scan(2)", 2),
        ("scan(0) or scan(3)", 3),
        ("1 < scan(2) < scan(3)", True),
        ('f"{scan(1):>{scan(3)}}"', "  1"),
        ("[*scan([1]), scan(2)]", [1, 2]),
        ("(lambda x: scan(x))(4)", 4),
        ("scan([1, 2])[scan(0)]", 1),
        ("scan(5) - scan(2) * 2", 1),
    ],
)
def test_words_that_wait_may_stand_anywhere_in_an_expression(expression: str, expected: Any, run: Any) -> None:
    assert run(f"result = {expression}\n").result == expected


def test_words_that_wait_may_stand_anywhere_in_a_statement(run: Any) -> None:
    source = (
        "xs = [0, 0]\nxs[scan(1)] = scan(5)\nxs[scan(0)] += scan(2)\ntotal = 0\n"
        "for n in scan([1, 2, 3]):\n    if scan(n) == 2:\n        continue\n    elif n > 5:\n        break\n"
        "    total += scan(n)\nelse:\n    total += 100\n"
        "def f(a, b=scan(7)):\n    for n in (scan(i) for i in range(4)):\n"
        "        if n == 2:\n            return n + b\n"
        "result = [xs, total, f(1)]\n"
    )
    assert run(source).result == [[2, 5], 104, 9]


def test_a_loop_over_waiting_elements_is_lazy(run: Any, host: Any) -> None:
    run("for n in (scan(i) for i in range(9)):\n    if n == 1:\n        break\nresult = n\n")
    assert len(host.asked) == 2


def test_a_function_that_waits_is_refused_as_a_key(failure: Any) -> None:
    error = failure("keys = [lambda v: scan(v)]\nresult = sorted([2, 1], key=keys[0])\n")
    assert (error.kind, error.line) == ("TypeError", 2)


def test_a_word_that_waits_can_be_called_through_a_name(run: Any) -> None:
    assert run("ask = scan\nresult = [ask(1), [scan][0](2)]\n").result == [1, 2]


def test_only_plan_failures_reach_the_host(failure: Any) -> None:
    error = failure('result = list(map(lambda k: fail(k), ["StopIteration"]))\n')
    assert error.kind == "StopIteration"
    assert isinstance(error.__cause__, StopIteration)
    assert isinstance(error, PlanFailed)


def test_a_stage_may_wait_for_a_function_that_is_its_item(run: Any) -> None:
    assert run("result = pipeline([lambda: scan(1), lambda: scan(2)], lambda ask: ask())\n").result == [1, 2]


def test_a_call_whose_tasks_would_run_out_of_steps_starts_none(run: Any, host: Any) -> None:
    with pytest.raises(PlanLimitError) as caught:
        run("def ask():\n    return scan(1)\nresult = parallel([ask] * 1000)\n", limits=Limits(steps=20_000))
    assert (caught.value.limit, caught.value.line) == ("steps", 3)
    assert host.asked == []
