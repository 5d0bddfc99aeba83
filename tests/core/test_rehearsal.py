"""Rehearsals: free, the same every time, and honest about budget, failures and loops."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import time
from pathlib import Path
from typing import Any

import attrs
import pytest
from jsonschema import Draft202012Validator

from planlang import Call, Vocabulary, Word
from planlang import compile as compile_program
from planloom._made_up import made_up
from planloom._virtual_time import run_in_virtual_time
from planloom.gates import Decision, default_gate
from planloom.money import MICRO, Price, micro_of
from planloom.plugins import Registry, load_plugins
from planloom.rehearsal import Rehearsal, rehearse
from planloom.runtime import host_of
from planloom.settings import GateSettings
from planloom.stand_ins import request_random
from planloom.testing.looms import PRICE, settings_at
from planloom.words import build_vocabulary
from planloom.workers import Conversation, WorkerRequest

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def rehearsed(registry: Registry, tmp_path: Path) -> Any:
    def run(source: str, *, cap: float = 150, price: Price = PRICE, workers: int = 1_000, **options: Any) -> Rehearsal:
        settings = settings_at(NOWHERE, tmp_path / "store.db", workers=workers)
        program = compile_program(source, build_vocabulary(registry, settings, ()))
        return rehearse(
            program,
            registry=registry,
            settings=settings,
            works={},
            prices=lambda role: price,
            budget=micro_of(cap),
            **options,
        )

    return run


def test_a_rehearsal_is_named_after_its_plan(registry: Registry, tmp_path: Path) -> None:
    settings, names = settings_at(NOWHERE, tmp_path / "store.db"), set()

    def note(call: Call) -> None:
        names.add(host_of(call).run_id)

    word = Word("note", note, signature=inspect.Signature(), doc="notes its run")
    program = compile_program(
        'note()\nresult = agent("a")\n', Vocabulary([*build_vocabulary(registry, settings, ()).words.values(), word])
    )
    rehearse(program, registry=registry, settings=settings, works={}, prices=lambda role: PRICE, budget=MICRO, takes=2)
    assert names == {f"dry-{hashlib.sha256(program.source.encode()).hexdigest()[:8]}"}


TWO_PHASES = """
phase("Scan")
found = parallel([lambda i=i: agent(f"scan {i}", model="worker") for i in range(12)])
phase("Judge")
result = agent("judge " + to_json(found), model="judge")
"""


def test_a_rehearsal_counts_workers_calls_and_credits_by_phase_and_role(rehearsed: Any) -> None:
    told = rehearsed(TWO_PHASES)
    assert (told.agents, told.calls, told.phases) == (13, 13, {"Scan": 12, "Judge": 1})
    assert told.roles == {"worker": (12, 12 * 200_000), "judge": (1, 200_000)}
    assert (told.credits_p10, told.credits_p50, told.credits_p90) == (2_600_000, 2_600_000, 2_600_000)
    assert (told.problems, told.advice) == ((), ())


def test_a_rehearsal_is_the_same_every_time(rehearsed: Any) -> None:
    by_tokens = Price(input=MICRO, output=4 * MICRO)
    assert rehearsed(TWO_PHASES, price=by_tokens) == rehearsed(TWO_PHASES, price=by_tokens)


def test_a_rehearsal_leaves_no_trace(rehearsed: Any, tmp_path: Path) -> None:
    rehearsed(TWO_PHASES)
    assert list(tmp_path.iterdir()) == []


def test_a_rehearsal_gives_a_range_where_answers_differ(rehearsed: Any) -> None:
    schema = '{"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}}'
    source = (
        f'found = agent("how many", schema={schema})\n'
        'result = parallel([lambda i=i: agent(f"look {i}") for i in range(len(found["n"]) if found else 0)])\n'
    )
    told = rehearsed(source)
    assert told.credits_p10 < told.credits_p90
    assert told.credits_p10 <= told.credits_p50 <= told.credits_p90


def test_the_budget_of_a_rehearsal_is_that_of_the_run(rehearsed: Any) -> None:
    source = 'n = 100 if budget() > 100 else 10\nresult = parallel([lambda i=i: agent(f"q{i}") for i in range(n)])\n'
    assert rehearsed(source, cap=150).agents == 100
    assert rehearsed(source, cap=45).agents == 10


def test_a_rehearsal_sees_what_the_store_leaves_and_prices_a_plan_that_passes_it_to_its_end(rehearsed: Any) -> None:
    source = 'n = 30 if budget() > 5 else 20\nresult = parallel([lambda i=i: agent(f"q{i}") for i in range(n)])\n'
    told = rehearsed(source, cap=150, seen=3 * MICRO)
    assert (told.agents, told.credits_p90, told.problems) == (20, 4 * MICRO, ())


def test_a_rehearsal_sees_what_an_unfinished_run_of_the_job_saw(rehearsed: Any) -> None:
    source = 'n = 100 if budget() > 100 else 10\nresult = parallel([lambda i=i: agent(f"q{i}") for i in range(n)])\n'
    assert rehearsed(source, cap=150, recorded={":0": {"word": "budget", "value": 45.0}}).agents == 10


def test_an_argument_that_a_plan_lacks_is_named_with_the_way_to_give_it(rehearsed: Any) -> None:
    (problem,) = rehearsed('result = len(args["topics"])\n').problems
    assert problem.endswith("the plan was given no argument `topics`: --arg topics=VALUE gives it")
    assert rehearsed('result = len(args["topics"])\n', args={"topics": []}).problems == ()


def test_a_key_that_is_no_argument_is_not_taken_for_one(rehearsed: Any) -> None:
    (problem,) = rehearsed('given = {}\nresult = given["topics"]\n').problems
    assert "--arg" not in problem


def test_a_plan_sees_its_budget_shrink_in_a_rehearsal(rehearsed: Any) -> None:
    source = """
