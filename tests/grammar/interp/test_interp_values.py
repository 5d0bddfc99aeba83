"""Who may change a value, what iteration locks, what crosses the border, what is charged."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planlang
from planlang import Limits, Opaque, PlanFailed, PlanLimitError


class Handle(Opaque):
    """Something a plan can only pass on."""


# --- owners -------------------------------------------------------------------------------------------------------


def test_a_task_may_not_change_a_value_of_its_parent(run: Any, host: Any) -> None:
    source = "xs = [1]\ndef add(ys):\n    ys.append(2)\nresult = [parallel([lambda: add(xs)]), xs]\n"
    assert run(source).result == [[None], [1]]
    ((_, error),) = host.failures
    assert (error.kind, error.line) == ("PermissionError", 3)


@pytest.mark.parametrize(
    "change",
    [
        "d['a'] = 9",
        "d['b'] = 9",
        "d.update(d)",
        "d.pop('a')",
        "d.clear()",
        "s.add(3)",
        "s.discard(1)",
        "xs += [1]",
        "xs.sort()",
    ],
)
def test_no_way_of_changing_a_parents_value_works(change: str, run: Any, host: Any) -> None:
    source = (
        f"box = [{{'a': 1}}, {{1}}, [2, 1]]\ndef work(d, s, xs):\n    {change}\n"
        "result = [parallel([lambda: work(*box)]), box]\n"
    )
    assert run(source).result == [[None], [{"a": 1}, {1}, [2, 1]]]
    assert len(host.failures) == 1


def test_a_task_may_change_what_it_made_and_what_words_gave_it(run: Any) -> None:
    source = (
        "def work():\n    own = [1]\n    own.append(2)\n    got = scan([3])\n    got.append(4)\n    return own + got\n"
        "result = parallel([work])\n"
    )
    assert run(source).result == [[1, 2, 3, 4]]


def test_a_parent_may_change_what_its_finished_child_returned(run: Any) -> None:
    assert run("xs = parallel([lambda: [1]])[0]\nxs.append(2)\nresult = xs\n").result == [1, 2]


def test_a_parent_may_change_what_a_child_left_in_a_function(run: Any) -> None:
    source = (
        "def maker():\n    xs = [1]\n    return lambda: xs\nget = parallel([maker])[0]\nys = get()\nys.append(2)\n"
        "result = ys\n"
    )
    assert run(source).result == [1, 2]


def test_values_of_the_vocabulary_are_read_only_and_arguments_are_the_plans_own(run: Any, failure: Any) -> None:
    assert failure("LENSES.append(1)\nresult = 1\n").kind == "PermissionError"
    assert run("args['n'].append(2)\nresult = args\n", args={"n": [1]}).result == {"n": [1, 2]}


@pytest.mark.parametrize("parts", ["0:1", ":", "0:0.5", "'a':'b':'c'", "[1]:2"])
@pytest.mark.parametrize("use", ["result = d[{}]\n", "d[{}] = 2\nresult = d\n", "d[{}] += 2\nresult = d\n"])
def test_a_slice_is_no_key_whatever_its_parts_and_whichever_python_runs(use: str, parts: str, run: Any) -> None:
    with pytest.raises(PlanFailed, match="unhashable type: 'slice'") as raised:
        run("d = {'k': 1}\n" + use.format(parts))
    assert (raised.value.kind, raised.value.line) == ("TypeError", 2)


@pytest.mark.parametrize("use", ["result = xs[0:0.5]\n", "xs[0:0.5] = []\nresult = xs\n"])
def test_a_slice_of_a_list_has_whole_parts(use: str, run: Any) -> None:
    with pytest.raises(PlanFailed, match="slice indices must be integers or None") as raised:
        run("xs = [1]\n" + use)
    assert (raised.value.kind, raised.value.line) == ("TypeError", 2)


# --- locks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", ["xs.append(1)", "xs.pop()", "xs += [1]", "xs.clear()", "xs[0:0] = [1]", "xs.remove(x)", "xs *= 2"]
)
def test_a_list_may_not_grow_or_shrink_while_a_loop_iterates(change: str, failure: Any) -> None:
    error = failure(f"xs = [1, 2]\nfor x in xs:\n    {change}\nresult = xs\n")
    assert (error.kind, error.line) == ("RuntimeError", 3)


def test_replacing_items_while_a_loop_iterates_is_allowed(run: Any) -> None:
    source = (
        "xs = [1, 2]\nfor i in range(2):\n    for x in xs:\n        xs[i] = 9\n"
        "d = {'a': 1}\nfor k in d:\n    d[k] = 2\n"
        "xs.append(3)\nresult = [xs, d]\n"
    )
    assert run(source).result == [[9, 9, 3], {"a": 2}]


@pytest.mark.parametrize("leave", ["break", "return 1", "x = 1 / 0"])
def test_a_lock_ends_however_the_loop_ends(leave: str, run: Any) -> None:
    source = (
        f"def work(xs):\n    for x in xs:\n        {leave}\n"
        "xs = [1]\nparallel([lambda: work(xs)])\nxs.append(2)\nresult = xs\n"
    )
    assert run(source).result == [1, 2]


def test_a_lock_of_an_unfinished_generator_ends_with_its_task(run: Any) -> None:
    source = (
        "xs = [1, 2]\nkept = [(x for x in xs)]\ndef start():\n    return any(kept[0])\n"
        "parallel([start])\nxs.append(3)\nresult = xs\n"
    )
    assert run(source).result == [1, 2, 3]


# --- the border ---------------------------------------------------------------------------------------------------


def test_words_get_copies_and_give_copies(run: Any, host: Any) -> None:
    outcome = run("xs = [1, {'k': (2,)}]\nys = same(xs)\nys.append(3)\nxs.append(4)\nresult = [xs, ys]\n")
    assert outcome.result == [[1, {"k": (2,)}, 4], [1, {"k": (2,)}, 3]]
    assert host.asked == [("same", [1, {"k": (2,)}])]
    assert type(host.asked[0][1]) is list


def test_opaque_values_and_functions_come_back_as_they_were(run: Any) -> None:
    handle = Handle()
    source = "h = args['h']\nf = same(lambda: 5)\nresult = [same([h])[0], h is same(h), f()]\n"
    assert run(source, args={"h": handle}).result == [handle, True, 5]


def test_a_generator_argument_arrives_as_a_list(run: Any, host: Any) -> None:
    assert run("result = parallel(lambda n=n: scan(n) for n in range(3))\n").result == [0, 1, 2]


def test_a_host_value_that_is_not_plain_data_is_refused_with_its_type(failure: Any, host: Any) -> None:
    host.same = lambda _place, value: object()
    error = failure("result = same(1)\n")
    assert (error.kind, "object" in error.detail) == ("TypeError", True)


def test_a_sync_word_that_returns_an_awaitable_is_an_error_of_the_host(failure: Any) -> None:
    assert "awaitable" in failure("result = late()\n").detail


def test_a_word_knows_the_place_of_its_call(run: Any) -> None:
    assert run("x = 1\nresult = [where(), [where() for _ in [1]]]\n").result == [[2, 11], [[2, 21]]]


def test_an_alias_keyword_reaches_the_word_under_its_own_name(run: Any) -> None:
    assert run("result = scan(4, delay=0)\n").result == 4


def test_a_function_in_the_result_fails_with_its_place(failure: Any) -> None:
    error = failure("x = 1\nresult = [lambda: x]\n")
    assert (error.kind, error.line) == ("TypeError", 2)


def test_a_result_that_is_missing_on_one_path_fails_clearly(failure: Any) -> None:
    error = failure("if len([1]) > 1:\n    result = 1\n")
    assert "result" in error.detail


def test_json_of_a_result_sorts_sets_and_has_no_nan(run: Any) -> None:
    source = "result = {'s': {'b', 'a'}, 1: (1, range(2)), None: float('nan'), (1, 2): True}\n"
    assert run(source).to_json() == '{"s": ["a", "b"], "1": [1, [0, 1]], "null": null, "(1, 2)": true}'


def test_sets_keep_their_order_whatever_the_hash_seed(run: Any) -> None:
    source = (
        "import asyncio, planlang\n"
        "plan = 'result = list({w for w in \"the quick brown fox jumps\".split()})'\n"
        "p = planlang.compile(plan, planlang.Vocabulary([]))\n"
        "print(asyncio.run(p.run()).result)\n"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", source], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert shown == {"['the', 'quick', 'brown', 'fox', 'jumps']\n"}


# --- limits -------------------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(1, 60))
def test_steps_grow_in_step_with_the_work(size: int) -> None:
    def steps(count: int) -> int:
        source = f"xs = []\nfor i in range({count}):\n    xs.append(i * 2)\nresult = len(xs)\n"
        program = planlang.compile(source, planlang.Vocabulary([]))
        return asyncio.run(program.run()).steps

    one, two = steps(size * 10), steps(size * 20)
    assert one < two < 2 * one + 10


@pytest.mark.parametrize(
    ("source", "limits", "name"),
    [
        ("result = [i for i in range(1000)]\n", Limits(steps=500), "steps"),
        ("result = [0] * 100000\n", Limits(memory_bytes=100_000), "memory_bytes"),
        ("result = [0] * 1000\n", Limits(collection_length=100), "collection_length"),
        ('result = "x" * 1000\n', Limits(text_length=100), "text_length"),
        ("result = range(1000000 * 1000)\n", Limits(), "steps"),
        ("result = same([range(1000000 * 1000)])\n", Limits(), "steps"),
        ('result = ["x" * 1000000] * 100\n', Limits(), "text_length"),
        ('same({"a": ["x" * 1000000] * 100})\nresult = 1\n', Limits(), "text_length"),
        ("x = 9\nfor i in range(9):\n    x = x * x\nresult = x\n", Limits(), "integer_bits"),
        ("result = [same(i) for i in range(9)]\n", Limits(host_calls=5), "host_calls"),
        ("result = [scan(i) for i in range(9)]\n", Limits(host_calls=9), "host_calls"),
        ('result = same("x" * 1000)\n', Limits(bytes_to_host=100), "bytes_to_host"),
        ('result = len(same("x" * 60) + same("x" * 60))\n', Limits(bytes_from_host=100), "bytes_from_host"),
        ("x = []\nfor i in range(200):\n    x = [x]\nresult = x == [x]\n", Limits(data_depth=50), "data_depth"),
        ("fs = [1]\nfs[0] = lambda: fs[0]()\nresult = fs[0]()\n", Limits(call_depth=5), "call_depth"),
        ("fs = [1]\nfs[0] = lambda: fs[0]()\nresult = fs[0]()\n", Limits(host_frames=50), "host_frames"),
        ("n = 0\nfor i in range(1000000):\n    n = n + 1\nresult = n\n", Limits(compute_s=0.05), "compute_s"),
    ],
)
def test_a_limit_is_reported_by_its_name(source: str, limits: Limits, name: str, run: Any) -> None:
    with pytest.raises(PlanLimitError) as caught:
        run(source, limits=limits)
    assert caught.value.limit == name
    assert caught.value.value > caught.value.allowed or name == "call_depth"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (
            Limits(memory_bytes=50 * 1024 * 1024),
            "the limit on memory was hit: 50 of 50 MB; it counts all that is ever made: ",
        ),
        (Limits(steps=10_000), "the limit on computing was hit: 10,001 of 10,000 steps; look at fewer items"),
        (Limits(collection_length=5_000), "the limit on collections was hit: 5,001 of 5,000 items; keep fewer items"),
    ],
)
def test_a_limit_is_told_in_a_persons_units_with_what_to_write_instead(limits: Limits, said: str, run: Any) -> None:
    with pytest.raises(PlanLimitError) as caught:
        run("xs = []\nfor i in range(1000000):\n    xs.append([i, i, i, i])\nresult = 1\n", limits=limits)
    assert said in str(caught.value)


def test_every_limit_that_can_be_hit_has_words_of_its_own() -> None:
    # More tasks than may wait at once are queued.
    for name in set(Limits._fields) - {"tasks_in_flight"}:
        assert str(PlanLimitError(name, 1, 1, 2, 1)).startswith("1:1: the limit on ")


def test_an_outcome_does_not_write_out_its_result() -> None:
    program = planlang.compile('result = ["x" * 1000000] * 10\n', planlang.Vocabulary([]))
    assert len(repr(asyncio.run(program.run()))) < 100


def test_memory_that_the_machine_does_not_have_is_told_as_such(run: Any) -> None:
    with pytest.raises(PlanLimitError) as caught:
        run("result = 1\nfail('MemoryError')\n")
    assert (
        str(caught.value)
        == "2:1: the limit on memory was hit: this machine has less than the plan's own limit allows; it counts all "
        "that is ever made: keep what later steps need of an answer instead of all of it, put texts together once with "
        "`join`, and do not copy long lists in a loop"
    )


def test_the_deepest_calls_that_are_allowed_fit_the_hosts_stack(run: Any) -> None:
    source = (
        "fs = [1]\nfs[0] = lambda n: 0 if n == 0 else max([n, fs[0](n - 1)], key=lambda v: v)\nresult = fs[0](12)\n"
    )
    assert run(source).result == 12
    with pytest.raises(PlanLimitError):
        run(source.replace("(12)", "(100)"))


def test_a_text_of_a_cyclic_value_shows_where_it_repeats(run: Any) -> None:
    assert run("xs = [1]\nxs.append(xs)\nresult = str(xs)\n").result == "[1, [...]]"


def test_error_text_stays_short_for_large_values(failure: Any) -> None:
    error = failure("d = {}\nresult = d['x' * 100000]\n")
    assert isinstance(error, PlanFailed)
    assert len(error.detail) <= 300