rounds = 0
for turn in range(100):
    if budget() < 1.0:
        break
    agent(f"turn {turn}")
    rounds = rounds + 1
result = rounds
"""
    assert rehearsed(source, cap=5).agents == 21


RACE_OF_THREE = 'won = race([lambda i=i: agent(f"q{i}") for i in range(3)])\nresult = won\n'


def test_who_loses_a_race_is_paid_in_a_rehearsal_as_in_a_run(rehearsed: Any) -> None:
    told = rehearsed(RACE_OF_THREE, cap=5)
    assert (told.agents, told.calls, told.credits_p50) == (3, 3, micro_of(0.6))
    assert dict(told.roles) == {"worker": (3, micro_of(0.6))}
    assert rehearsed(RACE_OF_THREE + 'if budget() == 4.4:\n    agent("more")\n', cap=5).agents == 4


def test_a_plan_that_would_stop_at_its_budget_is_refused(rehearsed: Any) -> None:
    told = rehearsed('result = parallel([lambda i=i: agent(f"q{i}") for i in range(40)])\n', cap=5)
    assert told.problems == (
        "rehearsal: the plan would stop at the budget of 5.0 credits after 25 calls; all of it needs about 8.0 "
        "credits: raise --cap by 3.0 or more, or ask for less",
    )


def test_of_a_plan_that_is_refused_for_its_price_the_whole_of_it_is_priced(rehearsed: Any) -> None:
    source = 'agent("first")\nresult = parallel([lambda i=i: agent(f"q{i}") for i in range(3)])\n'
    (problem,) = rehearsed(source, cap=0.25).problems
    assert problem.endswith(
        "budget of 0.25 credits after 1 call; all of it needs about 0.8 credits: raise --cap by 0.55 or more, or ask "
        "for less"
    )
    assert rehearsed(source, cap=0.8).problems == ()


def test_of_a_plan_that_more_money_would_not_bring_to_its_end_no_price_is_said(rehearsed: Any) -> None:
    (problem,) = rehearsed('for i in range(1000):\n    agent(f"q{i}")\nresult = 1\n', cap=1, workers=100).problems
    assert problem.endswith("budget of 1.0 credits after 5 calls; raise --cap, or ask for less")


def test_what_a_plan_needs_of_which_only_failures_pass_the_budget_is_said_too(rehearsed: Any) -> None:
    source = """
found = [agent(f"q{i}") for i in range(4)]
lost = [i for i in range(4) if found[i] == None]
again = [agent(f"again {i} {n}") for i in lost for n in range(4)]
result = [found, again]
"""
    (problem,) = rehearsed(source, cap=1).problems
    assert "failing: the plan would stop at the budget of 1.0 credits after 5 calls; all of it needs about " in problem


def test_a_plan_that_asks_for_ever_is_refused_naming_the_worker_limit(rehearsed: Any) -> None:
    began = time.monotonic()
    told = rehearsed('for i in range(1000000):\n    agent(f"q{i}")\nresult = 1\n', cap=1_000, workers=100)
    assert time.monotonic() - began < 3
    (problem,) = told.problems
    assert problem.startswith("rehearsal: worker limit: the plan asked for 201 workers, twice the limit of 100 a run")


def test_a_plan_whose_last_workers_would_be_dropped_is_refused(rehearsed: Any) -> None:
    told = rehearsed('result = parallel([lambda i=i: agent(f"q{i}") for i in range(110)])\n', workers=100)
    assert told.problems == (
        "rehearsal: the plan asks for 110 workers, more than the limit of 100 a run; ask for fewer, or raise "
        "`limits.workers` in the configuration",
    )


def test_a_plan_that_fails_is_refused_with_its_line(rehearsed: Any) -> None:
    (problem,) = rehearsed('x = agent("q")\nresult = x["key"]\n').problems
    assert problem.startswith("rehearsal: line 2: TypeError: ")


def test_a_plan_that_breaks_on_a_worker_that_failed_is_refused_with_its_line(rehearsed: Any) -> None:
    source = (
        'found = parallel([lambda i=i: agent(f"q{i}") for i in range(20)])\nresult = [text.upper() for text in found]\n'
    )
    (problem,) = rehearsed(source).problems
    assert problem.startswith("rehearsal with a quarter of the workers failing: line 2: AttributeError: ")


def test_a_plan_that_breaks_only_when_every_worker_fails_is_told_so(rehearsed: Any) -> None:
    source = (
        'found = parallel([lambda i=i: agent(f"q{i}") for i in range(20)])\n'
        "result = [text for text in found if text][0]\n"
    )
    told = rehearsed(source)
    assert told.problems == ()
    (advice,) = told.advice
    assert advice.startswith("if every worker fails, the plan breaks: line 2: IndexError: ")


def test_a_question_that_is_asked_twice_is_pointed_out(rehearsed: Any) -> None:
    told = rehearsed('result = [agent("same", label="twin"), agent("same", label="twin")]\n')
    assert told.advice == ("the plan asks one question twice, with one answer: twin",)


def test_two_samples_of_one_question_are_two_questions(rehearsed: Any) -> None:
    assert rehearsed('result = [agent("same", sample=0), agent("same", sample=1)]\n').advice == ()


def test_the_seconds_of_a_rehearsal_are_those_of_a_run_and_not_its_own(rehearsed: Any) -> None:
    one_after_another = 'for i in range(50):\n    agent(f"q{i}")\nresult = 1\n'
    at_once = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(50)])\n'
    assert rehearsed(one_after_another).seconds == pytest.approx(50 * rehearsed(at_once).seconds, rel=0.01)
    assert rehearsed(at_once).seconds > 1


def test_a_plan_of_a_thousand_workers_is_priced_in_a_second_a_take(rehearsed: Any) -> None:
    source = 'result = len(parallel([lambda i=i: agent(f"q{i}") for i in range(1000)]))\n'
    began = time.process_time()
    assert rehearsed(source, cap=500, takes=1, with_failures=False).agents == 1_000
    assert time.process_time() - began < 1.5


def test_a_rehearsal_survives_being_written_as_json(rehearsed: Any) -> None:
    told = rehearsed(TWO_PHASES)
    assert Rehearsal.from_json(told.as_json()) == told


# --- what makes answers up


SCHEMAS: dict[str, dict[str, Any]] = {
    "an object": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}},
    "an array": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
    "one of some": {"enum": ["red", "green"]},
    "a constant": {"const": 7},
    "a number in a range": {"type": "number", "minimum": 0, "maximum": 1},
    "an integer in a range": {"type": "integer", "minimum": 5, "maximum": 6},
    "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "several types": {"type": ["string", "null"]},
}  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_a_made_up_answer_fits_its_schema_and_is_made_from_the_question(schema: dict[str, Any]) -> None:
    def request(n: int) -> WorkerRequest:
        return WorkerRequest(word="w", identity=(n,), role="worker", label="", build=Conversation, input_tokens=1)

    for n in range(20):
        value = made_up(schema, request_random(request(n), 0))
        assert Draft202012Validator(schema).is_valid(value)
        assert value == made_up(schema, request_random(request(n), 0))


# --- virtual time


def test_sleepers_wake_in_the_order_of_their_alarms_and_at_once() -> None:
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append((name, round(asyncio.get_running_loop().time(), 6)))

    async def main() -> None:
        await asyncio.gather(sleeper("late", 3600), sleeper("early", 0.5), sleeper("middle", 60))

    began = time.monotonic()
    run_in_virtual_time(main())
    assert time.monotonic() - began < 1
    assert woken == [("early", 0.5), ("middle", 60), ("late", 3600)]


def test_a_wait_for_what_nothing_will_bring_is_told() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RuntimeError, match="waits for something that nothing will bring"):
        run_in_virtual_time(main())


# --- the gate

TOLD = Rehearsal(
    agents=1, calls=1, tokens=1, seconds=1, credits_p10=1, credits_p50=1, credits_p90=1, phases={}, roles={}, takes=1
)


def decided(price: float, cap: float = 150, **settings: Any) -> Decision:
    return default_gate.decide(attrs.evolve(TOLD, credits_p90=micro_of(price)), micro_of(cap), GateSettings(**settings))


@pytest.mark.parametrize(
    ("price", "cap", "verdict"),
    [
        (0, 150, "approved"),
        (40, 150, "approved"),
        (40.01, 150, "held"),
        (15, 45, "approved"),
        (15.01, 45, "held"),
        (45, 45, "held"),
        (45.01, 45, "refused"),
    ],
)
def test_a_plan_passes_up_to_forty_credits_and_a_third_of_the_budget(price: float, cap: float, verdict: str) -> None:
    assert decided(price, cap).verdict == verdict


def test_a_standing_approval_passes_what_would_be_held_and_is_logged_as_such() -> None:
    decision = decided(60, approve_up_to=micro_of(80))
    assert (decision.verdict, decision.who) == ("approved", "rule")
    assert decided(100, approve_up_to=micro_of(80)).verdict == "held"


def test_a_plan_with_a_problem_is_refused_whatever_it_costs() -> None:
    decision = default_gate.decide(attrs.evolve(TOLD, problems=("line 3 fails",)), micro_of(150), GateSettings())
    assert (decision.verdict, decision.reason) == ("refused", "line 3 fails")
